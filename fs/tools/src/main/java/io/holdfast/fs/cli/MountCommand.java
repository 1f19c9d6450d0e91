package io.holdfast.fs.cli;

import io.holdfast.fs.FsException;
import io.holdfast.fs.allocate.node.BudgetJoin;
import io.holdfast.fs.allocate.node.ExaminedMachine;
import io.holdfast.fs.doctor.Doctor;
import io.holdfast.fs.doctor.Promises;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.settings.BindingChoice;
import io.holdfast.fs.settings.Given;
import io.holdfast.fs.settings.GivenSettings;
import io.holdfast.fs.settings.SettingTable;
import io.holdfast.fs.settings.Settings;
import io.holdfast.fs.settings.SettingsDocument;
import io.holdfast.fs.settings.request.ConfigLookup;
import io.holdfast.fs.settings.request.MountRequest;
import io.holdfast.fs.start.BackgroundStart;
import io.holdfast.fs.start.DaemonState;
import io.holdfast.fs.start.LogPath;
import io.holdfast.fs.start.Preflight;
import io.holdfast.fs.units.Visible;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code holdfast mount}: checks everything, and starts a daemon in the background or becomes one.
 */
@Command(
    name = MountCommand.NAME,
    sortOptions = false,
    sortSynopsis = false,
    customSynopsis = {
      "holdfast mount [OPTIONS] SOURCE [MOUNTPOINT]",
      "       holdfast mount [OPTIONS] --name NAME"
    },
    header = "Mount a dataset so that what is read stays in memory.",
    description = {
      "",
      "SOURCE is the directory that holds the dataset: local, NFS, Lustre or any other. It appears,"
          + " read-only, at MOUNTPOINT; without MOUNTPOINT, over itself, so that no path changes."
          + " Or SOURCE is s3://BUCKET/PREFIX, with the credentials that AWS tools find, too."
          + " The command returns when the mount answers, and tells the hit ratio to expect.",
      "",
      "What no option says, the environment says (HOLDFAST_CAPACITY for --capacity), or else the"
          + " file /etc/holdfast/NAME.yaml ('capacity: 64G'), which may also have source and"
          + " mountpoint."
    },
    parameterListHeading = "%nArguments:%n",
    optionListHeading = "%nOptions:%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  holdfast mount /data/imagenet                # over itself, half the memory",
      "  holdfast mount --capacity 400G /nfs/openimages /mnt/openimages",
      "  holdfast mount --capacity 60%% --memory 75%% /data/imagenet",
      "  holdfast mount --s3-region eu-west-1 s3://datasets/imagenet /mnt/imagenet",
      "  holdfast mount --name imagenet               # by /etc/holdfast/imagenet.yaml",
      "  holdfast mount --foreground --log-level debug /data/imagenet /mnt/x"
    })
final class MountCommand implements Callable<Integer> {
  static final String NAME = "mount";

  /** How long a daemon may take until its mount answers. */
  static final Duration START_DEADLINE = Duration.ofSeconds(60);

  private final CliContext context;

  @Spec private @Nullable CommandSpec spec;

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "SOURCE",
      description =
          "The dataset's directory, or s3://BUCKET/PREFIX. Default: what the mount's file says.")
  private @Nullable String source;

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "MOUNTPOINT",
      description =
          "Where it appears. Default: what the file says, or SOURCE itself, if it is a directory.")
  private @Nullable String mountpoint;

  MountCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws FsException {
    context.refuseRepeatedOptions(spec);
    MountRequest request = new MountRequest(context.host(), given());
    // Wrong values come to light before anything is touched.
    Settings unused = request.settings();
    Preflight preflight = new Preflight(context.host());
    Preflight.Result paths = preflight.checkPaths(request.source(), request.mountpoint());
    List<String> lines = new ArrayList<>(paths.notes());
    lines.addAll(ConfigLookup.doubtful(context.host().environment()));
    PrintWriter err = context.err(spec);
    lines.forEach(note -> err.println("holdfast: " + Visible.of(note)));
    err.flush();
    MountRequest found = request.at(paths.origin(), paths.mountpoint());
    preflight.checkMachine(found.settings());
    try (BudgetJoin.Joined joined = new BudgetJoin(context, err).join(found)) {
      joined.notes().forEach(note -> err.println("holdfast: " + Visible.of(note)));
      err.flush();
      return start(joined, lines);
    }
  }

  private int start(BudgetJoin.Joined joined, List<String> lines) throws FsException {
    PrintWriter err = context.err(spec);
    MountRequest found = joined.request();
    Settings settings = found.settings();
    // not for the daemon's log: it would say the same at each of its starts, true or not by then
    Optional<String> together = together(settings).map(Visible::of);
    Path log = LogPath.ofDaemon(settings, context.host());
    SettingsDocument document = new SettingsDocument(settings, found.given(), log, lines);
    if (!settings.get(SettingTable.FOREGROUND)) {
      int exitCode = startInBackground(document);
      together.ifPresent(note -> err.println("holdfast: " + note));
      err.flush();
      return exitCode;
    }
    together.ifPresent(note -> err.println("holdfast: " + note));
    err.flush();
    return isSupervised(settings)
        ? superviseInForeground(document, joined)
        : context.daemonProcess(document, null).serveInForeground(context.out(spec), joined::close);
  }

  /** Says what all mounts of this machine promise, where there are others. */
  private Optional<String> together(Settings settings) {
    try {
      Doctor.Machine machine = ExaminedMachine.of(context.host());
      Promises others = Promises.ask(machine.finder().mounts());
      if (others.mounts().isEmpty() && others.unknown() == 0) {
        return Optional.empty();
      }
      Promises all =
          others.with(settings.get(SettingTable.NAME), settings.get(SettingTable.CAPACITY));
      return Optional.of(all.advice(machine.memory()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }

  private GivenSettings given() {
    List<Given> arguments = new ArrayList<>();
    if (source != null) {
      arguments.add(Given.argument(SettingTable.SOURCE, source));
    }
    if (mountpoint != null) {
      arguments.add(Given.argument(SettingTable.MOUNTPOINT, mountpoint));
    }
    GivenSettings words = MountOptions.given(context.parsed(spec));
    return new ConfigLookup(context.host()).complete(words.orElse(GivenSettings.of(arguments)));
  }

  private static boolean isSupervised(Settings settings) {
    return settings.get(SettingTable.BINDING) == BindingChoice.KERNEL;
  }

  private int startInBackground(SettingsDocument document) throws FsException {
    Settings settings = document.settings();
    List<String> command = isSupervised(settings) ? supervisor(document) : daemon(document);
    BackgroundStart start =
        new BackgroundStart(
            command,
            document.log(),
            START_DEADLINE,
            () ->
                BackgroundStart.cleanUp(
                    context.host(),
                    settings.get(SettingTable.NAME),
                    settings.get(SettingTable.MOUNTPOINT)));
    List<String> plan = start.run(context);
    PrintWriter out = context.out(spec);
    plan.forEach(line -> out.println(Visible.of(line)));
    out.flush();
    return 0;
  }

  /** Writes what a daemon is to read; returns the words that start the daemon. */
  private List<String> daemon(SettingsDocument document) throws FsException {
    List<String> program = context.ownCommand();
    DaemonState state = DaemonState.create(context.host().control(), document);
    return state.daemonWords(program, document);
  }

  /** Writes what a supervisor and its daemons are to read; returns the supervisor's words. */
  private List<String> supervisor(SettingsDocument document) throws FsException {
    List<String> words = new ArrayList<>(context.supervisorCommand());
    List<String> program = context.ownCommand();
    DaemonState state = DaemonState.create(context.host().control(), document);
    state.writeCommand(program, document);
    words.add(state.directory().toString());
    return words;
  }

  /** This process becomes the supervisor, so that it is the one that a service manager started. */
  private int superviseInForeground(SettingsDocument document, BudgetJoin.Joined joined)
      throws FsException {
    List<String> words = supervisor(document);
    // the state directory tells the capacity from now on
    joined.close();
    int errno = context.become(words);
    throw CliException.couldNot("the supervisor cannot be started: " + Linux.describe(errno));
  }
}
