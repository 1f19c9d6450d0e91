package io.holdfast.fs.cli;

import io.holdfast.fs.FsException;
import io.holdfast.fs.control.ControlClient;
import io.holdfast.fs.control.RunningDaemon;
import io.holdfast.fs.daemon.Settings;
import io.holdfast.fs.daemon.Source;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code holdfast restart}: puts another daemon in the place of a mount's one. */
@Command(
    name = "restart",
    sortOptions = false,
    customSynopsis = "holdfast restart [OPTIONS] MOUNTPOINT|NAME",
    header = "Put a new daemon under a mount that goes on.",
    description = {
      "",
      "The daemon ends and another one takes its place: of the version that this command is of, and"
          + " with the options that are given here changed. Who reads from the mount waits for a"
          + " second and notices nothing; what is in memory stays there. Where the new daemon does"
          + " not start, the one before comes back."
    },
    parameterListHeading = "%nArguments:%n",
    optionListHeading = "%nOptions:%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  holdfast restart /data/imagenet                  # after an update",
      "  holdfast restart --capacity 600G /data/imagenet"
    })
final class RestartCommand implements Callable<Integer> {
  private static final Duration ASK_DEADLINE = Duration.ofSeconds(5);
  private static final Duration START_DEADLINE = Duration.ofSeconds(30);
  private static final long POLL_MILLIS = 20;

  /** What the kernel was told at the mount, or what the names of items depend on. */
  private static final Set<Settings.Key> FIXED =
      EnumSet.of(
          Settings.Key.NAME,
          Settings.Key.ITEM_SIZE,
          Settings.Key.XATTR,
          Settings.Key.COUNT_OPENS,
          Settings.Key.BINDING,
          Settings.Key.ALLOW_OTHER,
          Settings.Key.FOREGROUND);

  private final CliContext context;

  @Spec private @Nullable CommandSpec spec;

  @Parameters(index = "0", paramLabel = "MOUNTPOINT|NAME", description = "Which mount.")
  private String target = "";

  @ArgGroup(validate = false, exclusive = false)
  private MountOptions changes = new MountOptions();

  RestartCommand(CliContext context) {
    this.context = context;
  }

  /** Reads words that {@link MountOptions#words()} made. */
  @Command
  private static final class Parsed {
    @ArgGroup(validate = false, exclusive = false)
    private MountOptions options = new MountOptions();
  }

  @Override
  public Integer call() throws FsException {
    context.refuseRepeatedOptions(spec);
    refuseFixed();
    RunningDaemon daemon = new Targets(context.host()).get(target);
    Path state = context.host().control().stateDirectory(daemon.name());
    if (!Files.exists(state.resolve("command"))) {
      throw CliException.couldNot(
          "'%s' has no supervisor that would start another daemon: only a mount with --binding kernel has: unmount it and mount again"
              .formatted(daemon.name()));
    }
    replace(daemon, state);
    PrintWriter out = context.out(spec);
    out.println("'" + daemon.name() + "' has a new daemon");
    out.flush();
    return 0;
  }

  private void refuseFixed() {
    for (Settings.Key key : FIXED) {
      String flag = "--" + key.text();
      boolean given =
          changes.words().stream().anyMatch(word -> keyOf(word).equals(flag))
              || (key == Settings.Key.FOREGROUND && changes.service.foreground)
              || (key == Settings.Key.ALLOW_OTHER && changes.mount.allowOther != null);
      if (given) {
        throw CliException.usage(
            flag + " cannot change while the mount is there: unmount it and mount again");
      }
    }
  }

  private void replace(RunningDaemon daemon, Path state) throws FsException {
    Path command = state.resolve("command");
    try {
      String before = Files.readString(command);
      List<String> words = words(daemon);
      List<String> options = merged(words);
      Source origin = Source.parse(words.get(words.size() - 2));
      Settings settings = parse(options).settings(origin, daemon.mountpoint(), context.host());
      List<String> start = new ArrayList<>(context.ownCommand());
      start.addAll(List.of("mount", words.get(0)));
      start.addAll(options);
      start.addAll(List.of("--", origin.toString(), daemon.mountpoint().toString()));
      Files.copy(command, state.resolve("previous"), StandardCopyOption.REPLACE_EXISTING);
      Path log =
          words.get(0).equals("--report")
              ? LogPath.of(settings, context.host().uid(), context.host().environment())
              : settings.logFile().orElse(Path.of("/dev/stderr"));
      Supervisor.writeCommand(state, settings, start, log);
      new ControlClient(daemon.socket(), ASK_DEADLINE).restart();
      awaitNext(daemon);
      if (Files.readString(command).equals(before)
          && !before.equals(Supervisor.commandText(settings, start, log))) {
        throw CliException.couldNot(
            "the new daemon does not start; the one before is back: see " + log);
      }
    } catch (IOException e) {
      if (e instanceof FsException failure) {
        throw DaemonTrouble.explain(failure, daemon);
      }
      throw CliException.couldNot("'" + state + "' cannot be used: " + e.getMessage(), e);
    }
  }

  /** Returns the words of the daemon's command behind "mount", without its notes. */
  private List<String> words(RunningDaemon daemon) throws IOException {
    List<String> all = context.commandOf(daemon.pid());
    int mount = all.indexOf("mount");
    if (mount < 0) {
      throw CliException.couldNot("process " + daemon.pid() + " is no daemon of Holdfast");
    }
    return all.subList(mount + 1, all.size()).stream()
        .filter(word -> !word.startsWith("--note="))
        .toList();
  }

  /** What is given here replaces what was given for the same option. */
  private List<String> merged(List<String> words) {
    List<String> fresh = changes.words();
    Set<String> replaced =
        fresh.stream().map(RestartCommand::keyOf).collect(java.util.stream.Collectors.toSet());
    List<String> merged = new ArrayList<>();
    // the first word says how the daemon runs, and the last three are "--" and the two paths
    for (String word : words.subList(1, words.size() - 3)) {
      if (!replaced.contains(keyOf(word))) {
        merged.add(word);
      }
    }
    merged.addAll(fresh);
    return merged;
  }

  private static String keyOf(String word) {
    int equals = word.indexOf('=');
    return equals < 0 ? word : word.substring(0, equals);
  }

  private static MountOptions parse(List<String> words) {
    Parsed parsed = new Parsed();
    new CommandLine(parsed).parseArgs(words.toArray(String[]::new));
    return parsed.options;
  }

  private void awaitNext(RunningDaemon before) {
    long end = System.nanoTime() + START_DEADLINE.toNanos();
    while (!isThere(before)) {
      if (System.nanoTime() > end || !context.pause(POLL_MILLIS)) {
        throw CliException.couldNot(
            "no new daemon of '%s' answers after %d s: look into its log"
                .formatted(before.name(), START_DEADLINE.toSeconds()));
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
