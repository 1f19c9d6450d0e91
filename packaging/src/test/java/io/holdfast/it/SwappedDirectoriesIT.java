package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Directories change places while others walk through them. With jnr-fuse, a walker and the thread
 * that released a directory once waited for each other for ever; and libfuse got numbers of
 * directories that it had freed a moment before, and ended the daemon.
 */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SwappedDirectoriesIT {
  private static final Path SWAPS = Path.of("e2e/attack/swaps.py").toAbsolutePath();
  private static final int SECONDS = 6;
  private static final Duration BETWEEN_REFRESHES = Duration.ofMillis(100);
  private static final Duration DEADLINE = Duration.ofMinutes(2);

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  @Test
  void directories_thatChangePlaces_keepNobodyAndEndNothing() {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    Path origin = sandbox.tmpfs("origin");
    Mount mount = sandbox.mount(origin, "--capacity", "64M", "--metadata-ttl", "1h");
    Child swaps =
        sandbox.start(
            Map.of(),
            List.of(
                "python3",
                "-B",
                SWAPS.toString(),
                Long.toString(seed),
                Integer.toString(SECONDS),
                origin.toString(),
                mount.mountpoint().toString()));
    while (!Await.holdsWithin(BETWEEN_REFRESHES, () -> !swaps.isAlive())) {
      // it may say that a directory is another one whenever it gets there
      String unused = ControlSocket.ask(mount.name(), "{\"command\":\"refresh\",\"path\":\"\"}");
    }
    swaps.await(DEADLINE).mustSucceed();

    mount.refresh();
    assertThat(listing(mount.mountpoint())).isEqualTo(listing(origin));
  }

  private String listing(Path root) {
    return sandbox
        .command(
            "sh",
            "-c",
            "cd \"$1\" && find . -printf '%p %y %m %s %i\\n' | sort",
            "sh",
            root.toString())
        .mustSucceed()
        .out();
  }
}
