package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * The doctor gives an answer, and the right one, in the worst of states. The origin that hangs is a
 * mount of Holdfast whose daemon is stopped, so one set-up has both.
 */
@Tag(Sandbox.ANY_BINDING)
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Execution(ExecutionMode.CONCURRENT)
class DoctorIT {
  /** The promise itself. */
  private static final Duration PROMISE = Duration.ofSeconds(10);

  private static final Duration END_DEADLINE = Duration.ofSeconds(30);

  private static final String USER_DIRECTORY =
      """
      hangs=$1 how=$2; shift 2
      mkdir -p /run/user && mount -t tmpfs none /run/user && mkdir -p /run/user/4711 || exit 9
      case $how in
        at) mkdir /run/user/4711/holdfast && mount --bind "$hangs" /run/user/4711/holdfast ;;
        above) mount --bind "$hangs" /run/user/4711 ;;
        link) ln -s "$hangs" /run/user/4711/holdfast ;;
      esac && exec "$@"
      """;

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  @Test
  void doctorAndDebug_originHangsOrDaemonStoppedOrDead_sayWhatIsWrongInTime() {
    Dataset dataset = Dataset.create(sandbox.folder("origin"), 3, i -> 100_000);
    Mount store = sandbox.mount(dataset.root(), "--policy", "none", "--count-opens", "off");
    Mount mount = sandbox.mount(store.mountpoint(), "--capacity", "64M");
    mount.awaitStats("the scan", stats -> Boolean.TRUE.equals(stats.at("dataset.scanned")));
    store.freeze();
    Child reader = sandbox.start("cat", mount.path(dataset.files().get(0)).toString());
    mount.awaitStats("a fetch", stats -> stats.number("fetches.in_flight") > 0);
    Object requests = mount.stats().at("kernel.requests");

    Child hanging = doctor(mount);
    Child stopped = doctor(store);
    Child hangingArchive = debug(mount, "hanging.zip");
    Child stoppedArchive = debug(store, "stopped.zip");

    assertSays(hanging, "FAIL  origin", store.mountpoint() + " gives no answer in 2 s");
    assertSays(stopped, "FAIL  daemon", "is stopped", "kill -CONT " + store.pid());
    assertPacked(hangingArchive);
    assertPacked(stoppedArchive);
    assertThat(packed("hanging.zip", mount, "doctor.txt")).contains("gives no answer in 2 s");
    assertThat(packed("hanging.zip", mount, "stats-2.json")).contains("\"in_flight\" : 1");
    assertThat(packed("hanging.zip", mount, "log.txt")).contains("mounted " + mount.mountpoint());
    assertThat(packed("hanging.zip", mount, "threads.txt")).contains("Full thread dump");
    assertThat(packed("stopped.zip", store, "doctor.txt")).contains("is stopped");
    assertThat(packed("stopped.zip", store, "stats-1.json")).startsWith("missing: ");
    assertThat(mount.stats().at("kernel.requests"))
        .as("nothing was asked of the mount")
        .isEqualTo(requests);

    store.thaw();
    assertThat(reader.await(END_DEADLINE).exit()).isZero();
    mount.umount().mustSucceed();
    store.kill();
    Await.until(END_DEADLINE, "the daemon ended", () -> !store.daemonIsAlive());

    Child dead = doctor(store);
    Child deadArchive = debug(store, "dead.zip");

    assertSays(dead, "FAIL  daemon", "(pid " + store.pid() + ") is dead", "holdfast umount");
    assertPacked(deadArchive);
    assertThat(packed("dead.zip", store, "doctor.txt")).contains("is dead");
  }

  /**
   * A user puts a file system of their own, which does not answer, in the place where root looks
   * for the user's daemons: at the control directory, at the directory above, or behind a link.
   * Root's commands waited for it for ever.
   */
  @Test
  void doctor_userHasAFileSystemThatHangs_answersInTime() {
    Dataset dataset = Dataset.create(sandbox.folder("origin"), 3, i -> 100_000);
    Mount hangs = sandbox.mount(dataset.root(), "--policy", "none", "--count-opens", "off");
    hangs.freeze();

    for (String how : List.of("at", "above", "link")) {
      Child doctor =
          sandbox.start(
              "unshare",
              "--mount",
              "--propagation",
              "private",
              "sh",
              "-c",
              USER_DIRECTORY,
              "sh",
              hangs.mountpoint().toString(),
              how,
              Sandbox.launcher(),
              "doctor");
      assertSays(doctor, "daemon", "is stopped");
    }
    hangs.thaw();
  }

  private Child doctor(Mount mount) {
    return sandbox.start(Sandbox.launcher(), "doctor", mount.mountpoint().toString());
  }

  private Child debug(Mount mount, String file) {
    return sandbox.start(
        Sandbox.launcher(), "debug", mount.name(), "--output", archive(file).toString());
  }

  private Path archive(String file) {
    return sandbox.root().resolve(file);
  }

  private static void assertSays(Child doctor, String... said) {
    Child.Result result = doctor.await(END_DEADLINE);
    assertThat(result.took()).as("%s", result).isLessThan(Await.stretched(PROMISE));
    assertThat(result.out()).as("%s", result).contains(said);
    assertThat(result.exit()).isEqualTo(1);
    assertThat(result.err()).isEmpty();
  }

  private static void assertPacked(Child debug) {
    Child.Result result = debug.await(END_DEADLINE).mustSucceed();
    assertThat(result.took()).as("%s", result).isLessThan(Await.stretched(PROMISE));
    assertThat(result.out()).contains("doctor.txt");
  }

  /** A file of an archive: of its mount, where there is such a one. */
  private String packed(String archive, Mount mount, String file) {
    try (ZipFile zip = new ZipFile(archive(archive).toFile())) {
      ZipEntry entry =
          zip.stream()
              .filter(
                  each ->
                      each.getName().endsWith("/mounts/" + mount.name() + "/" + file)
                          || each.getName().matches("[^/]*/" + file))
              .findFirst()
              .orElseThrow();
      try (InputStream in = zip.getInputStream(entry)) {
        return new String(in.readAllBytes(), StandardCharsets.UTF_8);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
