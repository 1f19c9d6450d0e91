package io.holdfast.fs.cli;

import io.holdfast.fs.FsException;
import io.holdfast.fs.OutOfMemory;
import io.holdfast.fs.daemon.Supervision;
import io.holdfast.fs.doctor.Doctor;
import io.holdfast.fs.doctor.Promises;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.MountTable;
import io.holdfast.fs.linux.NamedThreads;
import io.holdfast.fs.linux.TrustedPlace;
import io.holdfast.fs.settings.BindingChoice;
import io.holdfast.fs.settings.Given;
import io.holdfast.fs.settings.GivenSettings;
import io.holdfast.fs.settings.SettingTable;
import io.holdfast.fs.settings.Settings;
import io.holdfast.fs.units.Visible;
import java.io.IOException;
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
import picocli.CommandLine.Option;
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

  private static final Duration START_DEADLINE = Duration.ofSeconds(60);

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

  @Option(
      names = "--report",
      hidden = true,
      description = "Be the daemon of a start in the background.")
  private boolean report;

  @Option(names = "--note", hidden = true, description = "A line for the daemon's log.")
  private List<String> notes = new ArrayList<>();

  @Option(
      names = DaemonWords.FROM,
      hidden = true,
      description = "Where a setting's value came from.")
  private List<String> from = new ArrayList<>();

  MountCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws FsException {
    context.refuseRepeatedOptions(spec);
    MountRequest request = new MountRequest(context.host(), given());
    // Wrong values come to light before anything is touched.
    Settings wanted = request.settings();
    if (report) {
      return serveInBackground(wanted);
    }
    if (isSupervised()) {
      return serveInForeground(wanted, notes);
    }
    Preflight preflight = new Preflight(context.host());
    Preflight.Result paths = preflight.checkPaths(request.source(), request.mountpoint());
    List<String> lines = new ArrayList<>(paths.notes());
    lines.addAll(ConfigLookup.doubtful(context.host().environment()));
    PrintWriter err = context.err(spec);
    lines.forEach(note -> err.println("holdfast: " + Visible.of(note)));
    err.flush();
    Settings settings = request.settings(paths.origin(), paths.mountpoint());
    preflight.checkMachine(settings);
    // not for the daemon's log: it would say the same at each of its starts, true or not by then
    Optional<String> together = together(settings).map(Visible::of);
    DaemonWords daemon = new DaemonWords(context.ownCommand(), request.given(), lines);
    if (!settings.get(SettingTable.FOREGROUND)) {
      int exitCode = startInBackground(settings, daemon);
      together.ifPresent(note -> err.println("holdfast: " + note));
      err.flush();
      return exitCode;
    }
    together.ifPresent(note -> err.println("holdfast: " + note));
    err.flush();
    return settings.get(SettingTable.BINDING) == BindingChoice.KERNEL
        ? superviseInForeground(settings, daemon)
        : serveInForeground(settings, lines);
  }

  /** Says what all mounts of this machine promise, where there are others. */
  private Optional<String> together(Settings settings) {
    try {
      Doctor.Machine machine = ExaminedMounts.machine(context.host());
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

  /** A daemon has been told everything, and asks neither the environment nor the file. */
  private GivenSettings given() {
    List<Given> arguments = new ArrayList<>();
    if (source != null) {
      arguments.add(Given.argument(SettingTable.SOURCE, source));
    }
    if (mountpoint != null) {
      arguments.add(Given.argument(SettingTable.MOUNTPOINT, mountpoint));
    }
    GivenSettings words =
        MountOptions.given(context.parsed(spec)).orElse(GivenSettings.of(arguments));
    return report || isSupervised()
        ? DaemonWords.withSources(words, from)
        : new ConfigLookup(context.host()).complete(words);
  }

  private boolean isSupervised() {
    return Supervision.of(context.host().environment()).isPresent();
  }

  private int startInBackground(Settings settings, DaemonWords words) throws FsException {
    List<String> daemon = words.of("--report", settings);
    List<String> command =
        settings.get(SettingTable.BINDING) == BindingChoice.KERNEL
            ? supervisor(settings, daemon, logFile(settings))
            : daemon;
    BackgroundStart start =
        new BackgroundStart(
            command, logFile(settings), START_DEADLINE, () -> cleanUpAfter(settings));
    Thread abort = NamedThreads.named("abort-start", start::abort);
    context.atExit(abort);
    List<String> plan = start.run();
    context.forgetAtExit(abort);
    PrintWriter out = context.out(spec);
    plan.forEach(line -> out.println(Visible.of(line)));
    out.flush();
    return 0;
  }

  private List<String> supervisor(Settings settings, List<String> daemon, Path log)
      throws FsException {
    return Supervisor.prepare(
        context.supervisorCommand(), context.host().control(), settings, daemon, log);
  }

  /** This process becomes the supervisor, so that it is the one that a service manager started. */
  private int superviseInForeground(Settings settings, DaemonWords words) throws FsException {
    Path log = settings.find(SettingTable.LOG_FILE).orElse(Path.of("/dev/stderr"));
    List<String> daemon = words.of("--foreground", settings);
    int errno = context.become(supervisor(settings, daemon, log));
    throw CliException.couldNot("the supervisor cannot be started: " + Linux.describe(errno));
  }

  private void cleanUpAfter(Settings settings) {
    Host host = context.host();
    Path at = settings.get(SettingTable.MOUNTPOINT);
    try {
      boolean dead =
          host.mounts().at(at).filter(MountTable.Mount::isHoldfast).isPresent()
              && host.probe(at) == PathProbe.State.NOT_CONNECTED;
      if (dead) {
        host.detach(at);
      }
      host.control().removeLeftovers(settings.get(SettingTable.NAME));
    } catch (IOException e) {
      throw CliException.couldNot(
          "the failed start left a mount at '%s': take it away with 'holdfast umount %s'"
              .formatted(at, at),
          e);
    }
  }

  private int serveInForeground(Settings settings, List<String> lines) throws FsException {
    if (settings.find(SettingTable.LOG_FILE).isPresent()) {
      logToFile(settings);
    } else {
      DaemonLog.toErrorOutput(
          settings.get(SettingTable.LOG_LEVEL),
          settings.get(SettingTable.LOG_FORMAT),
          Journal.isErrorOutput(context.host().environment()));
    }
    PrintWriter out = context.out(spec);
    context
        .serve()
        .run(
            settings,
            plan -> {
              plan.lines().map(Visible::of).forEach(out::println);
              out.flush();
            },
            lines);
    return 0;
  }

  private int serveInBackground(Settings settings) {
    PipeReport starter =
        new PipeReport(context.reportPipe(), context.detachment(), logFile(settings));
    try {
      logToFile(settings);
      context.serve().run(settings, starter, notes);
      return 0;
    } catch (CliException e) {
      starter.failed(e.exitCode(), String.valueOf(e.getMessage()));
    } catch (FsException e) {
      starter.failed(CliException.COULD_NOT, String.valueOf(e.getMessage()));
    } catch (OutOfMemoryError e) {
      starter.failed(CliException.COULD_NOT, OutOfMemory.describe(e));
    } catch (RuntimeException | Error e) {
      starter.failed(CliException.COULD_NOT, "internal error: " + e + ": see " + logFile(settings));
    }
    return CliException.COULD_NOT;
  }

  private void logToFile(Settings settings) {
    Path file = logFile(settings);
    try {
      DaemonLog.toFile(
          file, settings.get(SettingTable.LOG_LEVEL), settings.get(SettingTable.LOG_FORMAT));
    } catch (TrustedPlace.Untrusted e) {
      throw CliException.couldNot(e.getMessage(), e);
    } catch (IOException e) {
      throw CliException.couldNot(
          "the log file '" + file + "' cannot be written: choose another with --log-file", e);
    }
  }

  private Path logFile(Settings settings) {
    return LogPath.of(settings, context.host().uid(), context.host().environment());
  }
}
