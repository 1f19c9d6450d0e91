package io.holdfast.fs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.host.FakeHost;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code holdfast allocate}, from a file to figures. */
class AllocateCommandTest {
  private static final Path DOCUMENT = Path.of("../../packaging/docs/ALLOCATION.md");
  private static final Pattern PLAN =
      Pattern.compile("```json\n# (\\S+)\n(.*?)```", Pattern.DOTALL);
  private static final Pattern RUN =
      Pattern.compile(
          "```console\n\\$ holdfast ((?:allocate|simulate) [^\n]*)\n(.*?)```", Pattern.DOTALL);

  private static final String RATES =
      "\"origin_bytes_per_second\":50000000,\"memory_bytes_per_second\":1000000000";
  private static final String MOUNT =
      "{\"name\":\"a\",\"dataset_bytes\":1000,%s,\"demand_bytes_per_second\":200000000%s}";

  @TempDir Path temp;
  private CliRun run;

  @BeforeEach
  void prepare() {
    run = new CliRun(new FakeHost(temp.resolve("run")));
  }

  private Path plan(String text) throws IOException {
    return Files.writeString(temp.resolve("plan.json"), text);
  }

  private static String mount(String more) {
    return MOUNT.formatted(RATES, more);
  }

  private static String planOf(String... mounts) {
    return "{\"budget_bytes\":1000,\"mounts\":[" + String.join(",", mounts) + "]}";
  }

  private Map<?, ?> allocated(String text) throws IOException {
    assertThat(run.run("allocate", "--json", "--plan", plan(text).toString()))
        .as("%s", run.err)
        .isZero();
    assertThat(run.err.toString()).isEmpty();
    return JSON.std.mapFrom(run.out.toString());
  }

  @Test
  void json_hasTheKeysThatAreDocumented() throws IOException {
    Map<?, ?> all = allocated(planOf(mount("")));

    assertThat(all.keySet())
        .isEqualTo(
            Map.of("objective", 1, "budget_bytes", 1, "unallocated_bytes", 1, "mounts", 1)
                .keySet());
    Map<?, ?> mount = (Map<?, ?>) ((List<?>) all.get("mounts")).get(0);
    assertThat(mount.keySet().stream().map(String::valueOf))
        .containsExactly(
            "name",
            "dataset_bytes",
            "capacity_bytes",
            "fair_share_bytes",
            "proposed_bytes",
            "sufficient_bytes",
            "demand_bytes_per_second",
            "memory_bytes_per_second",
            "origin_bytes_per_second",
            "speed_now",
            "speed_fair_share",
            "speed_proposed",
            "bound_by",
            "reason");
    assertThat(mount.get("proposed_bytes")).isEqualTo(790);
    assertThat(mount.get("speed_now")).isEqualTo(50000000);
    assertThat(mount.get("speed_proposed")).isEqualTo(200000000);
    String document = Files.readString(DOCUMENT);
    mount.keySet().forEach(key -> assertThat(document).contains("| `" + key + "` |"));
  }

  @Test
  void demand_ofPreparationAndAccelerators_tellsWhatBounds() throws IOException {
    String plan =
        planOf(
            "{\"name\":\"a\",\"dataset_bytes\":1000,"
                + RATES
                + ",\"preparation_bytes_per_second\":70000000,"
                + "\"accelerator_bytes_per_second\":9e7}");
    Map<?, ?> mount = (Map<?, ?>) ((List<?>) allocated(plan).get("mounts")).get(0);

    assertThat(mount.get("bound_by")).isEqualTo("preparation");
    assertThat(mount.get("speed_proposed")).isEqualTo(70000000);
  }

  @Test
  void sharedOrigin_isToldWithWhatItGives() throws IOException {
    String one = mount(",\"origin\":\"nas\"");
    Map<?, ?> all =
        allocated(
            planOf(one, one.replace("\"a\"", "\"b\""))
                .replace("\"budget_bytes\":1000", "\"budget_bytes\":1"));
    Map<?, ?> mount = (Map<?, ?>) ((List<?>) all.get("mounts")).get(0);

    assertThat(mount.get("origin")).isEqualTo("nas");
    assertThat((int) mount.get("origin_share_bytes_per_second")).isBetween(25000000, 25100000);
  }

  /** Three times as many readers get three times as much. */
  @Test
  void readers_divideASharedOrigin() throws IOException {
    String one = mount(",\"origin\":\"nas\",\"readers\":3");
    String two = mount(",\"origin\":\"nas\"").replace("\"a\"", "\"b\"");
    List<?> mounts =
        (List<?>)
            allocated(planOf(one, two).replace("\"budget_bytes\":1000", "\"budget_bytes\":1"))
                .get("mounts");
    Map<?, ?> first = (Map<?, ?>) mounts.get(0);
    Map<?, ?> second = (Map<?, ?>) mounts.get(1);

    assertThat(first.get("readers")).isEqualTo(3);
    assertThat(second.get("readers")).isEqualTo(1);
    assertThat((int) first.get("origin_share_bytes_per_second")).isBetween(37500000, 37600000);
    assertThat((int) second.get("origin_share_bytes_per_second")).isBetween(12500000, 12600000);
  }

  @Test
  void largestNumber_staysAsItIs() throws IOException {
    Map<?, ?> all =
        allocated(
            planOf(mount(""))
                .replace("\"budget_bytes\":1000", "\"budget_bytes\":9223372036854775807"));

    assertThat(all.get("budget_bytes")).isEqualTo(Long.MAX_VALUE);
    assertThat(all.get("unallocated_bytes")).isEqualTo(Long.MAX_VALUE - 790);
  }

  /** What the document shows is what is printed. */
  @Test
  void examples_ofTheDocument_areReal() throws IOException {
    String document = Files.readString(DOCUMENT);
    Matcher plans = PLAN.matcher(document);
    while (plans.find()) {
      Files.writeString(temp.resolve(plans.group(1)), plans.group(2));
    }
    List<String[]> runs =
        RUN.matcher(document).results().map(r -> new String[] {r.group(1), r.group(2)}).toList();
    assertThat(runs).hasSizeGreaterThanOrEqualTo(5);
    for (String[] each : runs) {
      prepare();
      String words = each[0].replaceFirst("--(plan|jobs) ", "--$1 " + temp + "/");
      assertThat(run.run(words.split(" ", -1))).as(each[0]).isZero();
      assertThat(run.out.toString()).as(each[0]).isEqualTo(each[1]);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiterString = "=>",
      ignoreLeadingAndTrailingWhitespace = true,
      value = {
        "--plan x --apply => --apply is for mounts that run: leave --plan out",
        "--plan x --watch => --watch is for mounts that run: leave --plan out",
        "--plan x --budget 5G => --budget is for mounts that run: leave --plan out",
        "--apply --watch => --apply and --watch: choose one of them",
        "--watch --json => --watch prints lines: leave --json out",
        "--for speed => --for 'speed' is not known: choose one of throughput, fairness, makespan"
      })
  void options_thatDoNotGoTogether_areRefused(String words, String message) {
    assertThat(run.run(("allocate " + words).split(" ", -1))).isEqualTo(2);
    assertThat(run.err.toString()).isEqualTo("holdfast: " + message + "\n");
  }

  @ParameterizedTest
  @CsvSource(
      delimiterString = "=>",
      ignoreLeadingAndTrailingWhitespace = true,
      value = {
        "'' => not JSON",
        "{ => not JSON at line 1",
        "[] => must be an object with budget_bytes and mounts",
        "{} => budget_bytes is missing: give a number from 1 to 9,223,372,036,854,775,807",
        "{} {} => something follows the object",
        "{\"budget_bytes\":1,\"budget_bytes\":2} => not JSON",
        "{\"budget_bytes\":1,\"mount\":[]} => mount is unknown: did you mean 'mounts'?",
        "{\"budget_bytes\":1} => mounts is missing: give an array of mounts",
        "{\"budget_bytes\":1,\"mounts\":{}} => mounts must be an array (was an object)",
        "{\"budget_bytes\":1,\"mounts\":[]} => mounts has 0 elements: give from 1 to 500 mounts",
        "{\"budget_bytes\":1,\"mounts\":[7]} => mounts[0] must be an object with the keys",
        "{\"budget_bytes\":1,\"mounts\":[{}]} => mounts[0].name is missing: give a text",
        "{\"budget_bytes\":0,\"mounts\":[]} => budget_bytes must be a number from 1 to",
        "{\"budget_bytes\":-5,\"mounts\":[]} => (was -5)",
        "{\"budget_bytes\":\"64G\",\"mounts\":[]} => (was '64G')",
        "{\"budget_bytes\":null,\"mounts\":[]} => budget_bytes must be a number from 1 to",
        "{\"budget_bytes\":1.5,\"mounts\":[]} => budget_bytes must be a whole number (was 1.5)",
        "{\"budget_bytes\":1e999999999,\"mounts\":[]} => budget_bytes must be a number from",
        "{\"budget_bytes\":9223372036854775808,\"mounts\":[]} => (was 9223372036854775808)",
        "{\"budget_bytes\":NaN,\"mounts\":[]} => not JSON at line 1"
      })
  void plan_thatIsWrong_isToldInOneLine(String text, String message) throws IOException {
    assertRefused(text, message);
  }

  @ParameterizedTest
  @CsvSource(
      delimiterString = "=>",
      ignoreLeadingAndTrailingWhitespace = true,
      value = {
        ",\"wieght\":1 => mounts[0] ('a').wieght is unknown: did you mean 'weight'?",
        ",\"weight\":0 => mounts[0] ('a').weight must be a number from 1 to 1,000,000 (was 0)",
        ",\"weight\":1e-999999999 => weight must be a number from 1",
        ",\"capacity_bytes\":1e-999999999 => capacity_bytes must be a whole number",
        ",\"capacity_bytes\":-1 => capacity_bytes must be a number from 0",
        ",\"capacity_min_bytes\":1001 => capacity_min_bytes must not exceed dataset_bytes, 1,000",
        ",\"capacity_min_bytes\":9,\"capacity_max_bytes\":8 => capacity_max_bytes must not be less",
        ",\"origin\":\" \" => origin must be a text of 1 to 255 characters (was ' ')",
        ",\"origin\":[] => origin must be a text of 1 to 255 characters (was an array)",
        ",\"accelerator_bytes_per_second\":5 => demand_bytes_per_second must be the lower of"
      })
  void mount_thatIsWrong_isToldInOneLine(String more, String message) throws IOException {
    assertRefused(planOf(mount(more)), message);
  }

  @Test
  void mounts_thatDoNotGoTogether_areToldInOneLine() throws IOException {
    assertRefused(
        planOf(mount(""), mount("")),
        "mounts[1].name is 'a', and so is mounts[0].name: give each mount its own name");
    String one = mount(",\"origin\":\"nas\"");
    assertRefused(
        planOf(one, one.replace("\"a\"", "\"b\"").replace(":50000000", ":40000000")),
        "origin_bytes_per_second of the origin 'nas' is 50000000 at 'a' and 40000000 at 'b'");
    String floor = mount(",\"capacity_min_bytes\":600");
    assertRefused(
        planOf(floor, floor.replace("\"a\"", "\"b\"")),
        "budget_bytes 1,000 is less than the sum of all capacity_min_bytes, 1,200: raise it");
    assertRefused(
        planOf(mount("").replace(":50000000", ":0")),
        "origin_bytes_per_second must be a number from 1 to 1,000,000,000,000,000 (was 0)");
    assertRefused(
        planOf(mount("").replace(":50000000", ":1000000000000001")),
        "origin_bytes_per_second must be a number from 1");
    assertRefused(
        planOf(mount("").replace("\"a\"", "\"a\\u001b[31m\\n\"").replace(":50000000", ":0")),
        "\\x1b[31m\\n");
  }

  private void assertRefused(String text, String message) throws IOException {
    prepare();
    Path file = plan(text);
    assertThat(run.run("allocate", "--plan", file.toString())).as("%s", run.out).isEqualTo(2);
    assertThat(run.err.toString())
        .startsWith("holdfast: the plan '" + file + "': ")
        .contains(message)
        .doesNotContain("Exception")
        .hasLineCount(1);
    assertThat(run.out.toString()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"throughput", "fairness", "makespan"})
  void objective_isTold(String objective) throws IOException {
    assertThat(
            run.run(
                "allocate", "--for", objective, "--json", "--plan", plan(planOf(mount(""))) + ""))
        .isZero();
    assertThat(JSON.std.mapFrom(run.out.toString()).get("objective")).isEqualTo(objective);
  }
}
