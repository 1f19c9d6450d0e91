package io.holdfast.it;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.holdfast.posix.Posix;
import io.holdfast.posix.RawPath;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * One mounted dataset, and what a user can ask of it. Made by {@link Sandbox}, which also ends it.
 */
public final class Mount {
  private static final Duration SETTLE_DEADLINE = Duration.ofSeconds(60);
  private static final int LAST_LINES = 3;

  private final Sandbox sandbox;
  private final String name;
  private final String source;
  private final Path mountpoint;

  /** Daemons that were sent a signal that they do not survive. */
  private final Set<Long> struck = ConcurrentHashMap.newKeySet();

  private volatile long pid;
  private String plan = "";

  /**
   * A mount that is to be.
   *
   * @param source a directory, or objects in S3
   */
  public Mount(Sandbox sandbox, String name, String source, Path mountpoint) {
    this.sandbox = sandbox;
    this.name = name;
    this.source = source;
    this.mountpoint = mountpoint;
  }

  public List<String> command(String... options) {
    List<String> command = new ArrayList<>(List.of(Sandbox.launcher(), "mount"));
    command.addAll(List.of("--name", name, "--log-file", log().toString()));
    command.addAll(List.of("--binding", System.getProperty("holdfast.binding")));
    command.addAll(List.of("--state-dir", stateDirectory().toString()));
    command.addAll(List.of(options));
    command.add(source);
    if (!source.equals(mountpoint.toString())) {
      command.add(mountpoint.toString());
    }
    return command;
  }

  public void started(Child.Result result) {
    plan = result.out();
    pid = findDaemon();
  }

  private long findDaemon() {
    List<Long> pids = daemons();
    if (pids.size() != 1) {
      throw new AssertionError(
          "not one daemon of " + name + ": " + pids + " of " + ProcessTable.marked(sandbox.id()));
    }
    return pids.get(0);
  }

  private List<Long> daemons() {
    return ProcessTable.marked(sandbox.id()).stream()
        .filter(row -> row.commandLine().contains("java"))
        .filter(row -> isDaemon(row.commandLine()))
        .map(ProcessTable.Row::pid)
        .toList();
  }

  /** In the foreground, and without a supervisor, the command becomes it. */
  private boolean isDaemon(String commandLine) {
    return commandLine.contains(" serve " + state() + " ")
        || (commandLine.contains(" --foreground ")
            && commandLine.contains(" --name " + name + " "));
  }

  public String name() {
    return name;
  }

  /** Returns the output of the mount command. */
  public String plan() {
    return plan;
  }

  public Path log() {
    return sandbox.root().resolve(name + ".log");
  }

  /** Returns the last lines of its log. */
  List<String> lastLogged() {
    try (Stream<String> lines = Files.lines(log())) {
      List<String> all = lines.toList();
      return all.subList(Math.max(0, all.size() - LAST_LINES), all.size());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public String source() {
    return source;
  }

  public Path mountpoint() {
    return mountpoint;
  }

  public Path path(String relative) {
    return mountpoint.resolve(relative);
  }

  /** The daemon's process. */
  public long pid() {
    return pid;
  }

  public boolean isMounted() {
    return !MountTable.holdfastAt(mountpoint).isEmpty();
  }

  /** The directory that a mount leaves to later ones. */
  public Path stateDirectory() {
    return sandbox.root().resolve("state");
  }

  /** The directory of what one daemon leaves to the next. */
  public Path state() {
    return Path.of("/run/holdfast", name + ".state");
  }

  /** The process that starts daemons, or 0 where the binding has none. */
  public long supervisor() {
    try {
      return Long.parseLong(Files.readString(state().resolve("supervisor")).strip());
    } catch (NoSuchFileException e) {
      return 0;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Kills whatever of it runs. */
  public void kill() {
    long supervisor = supervisor();
    if (supervisor != 0) {
      Posix.kill(supervisor, Posix.SIGKILL);
    }
    signal(Posix.SIGKILL);
  }

  public void preventRestart() {
    Posix.kill(supervisor(), Posix.SIGSTOP);
  }

  public void allowRestart() {
    Posix.kill(supervisor(), Posix.SIGCONT);
  }

  /** Signals the current daemon, even one that is just starting; tells whether there was one. */
  public boolean signalAny(int signal) {
    List<Long> daemons = daemons();
    if (signal == Posix.SIGKILL || signal == Posix.SIGSEGV) {
      struck.addAll(daemons);
    }
    daemons.forEach(daemon -> Posix.kill(daemon, signal));
    return !daemons.isEmpty();
  }

  /**
   * Waits until a daemon answers, whichever it is. One that was killed is in the process table for
   * a while, so the only one there has to be the same before and after the answer. And one that has
   * crashed still answers while Java writes what happened, so it must not have been struck.
   */
  public void findAgain(Duration deadline) {
    Await.until(
        deadline,
        "an answer of a daemon of " + name,
        () -> {
          List<Long> daemons = daemons();
          if (daemons.size() != 1
              || struck.containsAll(daemons)
              || !Files.exists(state().resolve("ready"))
              || !ControlSocket.answers(ControlSocket.of(name))
              || !daemons.equals(daemons())) {
            return false;
          }
          pid = daemons.get(0);
          return true;
        });
  }

  public boolean daemonIsAlive() {
    char state = ProcessTable.state(pid);
    return state != 'X' && state != 'Z';
  }

  public void signal(int signal) {
    Posix.kill(pid, signal);
  }

  /** Stops the daemon and waits until no thread of it runs. */
  public void freeze() {
    signal(Posix.SIGSTOP);
    Await.until(
        SETTLE_DEADLINE,
        "the daemon stopped",
        () -> ProcessTable.threadStates(pid).stream().allMatch(state -> state == 'T'));
  }

  public void thaw() {
    signal(Posix.SIGCONT);
  }

  /** The figures of now. */
  public Stats stats() {
    return ControlSocket.stats(name);
  }

  public Stats awaitStats(String condition, Predicate<Stats> isWanted) {
    return Await.value(SETTLE_DEADLINE, condition, this::stats, isWanted);
  }

  /** The figures once nothing is being fetched, pinned or dropped any more, and nothing is kept. */
  public Stats settledStats() {
    return settledStats(stats -> stats.number("transit.used_bytes") == 0);
  }

  /**
   * The same where items may be kept in transit for a while, in case that other nodes ask for them.
   */
  public Stats settledStatsOfPeer() {
    return settledStats(
        stats -> stats.number("transit.used_bytes") == stats.number("transit.reclaimable_bytes"));
  }

  private Stats settledStats(Predicate<Stats> transitIsIdle) {
    Stats[] last = {stats()};
    return Await.value(
        SETTLE_DEADLINE,
        "the daemon has nothing to do",
        () -> {
          Stats before = last[0];
          last[0] = stats();
          return new Stats[] {before, last[0]};
        },
        pair ->
            pair[1].number("fetches.in_flight") == 0
                && pair[1].number("cache.pin_backlog_bytes") == 0
                && transitIsIdle.test(pair[1])
                && sameWork(pair[0], pair[1]))[1];
  }

  private static boolean sameWork(Stats a, Stats b) {
    return a.residentItems() == b.residentItems()
        && a.originItems() == b.originItems()
        && a.requests("READ") == b.requests("READ")
        && a.number("transit.window_bytes") == b.number("transit.window_bytes");
  }

  /** Bytes that the daemon has locked in memory: what the kernel says of the pins. */
  public long lockedBytes() {
    return ProcessTable.statusBytes(pid, "VmLck");
  }

  /**
   * Runs a task while these files stay in the page cache, as if an application had locked them.
   * Without a daemon that pins them, a kernel that reclaims unused pages before memory is short
   * takes some.
   */
  public void whileHeld(Iterable<String> files, Runnable task) {
    List<Runnable> releases = new ArrayList<>();
    try {
      for (String file : files) {
        releases.add(Posix.hold(RawPath.of(path(file))));
      }
      task.run();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      releases.forEach(Runnable::run);
    }
  }

  /**
   * Runs a task while the kernel reclaims none of these files' pages. Other than {@link
   * #whileHeld}, it may forget the files.
   */
  public void whilePagesAreHeld(Collection<String> files, Runnable task) {
    Runnable release;
    try {
      release = Posix.holdPages(files.stream().map(file -> RawPath.of(path(file))).toList());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    try {
      task.run();
    } finally {
      release.run();
    }
  }

  /** Bytes of these files that the page cache holds for this mount. */
  public long cachedBytes(Iterable<String> files) {
    long pages = 0;
    try {
      for (String file : files) {
        pages += Posix.cachedPages(RawPath.of(path(file)));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return pages * Posix.PAGE;
  }

  /** The value of an extended attribute of Holdfast: {@code resident} or {@code items}. */
  public String xattr(String file, String attribute) {
    try {
      byte[] value = Posix.xattr(RawPath.of(path(file)), "user.holdfast." + attribute);
      return new String(value, US_ASCII);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Has the kernel forget the names and inodes of this mount that nobody uses, as it does for all
   * file systems when memory is short.
   */
  void forgetNames() {
    sandbox.command("mount", "-i", "-o", "remount,ro", mountpoint.toString()).mustSucceed();
  }

  /** Has it look at all of the origin anew, without the command's process. */
  public void refresh() {
    refresh("");
  }

  /** Has the daemon look at a path anew, without the command's process. */
  public void refresh(String path) {
    String request = "{\"command\":\"refresh\",\"path\":\"%s\"}".formatted(path);
    String answer = ControlSocket.ask(name, request);
    if (!answer.contains("\"ok\":true")) {
      throw new AssertionError("refresh of '" + path + "' failed: " + answer);
    }
  }

  /** Drops all that is resident, without the command's process. */
  void drop() {
    task("\"begin\":\"drop\"");
  }

  /** Has the daemon take another capacity, without the command's process. */
  public void setCapacity(long bytes) {
    task("\"begin\":\"capacity\",\"size\":\"%d\"".formatted(bytes));
  }

  /** Has the daemon do a task to its end. */
  private void task(String begin) {
    Object id = ControlSocket.task(name, begin).at("task.id");
    Await.value(
        SETTLE_DEADLINE,
        begin,
        () -> String.valueOf(ControlSocket.task(name, "\"id\":" + id).at("task.state")),
        "done"::equals);
  }

  public Child.Result refreshByCommand(String path) {
    return sandbox.holdfast("refresh", name, path);
  }

  public Child.Result umount() {
    return sandbox.holdfast("umount", mountpoint.toString());
  }

  /** Ends it as a service manager does and waits until nothing of it is left. */
  public void terminate() {
    end()
        .ifPresent(
            failure -> {
              throw new AssertionError(failure);
            });
    Await.until(
        Sandbox.END_DEADLINE, "the daemon gone", () -> !daemonIsAlive() && !Files.exists(state()));
  }

  /**
   * Ends it as a service manager does, which needs no process but the daemon's; by command where
   * that daemon is not there any more. Returns what went wrong.
   */
  Optional<String> end() {
    if (!daemons().equals(List.of(pid))) {
      Child.Result result = umount();
      return result.exit() == 0 ? Optional.empty() : Optional.of("umount failed: " + result);
    }
    signal(Posix.SIGTERM);
    return Await.holdsWithin(Sandbox.COMMAND_DEADLINE, () -> !isMounted())
        ? Optional.empty()
        : Optional.of("a mount that SIGTERM does not end: " + name);
  }
}
