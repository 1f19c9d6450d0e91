package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Mounts of a process whose limits are too low, at its start and later. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LimitsIT {
  private static final int COULD_NOT = 1;
  private static final Duration LOG_DEADLINE = Duration.ofSeconds(60);

  private static final int FILES = 3_500;

  @RegisterExtension static final Sandbox SANDBOX = new Sandbox();

  private static Dataset dataset;

  @RegisterExtension
  static final SharedMount SHARED =
      new SharedMount(
          () ->
              SANDBOX.mountSource(
                  dataset.root().toString(),
                  Map.of("HOLDFAST_JAVA_OPTIONS", "-Dholdfast.most-waiting-opens=500"),
                  "--capacity",
                  "64M",
                  "--count-opens",
                  "watch",
                  "--metadata-ttl",
                  "1h"));

  /** The first three are those that are read. */
  @BeforeAll
  static void fill() {
    dataset = Dataset.create(SANDBOX.folder("origin"), FILES, i -> i < 3 ? 10_000 : 10);
  }

  @Test
  @Tag(Sandbox.ANY_BINDING)
  void limits_tooLow_areToldInOneLineThatNamesThem() {
    Leftovers before = Leftovers.of(SANDBOX);
    String source = SANDBOX.folder("source").toString();
    String mountpoint = SANDBOX.folder("mountpoint").toString();
    Path home = SANDBOX.root().resolve("home");
    SANDBOX.command("cp", "-r", Sandbox.HOME.toString(), home.toString()).mustSucceed();
    SANDBOX.command("chmod", "-R", "a+rX", home.toString()).mustSucceed();
    String launcher = home.resolve("bin/holdfast").toString();

    Child.Result files =
        SANDBOX.command("prlimit", "--nofile=64:64", launcher, "mount", source, mountpoint);
    Child.Result processes =
        SANDBOX.command(
            "setpriv",
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            "prlimit",
            "--nproc=40:40",
            launcher,
            "mount",
            source,
            mountpoint);

    assertThat(files.exit()).as("%s", files).isEqualTo(COULD_NOT);
    Leftovers.assertOneLine(files, "ulimit -n");
    assertThat(processes.exit()).as("%s", processes).isEqualTo(COULD_NOT);
    Leftovers.assertOneLine(processes, "ulimit -u");
    before.assertNothingMore();
    assertThat(
            SANDBOX.command("prlimit", "--nofile=64:4096", launcher, "version").mustSucceed().out())
        .as("where it may raise the limit by itself")
        .contains("0.");
  }

  /**
   * The kernel keeps opens until they are counted: without a bound, while nobody counts. There are
   * more than a daemon takes at once, which it may be about to when it is stopped. It is fanotify
   * that counts them, whichever binding the mount has.
   */
  @Test
  @Tag(Sandbox.ANY_BINDING)
  void opens_moreThanMayWait_areLetGoOfAndLaterOnesCounted() {
    Mount mount = SHARED.get();
    mount.awaitStats("the scan's end", s -> Boolean.TRUE.equals(s.at("dataset.scanned")));
    dataset.files().forEach(file -> assertThat(mount.path(file)).isRegularFile());
    open(mount, dataset.files().subList(0, 1));
    // and so the kernel opens all of them without the daemon from now on
    mount.freeze();
    try {
      open(mount, dataset.files());
    } finally {
      mount.thaw();
    }
    mount.awaitStats("an overflow", stats -> stats.number("opens.overflows") == 1);
    long counted = mount.stats().number("opens.total");

    open(mount, dataset.files().subList(0, 10));

    mount.awaitStats("ten more", stats -> stats.number("opens.total") == counted + 10);
  }

  private static void open(Mount mount, List<String> files) {
    List<String> command =
        new ArrayList<>(List.of("sh", "-c", "for file; do : <\"$file\"; done", "sh"));
    files.forEach(file -> command.add(mount.path(file).toString()));
    SANDBOX.command(command.toArray(String[]::new)).mustSucceed();
  }

  @Test
  void descriptors_thatRunOut_failReadsForThatTimeAndAreNamedInTheLog() throws IOException {
    Mount mount = SHARED.get();
    mount.awaitStats("the scan's end", s -> Boolean.TRUE.equals(s.at("dataset.scanned")));
    List<Path> files = dataset.files().subList(0, 3).stream().map(mount::path).toList();
    files.forEach(file -> assertThat(file).isRegularFile()); // and known from now on

    limitDescriptors(mount, 3);
    Child.Result failed = SANDBOX.command("cat", files.get(0).toString());
    limitDescriptors(mount, 4096);

    assertThat(failed.err()).contains("Input/output error");
    assertThat(failed.out()).isEmpty();
    Await.until(
        LOG_DEADLINE, "the log names the limit", () -> text(mount.log()).contains("ulimit -n"));
    for (int i = 0; i < files.size(); i++) {
      byte[] there = Files.readAllBytes(dataset.root().resolve(dataset.files().get(i)));
      assertThat(Files.readAllBytes(files.get(i))).isEqualTo(there);
    }
    assertThat(mount.stats().at("name")).isEqualTo(mount.name());
  }

  private static void limitDescriptors(Mount mount, int most) {
    String pid = Long.toString(mount.pid());
    SANDBOX.command("prlimit", "--pid", pid, "--nofile=" + most + ":").mustSucceed();
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
