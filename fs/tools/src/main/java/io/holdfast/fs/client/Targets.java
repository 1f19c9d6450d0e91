package io.holdfast.fs.client;

import io.holdfast.fs.control.ControlDirectory;
import io.holdfast.fs.control.RunningDaemon;
import io.holdfast.fs.daemon.SupervisedMount;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.host.Host;
import io.holdfast.fs.linux.MountTable;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Finds the daemon that a user means by a name, a mountpoint or nothing. Where the daemon was
 * killed and its supervisor starts the next one, that is waited for. Immutable.
 */
public final class Targets {
  /** How long a mount may be between two daemons. */
  static final Duration LONGEST_START = Duration.ofSeconds(10);

  static final Duration PAUSE = Duration.ofMillis(20);

  private final Host host;
  private final Duration start;

  /** Creates one that waits for the next daemon of a mount for as long as that may take. */
  public Targets(Host host) {
    this(host, LONGEST_START);
  }

  /**
   * Creates one.
   *
   * @param start how long a mount may be between two daemons
   */
  public Targets(Host host, Duration start) {
    this.host = host;
    this.start = start;
  }

  /** Returns the daemons of this user, and those of root that it can see. */
  public List<RunningDaemon> running() {
    List<RunningDaemon> running = new ArrayList<>(host.control().running());
    if (host.uid() != 0) {
      host.controlOfOthers().forEach(root -> running.addAll(root.running()));
    }
    return running;
  }

  /** Returns those that are running and meant, once there is one or none is being started. */
  private List<RunningDaemon> running(Predicate<RunningDaemon> meant) {
    long end = System.nanoTime() + start.toNanos();
    List<RunningDaemon> running = runningNow(meant);
    while (running.isEmpty()
        && beingStartedAgain(meant).isPresent()
        && System.nanoTime() - end < 0) {
      LockSupport.parkNanos(PAUSE.toNanos());
      running = runningNow(meant);
    }
    // one that was being started when the first look found none may be running by the second
    return running.isEmpty() ? runningNow(meant) : running;
  }

  private List<RunningDaemon> runningNow(Predicate<RunningDaemon> meant) {
    return running().stream().filter(meant).toList();
  }

  private Optional<RunningDaemon> beingStartedAgain(Predicate<RunningDaemon> meant) {
    ControlDirectory control = host.control();
    return control.dead().stream()
        .filter(meant)
        .filter(
            dead -> {
              Path state = control.stateDirectory(dead.name());
              return SupervisedMount.isSupervised(state) && !SupervisedMount.hasEnded(state);
            })
        .findFirst();
  }

  /** Returns the daemon that was killed, if its supervisor starts the next one. */
  public Optional<RunningDaemon> beingStartedAgain(String nameOrMountpoint) {
    Optional<RunningDaemon> dead = beingStartedAgain(named(nameOrMountpoint));
    boolean isName = dead.isPresent() || running().stream().anyMatch(named(nameOrMountpoint));
    return isName || nameOrMountpoint.isEmpty() ? dead : beingStartedAgain(at(nameOrMountpoint));
  }

  /** Returns the daemon of that name, or of that mountpoint. */
  public Optional<RunningDaemon> find(String nameOrMountpoint) {
    List<RunningDaemon> running = running(named(nameOrMountpoint));
    if (running.isEmpty() && !nameOrMountpoint.isEmpty()) {
      running = running(at(nameOrMountpoint));
    }
    return running.stream().findFirst();
  }

  private static Predicate<RunningDaemon> named(String name) {
    return daemon -> daemon.name().equals(name);
  }

  /** Looks for the path, which may hang: only for what is no name. */
  private Predicate<RunningDaemon> at(String mountpoint) {
    Path path = host.locate(Path.of(mountpoint));
    return daemon -> daemon.mountpoint().equals(path);
  }

  /** Returns the daemon of a dataset of that name or mountpoint; fails when there is none. */
  public RunningDaemon get(String nameOrMountpoint) {
    return dataset(getAny(nameOrMountpoint));
  }

  private RunningDaemon dataset(RunningDaemon daemon) {
    if (isCheckpoint(daemon)) {
      throw CliException.usage(
          "'%s' is a checkpoint mount: only stats, run, umount and checkpoint deal with these"
              .formatted(daemon.name()));
    }
    return daemon;
  }

  /** Returns the daemon of a dataset or of checkpoints; fails when there is none. */
  public RunningDaemon getAny(String nameOrMountpoint) {
    return find(nameOrMountpoint)
        .orElseThrow(
            () ->
                CliException.couldNot(
                    "'" + nameOrMountpoint + "' is no running Holdfast mount: " + hint()));
  }

  /**
   * Tells whether a daemon is that of a checkpoint mount. Such a daemon goes on with the store when
   * nothing is mounted any more, or something else.
   */
  public boolean isCheckpoint(RunningDaemon daemon) {
    return SupervisedMount.isForCheckpoints(host.control().stateDirectory(daemon.name()))
        || host.mounts().at(daemon.mountpoint()).filter(MountTable.Mount::isCheckpoint).isPresent();
  }

  /** Returns the daemon of a checkpoint mount if this user may ask it. */
  public RunningDaemon answering(RunningDaemon checkpoint) {
    if (host.uid() != 0) {
      throw CliException.usage(
          "the daemon of '%s' answers root only: run this as root; 'getfattr -n user.holdfast.durable PATH' tells every user where PATH is durable"
              .formatted(checkpoint.name()));
    }
    return checkpoint;
  }

  /** Returns the only checkpoint mount that is running. */
  public RunningDaemon onlyCheckpoint() {
    List<RunningDaemon> running = running(this::isCheckpoint);
    if (running.size() == 1) {
      return answering(running.get(0));
    }
    throw running.isEmpty()
        ? CliException.couldNot(
            "no checkpoint mount is running: start one with 'holdfast checkpoint'")
        : CliException.usage(
            "several checkpoint mounts are running: name one of " + names(running));
  }

  /** Returns the checkpoint mount of that name or mountpoint. */
  public RunningDaemon getCheckpoint(String nameOrMountpoint) {
    RunningDaemon daemon = getAny(nameOrMountpoint);
    if (!isCheckpoint(daemon)) {
      throw CliException.usage(
          "'" + nameOrMountpoint + "' is a mount of a dataset, and no checkpoint mount");
    }
    return answering(daemon);
  }

  /**
   * Returns the checkpoint mount that a path is in, and the path there. Symlinks count that lead to
   * the mount; the daemon follows those inside.
   *
   * @param path absolute
   */
  public Inside checkpointAround(Path path) {
    Inside inside =
        checkpointAt(path)
            .or(() -> checkpointAt(host.locate(path)))
            .orElseThrow(
                () ->
                    CliException.couldNot(
                        "'" + path + "' is not in a running checkpoint mount: " + hint()));
    RunningDaemon unused = answering(inside.daemon());
    return inside;
  }

  private Optional<Inside> checkpointAt(Path path) {
    return running(daemon -> path.startsWith(daemon.mountpoint()) && isCheckpoint(daemon)).stream()
        .max(Comparator.comparingInt(daemon -> daemon.mountpoint().getNameCount()))
        .map(
            daemon -> new Inside(daemon, List.of(daemon.mountpoint().relativize(path).toString())));
  }

  /** Returns the only daemon of a dataset that is running; this user's own come before root's. */
  public RunningDaemon only() {
    List<RunningDaemon> own = datasets(host.control().running());
    List<RunningDaemon> running = own.isEmpty() ? running(daemon -> !isCheckpoint(daemon)) : own;
    if (running.isEmpty()) {
      throw CliException.couldNot("no Holdfast mount is running: start one with 'holdfast mount'");
    }
    if (running.size() > 1) {
      throw CliException.usage("several mounts are running: name one of " + names(running));
    }
    return running.get(0);
  }

  /** Returns those daemons that have a dataset. */
  public List<RunningDaemon> datasets(List<RunningDaemon> daemons) {
    return daemons.stream().filter(daemon -> !isCheckpoint(daemon)).toList();
  }

  /**
   * A mount, and paths in it.
   *
   * @param paths as the daemon wants them: below the root of the mount
   */
  public record Inside(RunningDaemon daemon, List<String> paths) {}

  /**
   * Takes words that begin with a mount or not: else it is the one that the first path is below, or
   * the only one.
   */
  public Inside inside(List<String> words) {
    Optional<RunningDaemon> named = words.isEmpty() ? Optional.empty() : find(words.get(0));
    List<String> paths = named.isPresent() ? words.subList(1, words.size()) : words;
    RunningDaemon daemon =
        named
            .map(this::dataset)
            .orElseGet(
                () ->
                    !words.isEmpty() && words.get(0).startsWith("/")
                        ? around(words.get(0))
                        : only());
    return new Inside(
        daemon, paths.stream().map(path -> below(path, daemon.mountpoint())).toList());
  }

  /** Returns the path as the daemon wants it: below the root of the mount. */
  public static String below(String text, Path mountpoint) {
    Path path = Path.of(text).normalize();
    if (path.isAbsolute()) {
      if (!path.startsWith(mountpoint)) {
        throw CliException.usage(
            "PATH '" + text + "' is not below " + mountpoint + ": give one that is");
      }
      path = mountpoint.relativize(path);
    }
    if (path.startsWith("..")) {
      throw CliException.usage("PATH '" + text + "' leads out of the mount: give one below it");
    }
    return path.toString();
  }

  private RunningDaemon around(String path) {
    Path wanted = Path.of(path).normalize();
    return running(daemon -> wanted.startsWith(daemon.mountpoint()) && !isCheckpoint(daemon))
        .stream()
        .max(Comparator.comparingInt(daemon -> daemon.mountpoint().getNameCount()))
        .orElseThrow(
            () ->
                CliException.couldNot(
                    "'" + path + "' is neither a running Holdfast mount nor below one: " + hint()));
  }

  private String hint() {
    List<RunningDaemon> running = running();
    return running.isEmpty() ? "none is running" : "running are " + names(running);
  }

  private static String names(List<RunningDaemon> running) {
    return running.stream()
        .map(daemon -> daemon.name() + " (" + daemon.mountpoint() + ")")
        .collect(Collectors.joining(", "));
  }
}
