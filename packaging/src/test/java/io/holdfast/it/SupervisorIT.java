package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.posix.Posix;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What holds a mount while its daemons come and go, with daemons that real ones hardly become. */
class SupervisorIT {
  private static final Duration START = Duration.ofSeconds(20);

  /**
   * A program whose first thread ends, while another one waits and holds what is open. The number
   * is that of exit(2), which ends a thread, on this processor.
   */
  private static final String DEAD_AND_NOT_GONE =
      """
      open(R, ">$ENV{HOLDFAST_STATE}/ready"); open(U, "/proc/uptime"); print R <U>; close(R);
      open(S, ">>$ARGV[0]"); print S "$$\\n"; close(S);
      threads->create(sub { sleep(1000) });
      syscall(%d, 0);
      """
          .formatted(System.getProperty("os.arch").equals("aarch64") ? 93 : 60);

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  /**
   * As one that was killed while a thread of it waits for a page of the mount: only the next daemon
   * answers that, so it is started all the same.
   */
  @Test
  void killed_threadThatDoesNotEnd_isNotWaitedForForEver() throws IOException {
    Path state = sandbox.folder("dead.state");
    Path started = sandbox.root().resolve("started");
    Files.writeString(state.resolve("daemon.pl"), DEAD_AND_NOT_GONE);
    Files.writeString(
        state.resolve("command"),
        "origin=/dev/null mountpoint=%s log=%s format=text\nset -- perl -Mthreads %s %s\n"
            .formatted(
                sandbox.folder("mnt"),
                sandbox.root().resolve("log"),
                state.resolve("daemon.pl"),
                started));

    Child supervisor = sandbox.start(Sandbox.launcher() + "-supervise", state.toString());
    try {
      List<String> pids =
          Await.value(START, "two daemons", () -> lines(started), all -> all.size() == 2);

      assertThat(ProcessTable.state(Long.parseLong(pids.get(0)))).isEqualTo('Z');
      Posix.kill(supervisor.pid(), Posix.SIGTERM);
      assertThat(supervisor.await(START).exit()).isZero();
    } finally {
      // of one whose first thread has ended, the environment no longer tells whose it is
      lines(started).forEach(pid -> Posix.kill(Long.parseLong(pid), Posix.SIGKILL));
    }
  }

  private static List<String> lines(Path file) {
    try {
      return Files.exists(file) ? Files.readAllLines(file) : List.of();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
