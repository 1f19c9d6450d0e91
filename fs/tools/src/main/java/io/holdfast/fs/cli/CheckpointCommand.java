package io.holdfast.fs.cli;

import io.holdfast.fs.FsException;
import io.holdfast.fs.checkpoint.CheckpointFilesystem.FsyncPolicy;
import io.holdfast.fs.checkpoint.daemon.CheckpointSettings;
import io.holdfast.fs.checkpoint.daemon.StorePlace;
import io.holdfast.fs.client.DaemonClient;
import io.holdfast.fs.client.PersistWait;
import io.holdfast.fs.client.Targets;
import io.holdfast.fs.control.RunningDaemon;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.host.UserDirectories;
import io.holdfast.fs.settings.MountNames;
import io.holdfast.fs.settings.SettingTable;
import io.holdfast.fs.start.BackgroundStart;
import io.holdfast.fs.start.DaemonState;
import io.holdfast.fs.start.Preflight;
import io.holdfast.fs.units.Human;
import io.holdfast.fs.units.Sizes;
import io.holdfast.fs.units.Visible;
import io.holdfast.peer.NodeAddress;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code holdfast checkpoint}: mounts a directory for checkpoints, waits until they are durable,
 * and tells how often to save.
 */
@Command(
    name = CheckpointCommand.NAME,
    sortOptions = false,
    sortSynopsis = false,
    customSynopsis = {
      "holdfast checkpoint [OPTIONS] STORE MOUNTPOINT",
      "       holdfast checkpoint wait [--timeout TIME] [PATH]",
      "       holdfast checkpoint advice [--iteration TIME] [--overhead P%%] [MOUNTPOINT|NAME]"
    },
    header = "Mount a directory for checkpoints that do not stop training.",
    description = {
      "",
      "What programs write to MOUNTPOINT is in the front at once, a directory of this node, and"
          + " goes to STORE in the background: a directory on NFS, Lustre or any other file system, or s3://BUCKET/PREFIX, with the credentials that AWS tools find."
          + " STORE always shows a prefix of what the programs did, in order, whatever crashes. The"
          + " command returns when the mount answers; needs root. 'holdfast umount' waits until"
          + " STORE has everything.",
      "",
      "'wait' returns 0 when STORE has PATH and everything below it durably (by default all of the"
          + " only mount), 1 if STORE fails, with the path and the cause, or if there is no PATH,"
          + " and 124 after --timeout. 'advice' tells how often to save, by CheckFreq's rule. Both need root."
    },
    parameterListHeading = "%nArguments:%n",
    optionListHeading = "%nOptions:%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  holdfast checkpoint --front /nvme/front /nfs/run7 /ckpt",
      "  holdfast checkpoint --s3-region eu-west-1 s3://checkpoints/run7 /ckpt",
      "  holdfast checkpoint wait --timeout 10m /ckpt/step-1000",
      "  holdfast checkpoint advice --iteration 0.25s /ckpt",
      "  holdfast umount /ckpt"
    })
final class CheckpointCommand implements Callable<Integer> {
  static final String NAME = "checkpoint";

  private static final Duration START_DEADLINE = Duration.ofHours(24);
  private static final long LEAST_CAPACITY = 64L << 20;

  private final CliContext context;

  @Spec private @Nullable CommandSpec spec;

  @Parameters(
      arity = "1..*",
      paramLabel = "STORE MOUNTPOINT",
      description = {
        "The directory or s3://BUCKET/PREFIX that keeps checkpoints, and the directory where programs see them. Or 'wait'"
            + " or 'advice' and its argument."
      })
  private List<String> words = new ArrayList<>();

  @Option(
      names = "--front",
      paramLabel = "DIR",
      description =
          "Where checkpoints are first: on a local disk, or in memory (/dev/shm/...), where a crash"
              + " of the node loses what STORE does not have yet. Default:"
              + " /var/lib/holdfast/checkpoint/NAME.")
  private @Nullable String front;

  @Option(
      names = "--front-capacity",
      paramLabel = "SIZE|P%",
      description =
          "The most that the front takes: 200G, or a share of its file system. When it is full,"
              + " writers wait. Default: 50%%.")
  private @Nullable String capacity;

  @Option(
      names = "--persist-rate",
      paramLabel = "SIZE",
      description = "The most that STORE gets a second: 500M. Default: no bound.")
  private @Nullable String persistRate;

  @Option(
      names = "--fsync",
      paramLabel = "store|node",
      description =
          "When a program's fsync returns: when STORE has the file durably, or this node's front"
              + " does. Default: store.")
  private @Nullable String fsync;

  @Option(
      names = "--keep",
      paramLabel = "N",
      description =
          "How many checkpoints (entries of MOUNTPOINT) stay in the front once STORE has them."
              + " Default: as many as fit.",
      converter = OptionValues.Count.class)
  private @Nullable Long keep;

  @Option(
      names = "--metrics",
      paramLabel = "[HOST:]PORT",
      description =
          "Answer scrapes of Prometheus at http://HOST:PORT/metrics. Without HOST, those of this"
              + " machine only. Default: none.")
  private @Nullable String metrics;

  @Option(
      names = "--name",
      paramLabel = "NAME",
      description = "The mount's name. Default: made from MOUNTPOINT.")
  private @Nullable String name;

  @Mixin private final S3Options s3 = new S3Options();

  @Option(
      names = "--timeout",
      paramLabel = "TIME",
      description = "How long 'wait' waits: 90s, 10m. Default: without end.",
      converter = OptionValues.Interval.class)
  private @Nullable Duration timeout;

  @Option(
      names = "--iteration",
      paramLabel = "TIME",
      description = "For 'advice': how long an iteration of the job takes, such as 250ms.",
      converter = OptionValues.Iteration.class)
  private @Nullable Duration iteration;

  @Option(
      names = "--overhead",
      paramLabel = "P%",
      description =
          "For 'advice': how much of the time saving may take. Default: what was given last, or"
              + " 3.5%%.")
  private @Nullable String overhead;

  @Mixin private final CommandOutput output = new CommandOutput();

  CheckpointCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    context.refuseRepeatedOptions(spec);
    String first = words.get(0);
    List<String> rest = words.subList(1, words.size());
    boolean waits = first.equals("wait");
    boolean advises = first.equals("advice");
    boolean mounts = !waits && !advises;
    refuse(!waits && timeout != null, "--timeout is for 'holdfast checkpoint wait'");
    refuse(
        !advises && (iteration != null || overhead != null),
        "--iteration and --overhead are for 'holdfast checkpoint advice'");
    refuse(!advises && output.isJson(), "--json is for 'holdfast checkpoint advice'");
    refuse(
        !mounts
            && (s3.isGiven()
                || Stream.of(front, capacity, persistRate, fsync, keep, metrics, name)
                    .anyMatch(v -> v != null)),
        "'holdfast checkpoint " + first + "' has no options of a mount: leave them out");
    refuse(rest.size() > 1, "too many arguments: '" + words.get(words.size() - 1) + "'");
    if (waits) {
      return await(rest);
    }
    if (advises) {
      return advise(rest);
    }
    refuse(rest.isEmpty(), "MOUNTPOINT is missing: give STORE and MOUNTPOINT");
    return mount(first, rest.get(0));
  }

  private static void refuse(boolean wrong, String message) {
    if (wrong) {
      throw CliException.usage(message);
    }
  }

  private int mount(String storeWord, String mountpointWord) throws IOException {
    StorePlace place = place(storeWord);
    Preflight preflight = new Preflight(context.host());
    Preflight.Checkpoint paths =
        preflight.checkCheckpoint(place, Path.of(mountpointWord).toAbsolutePath().normalize());
    String mountName = name == null ? MountNames.of(paths.mountpoint()) : name;
    refuse(
        !MountNames.isName(mountName),
        "--name '%s' is no name: use letters, digits, '.', '-' and '_'".formatted(mountName));
    preflight.checkName(mountName);
    Path frontPath = front(mountName);
    preflight.checkFront(frontPath, paths.store(), paths.mountpoint());
    CheckpointSettings settings =
        new CheckpointSettings(
            mountName,
            paths.store(),
            paths.mountpoint(),
            frontPath,
            capacity(frontPath),
            rate(),
            fsyncPolicy(),
            keep == null ? 0 : Math.toIntExact(Math.min(keep, Integer.MAX_VALUE)),
            metricsAddress());
    paths.notes().forEach(this::note);
    createFront(frontPath);
    startInBackground(settings);
    return 0;
  }

  private StorePlace place(String storeWord) {
    if (!StorePlace.isBucket(storeWord)) {
      refuse(s3.isGiven(), "--s3-endpoint and its like are for a store s3://BUCKET/PREFIX");
      return new StorePlace.Directory(Path.of(storeWord).toAbsolutePath().normalize());
    }
    try {
      return s3.place(storeWord);
    } catch (IllegalArgumentException e) {
      throw CliException.usage(String.valueOf(e.getMessage()), e);
    }
  }

  /** Returns the front without symlinks; it need not be there yet. */
  private Path front(String mountName) {
    Path path =
        front == null
            ? UserDirectories.state(0, context.host().environment())
                .resolve(NAME)
                .resolve(mountName)
            : Path.of(front).toAbsolutePath().normalize();
    try {
      Path there = existing(path);
      return there.toRealPath().resolve(there.relativize(path));
    } catch (IOException e) {
      throw unusableFront(path, e);
    }
  }

  /** Creates the front once nothing is left to be refused. */
  private static void createFront(Path frontPath) {
    try {
      Files.createDirectories(frontPath);
    } catch (IOException e) {
      throw unusableFront(frontPath, e);
    }
  }

  private static CliException unusableFront(Path path, IOException failure) {
    return CliException.couldNot(
        "the front '%s' cannot be created (%s): choose another with --front"
            .formatted(path, failure.getMessage()),
        failure);
  }

  /** Returns a directory, or the nearest around it that there is. */
  private static Path existing(Path path) {
    Path parent = path.getParent();
    return parent == null || Files.exists(path) ? path : existing(parent);
  }

  private long capacity(Path frontPath) {
    // Files.getFileStore looks for the mount, which is not in the table of a chroot
    long whole = existing(frontPath).toFile().getTotalSpace();
    long bytes = size("--front-capacity", capacity == null ? "50%" : capacity, whole);
    refuse(
        bytes < LEAST_CAPACITY,
        "--front-capacity %s is too small: give at least %s"
            .formatted(Human.bytes(bytes), Human.bytes(LEAST_CAPACITY)));
    return bytes;
  }

  private double rate() {
    if (persistRate == null) {
      return 0;
    }
    String text =
        persistRate.endsWith("/s")
            ? persistRate.substring(0, persistRate.length() - 2)
            : persistRate;
    long rate = size("--persist-rate", text, 0);
    refuse(rate <= 0, "--persist-rate must be greater than 0: leave it out for no bound");
    return rate;
  }

  private @Nullable InetSocketAddress metricsAddress() {
    if (metrics == null) {
      return null;
    }
    try {
      NodeAddress address = SettingTable.listensAt(metrics, "0.0.0.0:9464 for everybody");
      return InetSocketAddress.createUnresolved(address.host(), address.port());
    } catch (IllegalArgumentException e) {
      throw CliException.usage("--metrics: " + e.getMessage(), e);
    }
  }

  private static long size(String option, String text, long whole) {
    try {
      return whole == 0 ? Sizes.parse(text) : Sizes.parse(text, whole);
    } catch (IllegalArgumentException e) {
      throw CliException.usage(option + ": " + e.getMessage(), e);
    }
  }

  private FsyncPolicy fsyncPolicy() {
    if (fsync == null || fsync.equals("store")) {
      return FsyncPolicy.STORE;
    }
    refuse(!fsync.equals("node"), "--fsync '" + fsync + "': write store or node");
    return FsyncPolicy.NODE;
  }

  private void startInBackground(CheckpointSettings settings) throws FsException {
    Path log =
        UserDirectories.logs(0, context.host().environment()).resolve(settings.name() + ".log");
    DaemonState state = DaemonState.create(context.host().control(), settings.name());
    List<String> daemon = new ArrayList<>(context.ownCommand());
    daemon.addAll(CheckpointServeCommand.words(state.directory(), settings));
    state.writeCommand(daemon, settings.mountpoint(), log);
    List<String> command = new ArrayList<>(context.supervisorCommand());
    command.add(state.directory().toString());
    BackgroundStart start =
        new BackgroundStart(
            command,
            log,
            START_DEADLINE,
            () -> BackgroundStart.cleanUp(context.host(), settings.name(), settings.mountpoint()));
    List<String> plan = start.run(context);
    PrintWriter out = context.out(spec);
    plan.forEach(line -> out.println(Visible.of(line)));
    out.flush();
  }

  private int await(List<String> rest) {
    Targets targets = context.targets();
    Targets.Inside wanted =
        rest.isEmpty()
            ? new Targets.Inside(targets.onlyCheckpoint(), List.of(""))
            : targets.checkpointAround(Path.of(rest.get(0)).toAbsolutePath().normalize());
    return new PersistWait(context, wanted.daemon(), timeout)
        .run(wanted.paths().get(0), line -> {});
  }

  private int advise(List<String> rest) throws IOException {
    Targets targets = context.targets();
    RunningDaemon daemon =
        rest.isEmpty() ? targets.onlyCheckpoint() : targets.getCheckpoint(rest.get(0));
    Map<String, Object> request = new LinkedHashMap<>(Map.of("advice", true));
    if (iteration != null) {
      request.put("iteration_seconds", iteration.toNanos() / 1e9);
    }
    if (overhead != null) {
      request.put("bound", share(overhead));
    }
    Map<String, Object> advice = new DaemonClient(daemon, PersistWait.DEADLINE).task(request);
    output.show(advice, Stream.of(sentence(advice)));
    return 0;
  }

  private static double share(String text) {
    String number = text.endsWith("%") ? text.substring(0, text.length() - 1) : text;
    try {
      double share = Double.parseDouble(number) / 100;
      refuse(
          !(share > 0 && share < 1), "--overhead '" + text + "' must be above 0% and below 100%");
      return share;
    } catch (NumberFormatException e) {
      throw CliException.usage("--overhead '" + text + "' is no share: write 3.5%", e);
    }
  }

  private static String sentence(Map<String, Object> advice) {
    double interval = number(advice, "interval_seconds");
    if (interval == 0) {
      return "no save has been measured yet: save once, and ask again";
    }
    long iterations = (long) number(advice, "interval_iterations");
    String what =
        "a save takes %.1f s until the store has it, blocks its program for %.2f s, and delays it by %.2f s more if that keeps all processors busy"
            .formatted(
                number(advice, "persist_seconds"),
                number(advice, "blocked_seconds"),
                number(advice, "work_seconds"));
    String when =
        iterations == 0
            ? "save every %.1f s or less often (with --iteration, the number of iterations is told)"
                .formatted(interval)
            : "save every %d iterations (%.1f s) or less often".formatted(iterations, interval);
    return "%s: %s: overhead %.2f %% of at most %.2f %%"
        .formatted(what, when, 100 * number(advice, "overhead"), 100 * number(advice, "bound"));
  }

  private static double number(Map<String, Object> map, String key) {
    return map.get(key) instanceof Number number ? number.doubleValue() : 0;
  }

  private void note(String line) {
    PrintWriter err = context.err(spec);
    err.println("holdfast: " + Visible.of(line));
    err.flush();
  }
}
