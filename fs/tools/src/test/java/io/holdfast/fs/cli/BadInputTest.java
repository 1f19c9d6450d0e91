package io.holdfast.fs.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.host.LinuxHost;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Whatever cannot work on the machine as it is gets one clear line and an exit code, before
 * anything is started. The integration tests run one of each kind through the launcher.
 */
class BadInputTest {
  private static final int COULD_NOT = 1;
  private static final int USAGE = 2;

  /** In arguments this stands for the test's folder. */
  private static final String ROOT = "@";

  private static final String SOURCE = "@source";
  private static final String MOUNTPOINT = "@mountpoint";

  @TempDir private static Path temp;

  @BeforeAll
  static void makePaths() throws IOException, InterruptedException {
    Files.createDirectories(temp.resolve("source/inside"));
    Files.writeString(temp.resolve("source/a.txt"), "a");
    Files.createDirectory(temp.resolve("mountpoint"));
    Files.writeString(temp.resolve("file"), "not a folder");
    Files.createSymbolicLink(temp.resolve("link"), Path.of("/etc/init.d"));
    Process mkfifo = new ProcessBuilder("mkfifo", temp.resolve("fifo").toString()).start();
    assertThat(mkfifo.waitFor()).isZero();
  }

  @AfterAll
  static void removeLink() throws IOException {
    Files.delete(temp.resolve("link"));
  }

  static Stream<Arguments> usageErrors() {
    return Stream.of(
        bad("does not exist", "mount", "@missing", MOUNTPOINT),
        bad("not a directory", "mount", "@file", MOUNTPOINT),
        bad("not a directory", "mount", "@fifo", MOUNTPOINT),
        bad("does not exist", "mount", SOURCE, "@missing"),
        bad("not a directory", "mount", SOURCE, "@file"),
        bad("inside", "mount", SOURCE, "@source/inside"),
        bad("'/proc' is on a file system of the kernel's (proc)", "mount", SOURCE, "/proc"),
        bad("(sysfs)", "mount", SOURCE, "/sys/kernel"),
        bad("'/dev'", "mount", SOURCE, "/dev"),
        bad("'/run' would hide '/run/", "mount", SOURCE, "/run"),
        bad("'/etc', which the system needs", "mount", SOURCE, "@link"),
        bad("source '/sys' is on a file system that holds no data (sysfs)", "mount", "/sys"),
        bad("SOURCE", "mount"),
        bad("@missing", "mount", SOURCE, MOUNTPOINT, "@missing"),
        bad("missing MOUNTPOINT", "mount", "s3://data/train"),
        bad("is not the name of a bucket", "mount", "s3://", MOUNTPOINT),
        bad("'gs://data/train'", "mount", "gs://data/train", MOUNTPOINT),
        bad("does not exist", "mount", "s3://data/train", "@missing"),
        bad("'/' is the whole machine", "mount", "s3://data/train", "/"),
        bad("1.5.2G", "mount", "--capacity", "1.5.2G", SOURCE, MOUNTPOINT),
        bad("memory", "mount", "--capacity", "900T", SOURCE, MOUNTPOINT),
        bad("memory", "mount", "--memory", "900T", SOURCE, MOUNTPOINT),
        bad(
            "99999999999999999999G",
            "mount",
            "--capacity",
            "99999999999999999999G",
            SOURCE,
            MOUNTPOINT),
        bad("-1s", "mount", "--window-age", "-1s", SOURCE, MOUNTPOINT),
        bad("minio", "mount", "--policy", "minoi", SOURCE, MOUNTPOINT),
        bad("watch", "mount", "--count-opens", "wotch", SOURCE, MOUNTPOINT),
        bad("debug", "mount", "--log-level", "debog", SOURCE, MOUNTPOINT),
        bad("../evil", "mount", "--name", "../evil", SOURCE, MOUNTPOINT),
        bad("--name", "mount", "--name", "", SOURCE, MOUNTPOINT),
        bad("--capacity", "mount", "--capcity", "64M", SOURCE, MOUNTPOINT),
        bad("--count-opens", "mount", "--count-open=off", SOURCE, MOUNTPOINT),
        bad("--capacity", "mount", SOURCE, MOUNTPOINT, "--capacity"),
        bad("mount", "mout", SOURCE, MOUNTPOINT),
        bad("umount", "umount"),
        bad("--json", "stats", "--jsno"),
        bad("exists", "debug", "--output", "@file"),
        bad("does not exist", "debug", "--output", "@missing/x.zip"),
        bad("--output", "debug", "--ouput", "x.zip"),
        bad("--json", "doctor", "--jason"),
        bad("upwards", "warm", "--order", "upwards"),
        bad("--threads 0", "warm", "--threads", "0"),
        bad("[a", "pin", "--glob", "[a"),
        bad("96X", "capacity", "96X"),
        bad("'0'", "capacity", "0"),
        bad("--files", "simulate"),
        bad("does not exist", "simulate", "@missing"),
        bad("not a directory", "simulate", "@file"),
        bad("MOUNTPOINT is missing", "checkpoint", SOURCE),
        bad("not the name of a bucket: ''", "checkpoint", "s3://", MOUNTPOINT),
        bad("is no region", "checkpoint", "--s3-region", "EU", "s3://data/run", MOUNTPOINT),
        bad("are for a store s3://", "checkpoint", "--s3-path-style", SOURCE, MOUNTPOINT),
        bad("is no address", "checkpoint", "--metrics", "99999", SOURCE, MOUNTPOINT),
        bad("too many arguments", "checkpoint", SOURCE, MOUNTPOINT, "third"),
        bad("--timeout is for", "checkpoint", "--timeout", "5s", SOURCE, MOUNTPOINT),
        bad("has no options of a mount", "checkpoint", "wait", "--keep", "2"),
        bad("--iteration", "checkpoint", "--iteration", "1s", SOURCE, MOUNTPOINT),
        bad("minio", "simulate", SOURCE, "--policy", "minoi"),
        bad("0", "simulate", SOURCE, "--capacity", "0"),
        bad("nodes", "simulate", SOURCE, "--nodes", "3"),
        bad("0", "simulate", "--files", "5", "--size", "0"),
        bad("9223372036854775808", "simulate", "--files", "5", "--size", "9223372036854775808"),
        bad("line 1", "simulate", "--trace", "@file"),
        bad("line 1", "simulate", "--trace", "@file", SOURCE),
        bad(".png", "simulate", SOURCE, "--plot", "x.gif"),
        bad("--csv", "simulate", SOURCE, "--json", "--csv"),
        bad("not JSON", "simulate", "--jobs", "@file"),
        bad("does not exist", "simulate", "--jobs", "@missing"),
        bad("--jobs is empty", "simulate", "--jobs", ""),
        bad("--budget", "allocate", "--budget", "0"),
        bad("--plan is empty", "allocate", "--plan", ""),
        bad("does not exist", "allocate", "--plan", "@missing"),
        bad("is a directory", "allocate", "--plan", SOURCE),
        bad("not JSON", "allocate", "--plan", "@file"),
        bad("makespan", "allocate", "--for", "speed", "--plan", "@file"),
        bad("more than 16 MiB", "allocate", "--plan", "/dev/zero"));
  }

  static Stream<Arguments> impossibleRequests() {
    return Stream.of(
        bad("is not a Holdfast mount", "umount", MOUNTPOINT),
        bad("no-such-name", "umount", "no-such-name"),
        bad("no-such-name", "stats", "no-such-name"),
        bad("no-such-name", "doctor", "no-such-name"),
        bad("no-such-name", "debug", "no-such-name"),
        bad("/proc/x.zip", "debug", "--output", "/proc/x.zip"),
        bad("no-such-name", "refresh", "no-such-name"));
  }

  static Stream<Arguments> refusedFronts() {
    return Stream.of(
        bad("in one another", "checkpoint", "--front", "@source/new/front", SOURCE, MOUNTPOINT),
        bad("would be hidden", "checkpoint", "--front", "@mountpoint/front", SOURCE, MOUNTPOINT),
        bad(
            "is too small",
            "checkpoint",
            "--front",
            "@new/front",
            "--front-capacity",
            "1M",
            SOURCE,
            MOUNTPOINT));
  }

  private static Arguments bad(String mentioned, String... arguments) {
    return Arguments.of(List.of(arguments), mentioned);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("usageErrors")
  void badArguments_ofAnyCommand_areUsageErrors(List<String> arguments, String mentioned) {
    assertThat(assertRefused(USAGE, arguments, mentioned)).doesNotContain("Exception");
  }

  /**
   * A front that was refused stayed behind, as an empty directory in the store or the mountpoint.
   */
  @ParameterizedTest(name = "{0}")
  @MethodSource("refusedFronts")
  void front_thatIsRefused_isNotCreated(List<String> arguments, String mentioned)
      throws IOException {
    List<Path> before = paths();
    assertRefused(USAGE, arguments, mentioned);
    assertThat(paths()).isEqualTo(before);
  }

  private static List<Path> paths() throws IOException {
    try (Stream<Path> paths = Files.walk(temp)) {
      return paths.sorted().toList();
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("impossibleRequests")
  void requests_toMountsThatAreNot_failInOneLine(List<String> arguments, String mentioned) {
    assertRefused(COULD_NOT, arguments, mentioned);
  }

  private static String assertRefused(int exit, List<String> arguments, String mentioned) {
    CliRun run = new CliRun(new LinuxHost());

    int code = run.run(arguments.stream().map(BadInputTest::resolve).toArray(String[]::new));

    assertThat(code).as("%s", run.err).isEqualTo(exit);
    assertThat(run.err.toString())
        .startsWith("holdfast: ")
        .hasLineCount(1)
        .contains(resolve(mentioned));
    assertThat(run.out.toString()).isEmpty();
    assertThat(run.daemon.settings).as("nothing is started").isNull();
    assertThat(run.became).as("nothing is started").isEmpty();
    return run.err.toString();
  }

  private static String resolve(String argument) {
    return argument.startsWith(ROOT) ? temp.resolve(argument.substring(1)).toString() : argument;
  }
}
