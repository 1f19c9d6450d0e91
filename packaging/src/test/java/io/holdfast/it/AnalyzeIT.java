package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.posix.Posix;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What {@code holdfast analyze} tells of jobs on real mounts. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Execution(ExecutionMode.CONCURRENT)
@Order(1)
class AnalyzeIT {
  private static final int FILES = 64;
  private static final int FILE_BYTES = 50_000;
  private static final Duration DEADLINE = Duration.ofSeconds(60);

  /** The time of a processor that a job takes for a file, in seconds. */
  private static final double LONG = 0.02;

  /** The same of a job whose rates do not matter. */
  private static final double SHORT = 0.002;

  /**
   * Reads all files below a folder in so many epochs, each in a new order, and computes so many
   * seconds after each file.
   */
  private static final String JOB =
      """
      import os, random, sys, time
      root, epochs, computed = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
      paths = [os.path.join(d, f) for d, _, fs in os.walk(root) for f in fs]
      one, other = paths[:len(paths) // 2], paths[len(paths) // 2:]
      for _ in range(epochs):
          # no file is among the last of an epoch and the first of the next
          random.shuffle(one)
          random.shuffle(other)
          for path in one + other:
              with open(path, 'rb', buffering=0) as file:
                  file.read()
              end = time.thread_time() + computed
              while time.thread_time() < end:
                  pass
      print('read', flush=True)
      """;

  private static final String PRINT = "echo $MALLOC_ARENA_MAX,${MALLOC_TOP_PAD_-none}";

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  private Mount mount(String jobBy) {
    Dataset dataset = Dataset.create(sandbox.folder("origin"), FILES, i -> FILE_BYTES);
    List<String> all =
        new ArrayList<>(
            List.of("--capacity", half(), "--window", "0", "--memory", "2G", "--job-by"));
    all.add(jobBy);
    return sandbox.mount(dataset.root(), all.toArray(String[]::new));
  }

  private static String half() {
    return Long.toString(FILES / 2 * Dataset.pageBytes(FILE_BYTES));
  }

  private static List<String> job(Mount mount, int epochs, double computed) {
    String root = mount.mountpoint().toString();
    return List.of("python3", "-B", "-c", JOB, root, epochs + "", computed + "");
  }

  private Child.Result analyze(Mount mount, List<String> options, List<String> job) {
    return sandbox.holdfast(words(mount, options, job));
  }

  private static String[] words(Mount mount, List<String> options, List<String> job) {
    List<String> words = new ArrayList<>(List.of("analyze", mount.name()));
    words.addAll(options);
    words.add("--");
    words.addAll(job);
    return words.toArray(String[]::new);
  }

  @Test
  void command_isReportedAsTheContractSays_andOneThatIsInterruptedInPart() throws IOException {
    Mount mount = mount("tree");

    Child.Result result = analyze(mount, List.of("--json"), job(mount, 3, LONG)).mustSucceed();

    assertThat(result.err()).as("the command's own output").isEqualTo("read\n");
    Map<String, Object> report = JSON.std.mapFrom(result.out());
    assertThat(report.keySet())
        .containsExactly("job", "epochs", "rates", "what_if", "knee_capacity_share", "advice");
    List<?> epochs = (List<?>) report.get("epochs");
    assertThat(epochs).as("%s", result.out()).hasSize(3);
    for (int i = 0; i < epochs.size(); i++) {
      Map<?, ?> epoch = (Map<?, ?>) epochs.get(i);
      assertThat(epoch.get("epoch")).isEqualTo(i + 1);
      assertThat(((Number) epoch.get("bytes")).longValue()).isEqualTo((long) FILES * FILE_BYTES);
      assertThat(((Number) epoch.get("seconds")).doubleValue()).isGreaterThan(LONG * FILES * 0.9);
      Map<?, ?> shares = (Map<?, ?>) epoch.get("shares");
      assertThat(shares.values()).as("%s", result.out()).doesNotContainNull();
      assertThat(shares.values().stream().mapToDouble(AnalyzeIT::number).sum())
          .as("%s", epoch)
          .isCloseTo(1, within(1e-3));
      assertThat(epoch.get("verdict")).isIn("storage", "preparation", "accelerator", "unknown");
      assertThat(String.valueOf(epoch.get("reason"))).isNotEmpty();
    }
    Map<?, ?> rates = (Map<?, ?>) report.get("rates");
    assertThat(number(rates.get("preparation")))
        .as("20 ms of a processor for each file")
        .isLessThan(FILE_BYTES / LONG * 1.1);
    assertThat(rates.get("peer")).isNull();
    List<?> rows = (List<?>) report.get("what_if");
    assertThat(rows.stream().map(row -> String.valueOf(((Map<?, ?>) row).get("change"))))
        .containsAll(Set.of("capacity", "nodes", "origin", "workers", "accelerator", "warm"));
    for (Object row : rows) {
      double rate = number(((Map<?, ?>) row).get("bytes_per_second"));
      double seconds = number(((Map<?, ?>) row).get("epoch_seconds"));
      assertThat(rate * seconds).isCloseTo(FILES * FILE_BYTES, within(0.01 * FILES * FILE_BYTES));
    }
    // nearly all its time is its processor's
    assertThat(String.valueOf(report.get("advice"))).contains("More memory is useless");
    assertInterruptedOneIsReportedInPart(mount);
  }

  private void assertInterruptedOneIsReportedInPart(Mount mount) throws IOException {
    long before = mount.stats().number("opens.total");
    List<String> command = new ArrayList<>(List.of(Sandbox.launcher()));
    command.addAll(List.of(words(mount, List.of("--json"), job(mount, 100_000, SHORT))));
    Child child = sandbox.start(command.toArray(String[]::new));
    mount.awaitStats("two epochs", stats -> stats.number("opens.total") > before + 2 * FILES);

    child.signal(Posix.SIGINT);

    Child.Result result = child.await(DEADLINE);
    assertThat(result.exit()).as("%s", result).isIn(1, 130);
    Map<String, Object> report = JSON.std.mapFrom(result.out());
    assertThat((List<?>) report.get("epochs")).hasSizeGreaterThanOrEqualTo(2);
    assertThat(result.err()).contains("KeyboardInterrupt");
  }

  private static double number(Object value) {
    if (value instanceof Number number) {
      return number.doubleValue();
    }
    throw new AssertionError("no number: " + value);
  }

  @Test
  void requests_thatAreBad_failInOneLine_andAJobThatHasEndedIsReportedFromFiguresWhateverItsName()
      throws IOException {
    Mount mount = mount("env:RUN");
    assertBadRequestsFailInOneLine(mount);
    assertCommandsHaveTheLimitsOfTheirCaller(mount);
    // the kernel counts the next open of a file only once it has told the last one
    sandbox.run(Map.of("RUN", "training-7"), job(mount, 2, LONG)).mustSucceed();
    mount.awaitStats("all opens", stats -> stats.number("opens.total") >= 2 * FILES);
    Path svg = sandbox.root().resolve("report.svg");
    Path png = sandbox.root().resolve("report.png");
    Path html = sandbox.root().resolve("report.html");

    Child.Result result =
        sandbox
            .holdfast(
                "analyze",
                mount.name(),
                "--job",
                "training",
                "--plot",
                svg + "",
                "--html",
                html + "")
            .mustSucceed();
    sandbox.holdfast("analyze", mount.mountpoint().toString(), "--plot", png + "").mustSucceed();

    assertThat(result.out())
        .startsWith("Job training-7 at ")
        .contains("from memory", "preparation");
    assertThat(svg).content().contains("<svg");
    assertThat(html).content().contains("Content-Security-Policy", "<svg", "Job training-7");
    assertThat(Files.readAllBytes(png)).startsWith(0x89, 'P', 'N', 'G');
    assertNameThatSomebodyChoseBreaksNeitherPageNorText(mount);
  }

  /** A job's name comes from its environment, and whoever starts it chooses that. */
  private void assertNameThatSomebodyChoseBreaksNeitherPageNorText(Mount mount) throws IOException {
    long before = mount.stats().number("opens.total");
    String name = "<script>alert(1)</script>\u001b[2J\nforged";
    sandbox.run(Map.of("RUN", name), job(mount, 1, SHORT)).mustSucceed();
    mount.awaitStats("all opens", stats -> stats.number("opens.total") >= before + FILES);
    Path html = sandbox.root().resolve("report.html");

    Child.Result result =
        sandbox
            .holdfast("analyze", mount.name(), "--job", "<script", "--html", html.toString())
            .mustSucceed();

    assertThat(result.out()).doesNotContain("\u001b").contains("forged");
    assertThat(result.out().lines()).noneMatch(line -> line.startsWith("forged"));
    assertThat(html).content().doesNotContain("<script").contains("&lt;script&gt;");
  }

  @Test
  void measure_leavesTheCapacityAsItWas() throws IOException {
    Mount mount = mount("tree");
    long capacity = mount.stats().number("cache.capacity_bytes");

    List<String> measure = List.of("--measure", "--cold", "0.1");

    Child.Result result = analyze(mount, measure, job(mount, 3, SHORT)).mustSucceed();

    assertThat(result.out())
        .contains("warm run: 100 % of the bytes in memory", "cold run: ")
        .doesNotContain("did not read the same");
    assertThat(mount.stats().number("cache.capacity_bytes")).isEqualTo(capacity);

    List<String> command = new ArrayList<>(List.of(Sandbox.launcher()));
    command.addAll(List.of(words(mount, measure, job(mount, 1, LONG))));
    Child child = sandbox.start(command.toArray(String[]::new));
    mount.awaitStats("another capacity", stats -> stats.number("cache.capacity_bytes") != capacity);
    child.signal(Posix.SIGTERM);
    assertThat(child.await(DEADLINE).exit()).isNotZero();
    mount.awaitStats("its capacity", stats -> stats.number("cache.capacity_bytes") == capacity);
  }

  /** No job has read from the mount yet. */
  private void assertBadRequestsFailInOneLine(Mount mount) {
    assertFails(sandbox.holdfast("analyze", mount.name()), 1, "no job has read from ");
    assertFails(
        sandbox.holdfast("analyze", mount.name(), "--job", "none"), 1, "--job 'none' is not known");
    assertFails(
        sandbox.holdfast("analyze", mount.name(), "--", "true"), 1, "'true' has read nothing from");
    assertFails(
        sandbox.holdfast("analyze", mount.name(), "--", "no-such-command"), 127, "is no command");
    assertFails(
        sandbox.holdfast("analyze", mount.name(), "--plot", "/proc/x.svg", "--", "false"),
        2,
        "--plot '/proc/x.svg' cannot be written");
    Mount uncounted = sandbox.mount(sandbox.root().resolve("origin"), "--count-opens", "off");
    assertFails(
        sandbox.holdfast("analyze", uncounted.name(), "--", "true"), 1, "opens are not counted at");
  }

  /** Java raises that of files for itself; programs that use select(2) count on 1024. */
  private void assertCommandsHaveTheLimitsOfTheirCaller(Mount mount) {
    assertThat(
            sandbox
                .run(
                    Map.of("MALLOC_ARENA_MAX", "7"),
                    List.of(Sandbox.launcher(), "analyze", mount.name(), "--", "sh", "-c", PRINT))
                .out())
        .as("the command's environment is its caller's")
        .isEqualTo("7,none\n");
    List<String> words =
        List.of("sh", "-c", "ulimit -S -n 999; exec \"$@\"", "sh", Sandbox.launcher(), "analyze");
    List<String> all = new ArrayList<>(words);
    all.addAll(List.of(mount.name(), "--", "sh", "-c", "ulimit -S -n"));

    assertThat(sandbox.run(Map.of(), all).out()).isEqualTo("999\n");

    assertFails(
        sandbox.command("prlimit", "--nofile=64:4096", Sandbox.launcher(), "analyze", mount.name()),
        1,
        "at most 64 files may be open at once, 256 are needed: raise 'ulimit -n'");
  }

  private static void assertFails(Child.Result result, int exit, String mentioned) {
    assertThat(result.exit()).as("%s", result).isEqualTo(exit);
    Leftovers.assertOneLine(result, mentioned);
  }
}
