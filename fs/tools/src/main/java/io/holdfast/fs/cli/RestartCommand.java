package io.holdfast.fs.cli;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.allocate.node.BudgetJoin;
import io.holdfast.fs.client.DaemonClient;
import io.holdfast.fs.control.ControlClient;
import io.holdfast.fs.control.ControlDirectory;
import io.holdfast.fs.control.RunningDaemon;
import io.holdfast.fs.daemon.LiveChanges;
import io.holdfast.fs.daemon.SupervisedMount;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.settings.Given;
import io.holdfast.fs.settings.GivenSettings;
import io.holdfast.fs.settings.SettingTable;
import io.holdfast.fs.settings.Settings;
import io.holdfast.fs.settings.SettingsDocument;
import io.holdfast.fs.settings.request.ChangedMount;
import io.holdfast.fs.settings.request.DaemonMemory;
import io.holdfast.fs.settings.request.MountRequest;
import io.holdfast.fs.start.DaemonState;
import io.holdfast.fs.start.LogPath;
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
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code holdfast restart}: puts another daemon in the place of a mount's one. */
@Command(
    name = RestartCommand.NAME,
    sortOptions = false,
    customSynopsis = "holdfast restart [OPTIONS] MOUNTPOINT|NAME",
    header = "Put a new daemon under a mount that goes on.",
    description = {
      "",
      "The daemon ends and another one takes its place: of the version that this command is of, and"
          + " with the options that are given here changed. What was given at the mount by options"
          + " and environment stays, and the mount's file is read again. Who reads from the mount"
          + " waits for a second and notices nothing; what is in memory stays there. Where the new"
          + " daemon does not start, the one before comes back."
    },
    parameterListHeading = "%nArguments:%n",
    optionListHeading = "%nOptions:%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  holdfast restart /data/imagenet                  # after an update",
      "  holdfast restart --capacity 600G /data/imagenet"
    })
final class RestartCommand implements Callable<Integer> {
  static final String NAME = "restart";

  /** A new daemon that does not get ready ends after its time, and the one before has the same. */
  private static final Duration START_DEADLINE = MountCommand.START_DEADLINE.multipliedBy(2);

  private static final long POLL_MILLIS = 20;

  private final CliContext context;

  @Spec private @Nullable CommandSpec spec;

  @Parameters(index = "0", paramLabel = "MOUNTPOINT|NAME", description = "Which mount.")
  private String target = "";

  RestartCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws FsException {
    context.refuseRepeatedOptions(spec);
    GivenSettings given = MountOptions.given(context.parsed(spec));
    ChangedMount.refuseFixed(given);
    RunningDaemon daemon = context.targets().get(target);
    ControlDirectory control = context.host().control();
    if (!daemon.socket().equals(control.socket(daemon.name()))) {
      FsException refused = new FsException(FsError.ACCESS_DENIED, daemon.socket() + " is root's");
      throw DaemonClient.explain(refused, daemon);
    }
    DaemonState state = DaemonState.at(control.stateDirectory(daemon.name()));
    if (!state.isSupervised()) {
      throw CliException.couldNot(
          "'%s' has no supervisor that would start another daemon: only a mount with --binding kernel has: unmount it and mount again"
              .formatted(daemon.name()));
    }
    replace(daemon, state, given);
    PrintWriter out = context.out(spec);
    out.println("'" + daemon.name() + "' has a new daemon");
    out.flush();
    return 0;
  }

  private void replace(RunningDaemon daemon, DaemonState state, GivenSettings changes)
      throws FsException {
    SettingsDocument before = state.document();
    List<String> own = context.ownCommand();
    List<String> program = JavaCommand.next(own, command(state), context.host().environment());
    DaemonMemory memory =
        new DaemonMemory(context.host().memory(daemon.pid()), JavaCommand.heapBytes(program, own));
    MountRequest request = ChangedMount.of(context.host(), before, changes, memory);
    boolean same =
        changes.get(SettingTable.CAPACITY).isEmpty()
            && capacity(before.given()).equals(capacity(request.given()));
    if (same) {
      replace(daemon, state, program, request, false);
      return;
    }
    PrintWriter err = context.err(spec);
    try (BudgetJoin.Joined joined = new BudgetJoin(context, err).join(request)) {
      joined.notes().forEach(note -> err.println("holdfast: " + Visible.of(note)));
      err.flush();
      replace(daemon, state, program, joined.request(), true);
    }
  }

  private static List<String> command(DaemonState state) {
    try {
      return state.command();
    } catch (IOException e) {
      throw unusable(state, e);
    }
  }

  private static CliException unusable(DaemonState state, IOException failure) {
    return CliException.couldNot(
        "'" + state.directory() + "' cannot be used: " + failure.getMessage(), failure);
  }

  private void replace(
      RunningDaemon daemon,
      DaemonState state,
      List<String> program,
      MountRequest request,
      boolean changesCapacity)
      throws FsException {
    Settings settings = request.settings();
    Path log = LogPath.ofDaemon(settings, context.host());
    SettingsDocument after = new SettingsDocument(settings, request.given(), log, List.of());
    try {
      String was = state.next();
      state.replace(program, after);
      String wanted = state.next();
      Map<String, Object> forgotten = Map.of();
      try {
        if (changesCapacity) {
          forgotten = LiveChanges.forgetCapacity(state.directory());
        }
        new ControlClient(daemon.socket(), context.answerDeadline()).restart();
      } catch (IOException e) {
        // Or the daemon after the next crash would have what this command could not bring.
        state.takeBack();
        LiveChanges.remember(state.directory(), forgotten);
        throw e;
      }
      awaitNext(daemon);
      if (state.next().equals(was) && !wanted.equals(was)) {
        throw CliException.couldNot(
            "the new daemon does not start; the one before is back: see " + log);
      }
    } catch (IOException e) {
      if (e instanceof FsException failure) {
        throw DaemonClient.explain(failure, daemon);
      }
      throw unusable(state, e);
    }
  }

  private static Optional<List<String>> capacity(GivenSettings given) {
    return given.get(SettingTable.CAPACITY).map(Given::values);
  }

  private void awaitNext(RunningDaemon before) {
    long end = System.nanoTime() + START_DEADLINE.toNanos();
    while (!isThere(before)) {
      if (System.nanoTime() > end || !context.pause(POLL_MILLIS)) {
        throw CliException.couldNot(
            "no new daemon of '%s' answers after %d s: look into its log"
                .formatted(before.name(), START_DEADLINE.toSeconds()));
      }
      if (!SupervisedMount.isSupervised(context.host().control().stateDirectory(before.name()))) {
        throw CliException.couldNot(
            "no daemon of '%s' starts, and its supervisor has given the mount up: look into its log, and mount again"
                .formatted(before.name()));
      }
    }
  }

  private boolean isThere(RunningDaemon before) {
    Optional<RunningDaemon> now = context.host().control().running(before.name());
    if (now.isEmpty() || now.get().pid() == before.pid()) {
      return false;
    }
    Path state = context.host().control().stateDirectory(before.name());
    return Files.exists(state.resolve("ready"));
  }
}
