package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.posix.Posix;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The supervisor holds a mount while its daemons come and go. The daemons here behave as real ones
 * hardly do.
 */
class SupervisorIT {
  private static final Duration START = Duration.ofSeconds(60);

  /**
   * A program whose first thread ends, while another thread waits and holds the open files. The
   * number is that of exit(2), which ends a thread, on this processor.
   */
  private static final String DEAD_AND_NOT_GONE =
      """
      open(R, ">$ARGV[1]/ready"); open(U, "/proc/uptime"); print R <U>; close(R);
      open(S, ">>$ARGV[0]"); print S "$$\\n"; close(S);
      threads->create(sub { sleep(1000) });
      syscall(%d, 0);
      """
          .formatted(System.getProperty("os.arch").equals("aarch64") ? 93 : 60);

  /**
   * Has the shell tell each step, and run a function for each. At the first step after the fork,
   * the function waits until the child has no handler for SIGTERM, number 15, and then signals the
   * supervisor, which has not opened the pipe yet. The supervisor's signals to others take until
   * the others are dead.
   */
  private static final String END_BEFORE_THE_PIPE_IS_OPEN =
      """
      origin=/dev/null mountpoint=%s log=%s format=text
      end_once() {
        set +x
        [ -n "$!" ] && mkdir %s || return
        while sed -n 's/^SigCgt.*\\(.\\)...$/\\1/p' /proc/$!/status | grep -q '[4-7c-f]'; do
          sleep 0.01
        done
        command kill -TERM $$
      }
      kill() {
        command kill "$@" || return
        while [ "$1" = -TERM ] && grep -q '^State:.[^Z]' /proc/$2/status; do
          sleep 0.01
        done
      }
      PS4='`end_once 2>/dev/null`+ '
      set -x
      set -- sleep 1000
      """;

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  /**
   * The daemon is like one that was killed while one of its threads waits for a page of the mount.
   * Only the next daemon answers that, so the supervisor starts it all the same.
   */
  @Test
  void killed_threadThatDoesNotEnd_isNotWaitedForForEver() throws IOException {
    Path state = sandbox.folder("dead.state");
    Path started = sandbox.root().resolve("started");
    Files.writeString(state.resolve("daemon.pl"), DEAD_AND_NOT_GONE);
    Files.writeString(
        state.resolve("command"),
        "origin=/dev/null mountpoint=%s log=%s format=text\nset -- perl -Mthreads %s %s %s\n"
            .formatted(
                sandbox.folder("mnt"),
                sandbox.root().resolve("log"),
                state.resolve("daemon.pl"),
                started,
                state));

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

  /**
   * The processes that watch a daemon for the supervisor are killed, for want of memory say. That
   * was taken for the daemon's end, and so it was where no process could be started for them.
   */
  @Test
  void watchersKilled_daemonStaysAndItsEndIsNoticed() throws IOException {
    Path state = sandbox.folder("watched.state");
    Path started = sandbox.root().resolve("started");
    String daemon = "cat /proc/uptime >\"$1/ready\"; echo $$ >>\"$0\"; exec sleep 1000";
    Files.writeString(
        state.resolve("command"),
        "origin=/dev/null mountpoint=%s log=%s format=text\nset -- sh -c '%s' %s %s\n"
            .formatted(
                sandbox.folder("mnt"), sandbox.root().resolve("log"), daemon, started, state));
    Child supervisor = sandbox.start(Sandbox.launcher() + "-supervise", state.toString());
    Await.until(START, "a daemon", () -> lines(started).size() == 1);
    Set<Long> first = awaitWatchers(supervisor, started, Set.of());

    first.forEach(pid -> Posix.kill(pid, Posix.SIGKILL));

    awaitWatchers(supervisor, started, first);
    assertThat(lines(started)).as("the daemon goes on").hasSize(1);
    Posix.kill(Long.parseLong(lines(started).get(0)), Posix.SIGKILL);
    Await.until(START, "the next daemon", () -> lines(started).size() == 2);
    Posix.kill(supervisor.pid(), Posix.SIGTERM);
    assertThat(supervisor.await(START).exit()).isZero();
  }

  /** The supervisor calculates with the time. Its shell ended where there was none. */
  @Test
  void killed_noTimeOfWhenItWasReady_anotherDaemonIsStarted() throws IOException {
    Path state = sandbox.folder("untimed.state");
    Path started = sandbox.root().resolve("started");
    Files.writeString(
        state.resolve("command"),
        "origin=/dev/null mountpoint=%s log=%s format=text\nset -- sh -c '%s' %s %s\n"
            .formatted(
                sandbox.folder("mnt"),
                sandbox.root().resolve("log"),
                ": >\"$1/ready\"; echo $$ >>\"$0\"; exec sleep 1000",
                started,
                state));
    Child supervisor = sandbox.start(Sandbox.launcher() + "-supervise", state.toString());
    Await.until(START, "a daemon", () -> lines(started).size() == 1);

    Posix.kill(Long.parseLong(lines(started).get(0)), Posix.SIGKILL);

    Await.until(START, "the next daemon", () -> lines(started).size() == 2);
    Posix.kill(supervisor.pid(), Posix.SIGTERM);
    assertThat(supervisor.await(START).exit()).isZero();
  }

  /** Waits for the children of a supervisor that are no daemons, and none of some others. */
  private static Set<Long> awaitWatchers(Child supervisor, Path daemons, Set<Long> others) {
    Path children = Path.of("/proc/%1$d/task/%1$d/children".formatted(supervisor.pid()));
    return Await.value(
        START,
        "watchers",
        () -> {
          Set<Long> watchers = new TreeSet<>();
          for (String pid : Files.readString(children).split(" ", -1)) {
            if (!pid.isEmpty() && !lines(daemons).contains(pid)) {
              watchers.add(Long.parseLong(pid));
            }
          }
          watchers.removeAll(others);
          return watchers;
        },
        watchers -> watchers.size() == 2);
  }

  /**
   * It knows a daemon's number a moment after that runs. Who interrupted the mount in that moment
   * waited for a daemon that nobody had told to end.
   */
  @Test
  void ended_beforeItKnowsTheDaemon_endsTheDaemon() throws IOException {
    Path state = sandbox.folder("early.state");
    Files.writeString(
        state.resolve("command"),
        // read twice: before the signal is handled, and right before the daemon is started
        "[ ! -e %s ] || kill -TERM $$\norigin=/dev/null mountpoint=%s log=%s format=text\nset -- sleep 1000\n"
            .formatted(
                state.resolve("supervisor"), sandbox.folder("mnt"), sandbox.root().resolve("log")));

    Child supervisor = sandbox.start(Sandbox.launcher() + "-supervise", state.toString());

    assertThat(supervisor.await(START).exit()).isZero();
    assertThat(state).doesNotExist();
  }

  /**
   * The child has a shell's own handlers by then, and waits for the other end of its pipe. The
   * signal ended the child there, and the supervisor waited for the pipe for ever.
   */
  @Test
  void ended_beforeTheDaemonHasItsPipe_endsTheDaemon() throws IOException {
    Path state = sandbox.folder("pipe.state");
    Files.writeString(
        state.resolve("command"),
        END_BEFORE_THE_PIPE_IS_OPEN.formatted(
            sandbox.folder("mnt"),
            sandbox.root().resolve("log"),
            sandbox.root().resolve("signalled")));

    Child supervisor = sandbox.start(Sandbox.launcher() + "-supervise", state.toString());

    assertThat(supervisor.await(START).exit()).isZero();
    assertThat(sandbox.root().resolve("signalled")).exists();
    assertThat(state).doesNotExist();
  }

  /**
   * One failed start of a new daemon can take longer than all tries may together. The mount was
   * given up then, although the daemon from before would have started.
   */
  @Test
  void restarted_newDaemonIsLongInFailing_theOneBeforeComesBack() throws IOException {
    assertGoesBack("mv $1/next $1/command; : >$1/restart; cat /proc/uptime >$1/ready");
  }

  /**
   * The supervisor took a command that nobody had tried for one that had been in use, and removed
   * the one before.
   */
  @Test
  void killed_newCommandIsThereAndDoesNotStart_theOneBeforeComesBack() throws IOException {
    assertGoesBack(
        "cat /proc/uptime >$1/ready; mv $1/next $1/command;"
            + " until [ $1/previous -nt $1/ready ]; do touch $1/previous; done");
  }

  /**
   * Asserts that the daemon before is started, after one that has not started once in its time.
   *
   * @param daemon what the first daemon does, in shell; its parameter is the state directory
   */
  private void assertGoesBack(String daemon) throws IOException {
    Path state = sandbox.folder("previous.state");
    Path started = sandbox.root().resolve("started");
    Files.writeString(
        state.resolve("command"),
        "origin=/dev/null mountpoint=%s log=%s format=text\nset -- sh -c '%s' sh %s\n"
            .formatted(sandbox.folder("mnt"), sandbox.root().resolve("log"), daemon, state));
    Files.writeString(state.resolve("next"), "MOST_SECONDS=0\nset -- false\n");
    Files.writeString(
        state.resolve("previous"),
        "set -- sh -c 'echo $$ >>%s; exec sleep 1000'\n".formatted(started));
    Files.writeString(state.resolve("previous.json"), "{}");

    Child supervisor = sandbox.start(Sandbox.launcher() + "-supervise", state.toString());

    Await.value(START, "the daemon before", () -> lines(started), all -> all.size() == 1);
    assertThat(state.resolve("settings.json")).hasContent("{}");
    Posix.kill(supervisor.pid(), Posix.SIGTERM);
    assertThat(supervisor.await(START).exit()).isZero();
  }

  /**
   * Programs and libraries are looked for where the caller's environment says. Behind the mount
   * only a daemon answers, which is what the supervisor looks for its programs to start.
   */
  @Test
  void killed_environmentNamesPlacesBehindTheMount_anotherDaemonIsStarted() {
    Path root = Dataset.create(sandbox.folder("origin"), 3, i -> 1000).root();
    Map<String, String> environment =
        Map.of("PATH", root + "/bin:" + System.getenv("PATH"), "LD_LIBRARY_PATH", root + "/lib");
    String[] options = {"--capacity", "64M", "--metadata-ttl", "0"};
    Mount mount = sandbox.mountWith(List.of(), environment, root.toString(), root, options);

    mount.signal(Posix.SIGKILL);

    mount.findAgain(START);
  }

  private static List<String> lines(Path file) {
    try {
      return Files.exists(file) ? Files.readAllLines(file) : List.of();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
