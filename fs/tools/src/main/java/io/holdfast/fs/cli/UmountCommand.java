package io.holdfast.fs.cli;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.client.DaemonClient;
import io.holdfast.fs.client.PersistWait;
import io.holdfast.fs.client.Targets;
import io.holdfast.fs.control.ControlClient;
import io.holdfast.fs.control.ControlDirectory;
import io.holdfast.fs.control.RunningDaemon;
import io.holdfast.fs.daemon.SupervisedMount;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.host.Host;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.MountTable;
import io.holdfast.fs.settings.MountNames;
import io.holdfast.fs.start.DaemonState;
import io.holdfast.fs.units.Visible;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code holdfast umount}: makes the daemon unmount, and waits until that is done. Takes away what
 * a dead daemon left, and with {@code --force} ends one that does not answer.
 */
@Command(
    name = "umount",
    sortOptions = false,
    customSynopsis = "holdfast umount [--force|--if-dead] [--timeout TIME] MOUNTPOINT|NAME",
    header = "End a mount and give its memory back.",
    description = {
      "",
      "Works also while files are open: their readers get an error or the rest of what is in"
          + " memory. Where the mount lay over its source, the source is visible again. What a"
          + " daemon that died left behind is taken away.",
      "",
      "A checkpoint mount ends when its store has everything: while files are open, or the store"
          + " fails, it stays. With --force it ends at once, and the front keeps the rest for the next"
          + " mount."
    },
    parameterListHeading = "%nArguments:%n",
    optionListHeading = "%nOptions:%n",
    footerHeading = "%nExamples:%n",
    footer = {"  holdfast umount /data/imagenet", "  holdfast umount data-imagenet"})
final class UmountCommand implements Callable<Integer> {
  private static final Duration UNMOUNT_DEADLINE = Duration.ofSeconds(10);
  private static final long POLL_MILLIS = 20;
  private static final int DEEPEST_STACK = 16;

  private final CliContext context;

  @Spec private @Nullable CommandSpec spec;

  @Parameters(index = "0", paramLabel = "MOUNTPOINT|NAME", description = "Which mount.")
  private String target = "";

  @Option(
      names = "--force",
      description = "Kill the daemon when it does not answer or does not end in time.")
  private boolean force;

  @Option(
      names = "--if-dead",
      description =
          "Only take away what a daemon that died left. A mount that has a daemon, or gets one,"
              + " stays, with exit code 0.")
  private boolean ifDead;

  @Option(
      names = "--timeout",
      paramLabel = "TIME",
      description =
          "For a checkpoint mount only: how long its store may take, 90s or 10m; exit code 124 then,"
              + " and the mount stays. Default: without end.",
      converter = OptionValues.Interval.class)
  private @Nullable Duration timeout;

  UmountCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    if (force && ifDead) {
      throw CliException.usage("--force and --if-dead exclude each other: give one of them");
    }
    if (timeout != null && (force || ifDead)) {
      throw CliException.usage(
          "--timeout means nothing with %s, which waits for no store: leave it out"
              .formatted(force ? "--force" : "--if-dead"));
    }
    Targets targets = context.targets();
    if (ifDead) {
      takeAwayDead(targets);
      return 0;
    }
    Optional<RunningDaemon> starting = targets.beingStartedAgain(target);
    boolean startsCheckpoints = starting.filter(targets::isCheckpoint).isPresent();
    Optional<RunningDaemon> daemon = targets.find(target);
    if (starting.isPresent() && daemon.isEmpty()) {
      if (targets.beingStartedAgain(target).isPresent()) {
        endStart(starting.get());
      }
      if (!isMounted(starting.get().mountpoint())) {
        // no daemon started, and the supervisor took the mount away
        return startsCheckpoints ? tookAwayCheckpoints(starting.get().mountpoint()) : 0;
      }
    }
    if (daemon.isPresent() && targets.isCheckpoint(daemon.get()) && !force) {
      return endCheckpoints(daemon.get());
    }
    if (daemon.isPresent()) {
      if (timeout != null) {
        throw onlyForCheckpoints(daemon.get().mountpoint());
      }
      stop(daemon.get());
      return 0;
    }
    return takeAwayStale(
        starting
            .map(RunningDaemon::mountpoint)
            .orElseGet(() -> context.host().locate(mountpointOf(target))));
  }

  /**
   * Has the store get everything, unmounts, has it get what came meanwhile, and ends; all that
   * within --timeout.
   */
  private int endCheckpoints(RunningDaemon daemon) throws IOException {
    PersistWait wait = new PersistWait(context, daemon, timeout);
    int exit = wait.run("", this::say);
    if (exit != 0) {
      say(
          isMounted(daemon.mountpoint())
              ? "the store does not have everything yet: the mount stays"
              : goesOn(daemon));
      return exit;
    }
    unmount(daemon);
    while (!endsWithin(wait, daemon)) {
      boolean isLate = !isPersisted(wait, daemon) || wait.isOver();
      if (isLate && !hasEnded(daemon)) {
        say(goesOn(daemon));
        return PersistWait.TIMED_OUT;
      }
    }
    return 0;
  }

  private static String goesOn(RunningDaemon daemon) {
    return "'%s' is unmounted, but its daemon (pid %d) is not done with the store yet: it goes on"
        .formatted(daemon.mountpoint(), daemon.pid());
  }

  /** Waits for the daemon's end, no longer than --timeout; tells whether it has ended. */
  private boolean endsWithin(PersistWait wait, RunningDaemon daemon) {
    return within(() -> hasEnded(daemon) || wait.isOver()) && hasEnded(daemon);
  }

  /** Waits until the store has everything; a daemon that ends meanwhile has seen to that. */
  private boolean isPersisted(PersistWait wait, RunningDaemon daemon) {
    try {
      return wait.run("", this::say) == 0;
    } catch (CliException e) {
      if (within(() -> hasEnded(daemon))) {
        return true;
      }
      throw e;
    }
  }

  /** Unmounts; a daemon that has nothing left to do may end before it has answered. */
  private void unmount(RunningDaemon daemon) throws IOException {
    Object errno = 0;
    try {
      errno =
          new DaemonClient(daemon, PersistWait.DEADLINE).task(Map.of("unmount", true)).get("errno");
    } catch (CliException e) {
      if (isMounted(daemon.mountpoint())) {
        throw e;
      }
    }
    if (errno instanceof Number number && number.intValue() != 0) {
      throw CliException.couldNot(
          "'%s' cannot be unmounted (%s): close what is open there, or use --force"
              .formatted(daemon.mountpoint(), Linux.describe(number.intValue())));
    }
  }

  /** A name can be that of a dead daemon. */
  private Path mountpointOf(String nameOrMountpoint) {
    return Optional.of(nameOrMountpoint)
        .filter(MountNames::isName)
        .flatMap(context.host().control()::leftover)
        .map(RunningDaemon::mountpoint)
        .orElseGet(() -> Path.of(nameOrMountpoint));
  }

  private void stop(RunningDaemon daemon) throws IOException {
    boolean understood = tell(daemon);
    boolean ended = understood && within(() -> hasEnded(daemon));
    if (!ended && !force) {
      throw CliException.couldNot(
          "'%s' was not unmounted within %d s (daemon pid %d): look into its log, or use --force"
              .formatted(daemon.mountpoint(), UNMOUNT_DEADLINE.toSeconds(), daemon.pid()));
    }
    if (!ended) {
      kill(daemon);
    }
    if (isMounted(daemon.mountpoint())) {
      detachAll(daemon.mountpoint());
    }
    context.host().control().removeLeftovers(daemon.name());
  }

  /**
   * Tells a daemon to end. One that is just ending hangs up, which is as good; one that takes a
   * mount over is known a moment before it listens, and is told again.
   *
   * @return false where it could not be told in time, and is to be ended by force if at all
   */
  private boolean tell(RunningDaemon daemon) {
    long end = System.nanoTime() + UNMOUNT_DEADLINE.toNanos();
    while (true) {
      try {
        new ControlClient(daemon.socket(), context.answerDeadline()).stop();
        return true;
      } catch (FsException e) {
        if (e.code() == FsError.ACCESS_DENIED) {
          throw DaemonClient.explain(e, daemon);
        }
        if (e.code() == FsError.TIMED_OUT) {
          return refuseUnlessForced(e, daemon);
        }
        if (hasEnded(daemon)) {
          return true;
        }
        if (System.nanoTime() - end > 0 || !context.pause(POLL_MILLIS)) {
          return false;
        }
      }
    }
  }

  private boolean refuseUnlessForced(FsException failure, RunningDaemon daemon) {
    if (!force) {
      throw DaemonClient.explain(failure, daemon);
    }
    return false;
  }

  /**
   * A daemon that is gone but left its mount has ended too. Its supervisor, which removes the state
   * directory last, has to be gone as well.
   */
  private boolean hasEnded(RunningDaemon daemon) {
    return isDead(daemon) && !Files.exists(context.host().control().stateDirectory(daemon.name()));
  }

  private boolean isDead(RunningDaemon daemon) {
    return !isAlive(daemon) && !context.host().control().isHeld(daemon.name());
  }

  private boolean isAlive(RunningDaemon daemon) {
    return context.targets().running().stream()
        .anyMatch(other -> other.name().equals(daemon.name()) && other.pid() == daemon.pid());
  }

  private boolean isMounted(Path mountpoint) {
    return context.host().mounts().at(mountpoint).filter(MountTable.Mount::isHoldfast).isPresent();
  }

  private void kill(RunningDaemon daemon) throws IOException {
    Path state = context.host().control().stateDirectory(daemon.name());
    if (Files.exists(state)) {
      SupervisedMount.forbidRestart(state);
    }
    // Nobody removes the state directory of a killed daemon that has lost its supervisor.
    boolean removesState = SupervisedMount.isSupervised(state);
    BooleanSupplier hasEnded = () -> removesState ? hasEnded(daemon) : isDead(daemon);
    if (!context.kill(daemon.pid()) || !within(hasEnded)) {
      throw CliException.couldNot(
          "the daemon of '%s' (pid %d) cannot be killed: try as the user that started it"
              .formatted(daemon.name(), daemon.pid()));
    }
    say("killed the daemon of '" + daemon.name() + "' (pid " + daemon.pid() + ")");
  }

  /** Ends the start of a daemon that does not answer; its supervisor then takes the mount away. */
  private void endStart(RunningDaemon before) throws IOException {
    if (!force) {
      throw CliException.couldNot(
          "the daemon of '%s' died, and the next one does not answer yet: try again, look into its log, or use --force"
              .formatted(before.name()));
    }
    Path state = context.host().control().stateDirectory(before.name());
    if (Files.exists(state)) {
      SupervisedMount.forbidRestart(state);
    }
    BooleanSupplier hasEnded =
        () -> {
          DaemonState.children(state).forEach(context::kill);
          return !SupervisedMount.isSupervised(state);
        };
    if (!within(hasEnded)) {
      throw CliException.couldNot(
          "the daemon of '%s' that is being started cannot be killed: try as the user that started it"
              .formatted(before.name()));
    }
    say("ended the start of a daemon of '" + before.name() + "'");
  }

  /** Takes away what a daemon that died left, unless the mount has a daemon or gets one. */
  private void takeAwayDead(Targets targets) throws IOException {
    ControlDirectory control = context.host().control();
    Path path = context.host().locate(mountpointOf(target));
    Predicate<RunningDaemon> meant =
        daemon -> daemon.name().equals(target) || daemon.mountpoint().equals(path);
    List<String> dead = control.dead().stream().filter(meant).map(RunningDaemon::name).toList();
    if (targets.running().stream().anyMatch(meant)
        || dead.stream().map(control::stateDirectory).anyMatch(DaemonState::isBegun)) {
      return;
    }
    if (isMounted(path)) {
      int unused = takeAwayStale(path);
    }
    for (String name : dead) {
      control.removeLeftovers(name);
    }
  }

  private int takeAwayStale(Path path) throws IOException {
    Optional<MountTable.Mount> mount = context.host().mounts().at(path);
    if (mount.filter(MountTable.Mount::isHoldfast).isEmpty()) {
      throw CliException.couldNot(
          "'"
              + target
              + "' is not a Holdfast mount"
              + mount.map(m -> " but one of type " + m.type()).orElse("")
              + ": 'holdfast stats' shows what is running");
    }
    if (timeout != null && !mount.get().isCheckpoint()) {
      throw onlyForCheckpoints(path);
    }
    if (context.host().probe(path) != Host.PathState.NOT_CONNECTED
        && !DaemonState.hasDied(context.host().control(), path)
        && !force) {
      throw CliException.couldNot(
          "the daemon of '%s' is not to be found; user %s mounted it: run as that user, or use --force"
              .formatted(path, mount.get().userId().orElse("?")));
    }
    detachAll(path);
    Optional<String> dead = context.host().control().leftoverOf(path);
    if (dead.isPresent()) {
      context.host().control().removeLeftovers(dead.get());
    }
    if (mount.get().isCheckpoint()) {
      return tookAwayCheckpoints(path);
    }
    say("took away a stale mount at " + path + ", whose daemon had died");
    return 0;
  }

  /** Success is for a store that has everything, unless the user did not ask for that. */
  private int tookAwayCheckpoints(Path mountpoint) {
    say(
        "took away the checkpoint mount at %s, whose daemon had died: its front may have changes that the store lacks: mount again with the same front"
            .formatted(mountpoint));
    return force ? 0 : CliException.COULD_NOT;
  }

  private static CliException onlyForCheckpoints(Path mountpoint) {
    return CliException.usage(
        "--timeout is for checkpoint mounts, and '%s' is a mount of a dataset: leave it out"
            .formatted(mountpoint));
  }

  private void detachAll(Path path) {
    try {
      for (int i = 0; i < DEEPEST_STACK && isMounted(path); i++) {
        context.host().detach(path);
      }
    } catch (IOException e) {
      if (!isMounted(path)) {
        return; // the daemon, on its way out, was faster
      }
      throw CliException.couldNot(
          "the mount at '%s' cannot be taken away (%s): try as root"
              .formatted(path, e.getMessage()),
          e);
    }
  }

  private boolean within(BooleanSupplier condition) {
    long end = System.nanoTime() + UNMOUNT_DEADLINE.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > end || !context.pause(POLL_MILLIS)) {
        return false;
      }
    }
    return true;
  }

  private void say(String line) {
    PrintWriter err = context.err(spec);
    err.println("holdfast: " + Visible.of(line));
    err.flush();
  }
}
