package io.holdfast.fs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.host.FakeHost;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code holdfast simulate --jobs FILE}, from a file to figures. */
class WorkloadSimulationTest {
  private static final Path DOCUMENT = Path.of("../../packaging/docs/ALLOCATION.md");

  private static final String RATES =
      "\"origin_bytes_per_second\":10,\"memory_bytes_per_second\":1000,"
          + "\"demand_bytes_per_second\":100";
  private static final String JOB =
      "{\"name\":\"a\",\"dataset_bytes\":1000," + RATES + ",\"epochs\":2}";
  private static final String FILE = "{\"memory_bytes\":1000,\"jobs\":[" + JOB + "]}";

  @TempDir Path temp;
  private CliRun run;

  @BeforeEach
  void prepare() {
    run = new CliRun(new FakeHost(temp.resolve("run")));
  }

  private String file(String text) throws IOException {
    return Files.writeString(temp.resolve("jobs.json"), text).toString();
  }

  /** A pass from the origin takes 100 s, and one from memory 10 s. */
  @Test
  void json_hasTheKeysThatAreDocumented() throws IOException {
    String two = FILE.replace("]", "," + JOB.replace("\"a\"", "\"b\"") + "]");
    String text = two.replace("{\"memory", "{\"nodes\":2,\"accelerators\":1,\"memory");
    assertThat(run.run("simulate", "--json", "--jobs", file(text))).as("%s", run.err).isZero();

    Map<String, Object> all = JSON.std.mapFrom(run.out.toString());
    List<?> policies = (List<?>) all.get("policies");
    assertThat(policies).hasSize(7);
    String document = Files.readString(DOCUMENT);
    for (Object each : policies) {
      Map<?, ?> policy = (Map<?, ?>) each;
      assertThat(document).contains("| `" + policy.get("policy") + "` |");
      policy.keySet().forEach(key -> assertThat(document).contains("`" + key + "`"));
      assertThat((double) policy.get("makespan_seconds")).isBetween(109.99, 110.01);
      assertThat((double) policy.get("jct_p95_seconds")).isBetween(109.99, 110.01);
      Map<?, ?> job = (Map<?, ?>) ((List<?>) policy.get("jobs")).get(1);
      job.keySet().forEach(key -> assertThat(document).contains("`" + key + "`"));
      assertThat(job.get("node")).isEqualTo(1);
    }
    all.keySet().forEach(key -> assertThat(document).contains("`" + key + "`"));
  }

  @Test
  void policies_areThoseThatAreAskedFor() throws IOException {
    String file = file(FILE);
    assertThat(run.run("simulate", "--jobs", file, "--policy", "tune,holdfast")).isZero();

    assertThat(run.out.toString())
        .startsWith("1 job on 1 node with 0.98 KiB of memory\n\npolicy ")
        .contains("\ntune ", "\nholdfast ")
        .doesNotContain("proportional", "optimum");
  }

  @Test
  void plot_isDrawn() throws IOException {
    String plot = temp.resolve("plot.svg").toString();
    assertThat(run.run("simulate", "--jobs", file(FILE), "--plot", plot)).isZero();

    assertThat(Path.of(plot))
        .content()
        .contains("proportional: mean completion time 110 s, makespan 110 s");
  }

  @ParameterizedTest
  @CsvSource(
      delimiterString = " => ",
      quoteCharacter = '`',
      value = {
        "1000 => 0 => memory_bytes must be a number from 1 to",
        "\"memory_bytes\":1000, => `` => memory_bytes is missing: give a number from 1 to",
        "memory_bytes => memory => memory is unknown: did you mean 'memory_bytes'?",
        "{\"memory => {\"nodes\":0,\"memory => nodes must be a number from 1 to 1,000 (was 0)",
        "[{ => {\"a\":[{ => not JSON at line 1, column",
        "[{ => [1,{ => jobs[0] must be an object with the keys of a job (was 1)",
        "\"epochs\":2 => \"x\":2 => jobs[0] ('a').x is unknown: choose one of name, dataset_bytes",
        ",\"epochs\":2 => `` => jobs[0] ('a').epochs is missing",
        "\"epochs\":2 => \"epochs\":2.5 => jobs[0] ('a').epochs must be a whole number (was 2.5)",
        "\"epochs\":2 => \"epochs\":1e99 => jobs[0] ('a').epochs must be a number from 1 to",
        "\"epochs\":2 => \"epochs\":2,\"arrival_seconds\":-1 => jobs[0] ('a').arrival_seconds must",
        "\"a\" => \"\" => jobs[0].name must be a text of 1 to 255 characters",
        "}]} => }],\"accelerators\":0} => accelerators must be a number from 1 to",
        "\"epochs\":2}] => \"epochs\":2,\"accelerators\":3}],\"accelerators\":2"
            + " => jobs[0] ('a') has 3 accelerators, and a node has 2: a job runs on one node"
      })
  void mistakes_ofTheFile_areToldInOneLine(String from, String to, String message)
      throws IOException {
    String file = file(FILE.replace(from, to));

    assertThat(run.run("simulate", "--jobs", file)).isEqualTo(2);

    assertThat(run.err.toString())
        .startsWith("holdfast: the file of jobs '" + file + "': " + message)
        .hasLineCount(1);
    assertThat(run.out.toString()).isEmpty();
  }

  @Test
  void jobs_mustAgree() throws IOException {
    String twice = file(FILE.replace("]", "," + JOB + "]"));
    assertThat(run.run("simulate", "--jobs", twice)).isEqualTo(2);
    assertThat(run.err.toString()).contains("jobs[1].name is 'a', and so is jobs[0].name");

    prepare();
    String one = JOB.replace("{", "{\"origin\":\"nas\",");
    String other = one.replace("\"a\"", "\"b\"").replace("second\":10,", "second\":11,");
    String rates = file(FILE.replace(JOB, one + "," + other));
    assertThat(run.run("simulate", "--jobs", rates)).isEqualTo(2);
    assertThat(run.err.toString())
        .contains("of the origin 'nas' is 10 at 'a' and 11 at 'b': give the same rate");
  }

  @ParameterizedTest
  @CsvSource({
    "--epochs 3, --epochs is not for a --jobs FILE",
    "--files 3, --files is not for a --jobs FILE",
    "--shared-order, --shared-order is not for a --jobs FILE",
    "--csv, --csv is not for a --jobs FILE",
    "/data, DIRECTORY is not for a --jobs FILE",
    "--policy minio, --policy 'minio' is not known: choose of proportional",
    "--plot x.gif, --plot 'x.gif' is no picture's name"
  })
  void options_thatDoNotFit_areRefused(String words, String message) throws IOException {
    String all = "simulate --jobs " + file(FILE) + " " + words;
    assertThat(run.run(all.split(" ", -1))).isEqualTo(2);

    assertThat(run.err.toString()).startsWith("holdfast: " + message).hasLineCount(1);
    assertThat(run.out.toString()).isEmpty();
  }
}
