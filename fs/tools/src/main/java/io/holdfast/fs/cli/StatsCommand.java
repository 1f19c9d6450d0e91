package io.holdfast.fs.cli;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.client.DaemonClient;
import io.holdfast.fs.client.Targets;
import io.holdfast.fs.control.FiguresJson;
import io.holdfast.fs.control.JobsText;
import io.holdfast.fs.control.RunningDaemon;
import io.holdfast.fs.control.StatsText;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.host.Colors;
import io.holdfast.fs.units.Human;
import io.holdfast.fs.units.Level;
import io.holdfast.fs.units.Visible;
import io.holdfast.fs.watch.Change;
import io.holdfast.fs.watch.ChangeReport;
import io.holdfast.fs.watch.WatchRows;
import io.holdfast.fs.watch.live.DaemonLook;
import io.holdfast.fs.watch.live.WatchLoop;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code holdfast stats}: shows a mount's figures. Asks the daemon's socket and never the mount.
 */
@Command(
    name = "stats",
    sortOptions = false,
    customSynopsis = {
      "holdfast stats [--json] [--jobs] [MOUNTPOINT|NAME]",
      "       holdfast stats --watch [OPTIONS] [MOUNTPOINT|NAME]"
    },
    header = "Show what a mount has cached, fetched and served.",
    description = {
      "",
      "Answers also while the source is gone. Without MOUNTPOINT or NAME it shows the only mount."
          + " The same figures are in MOUNTPOINT/.holdfast/stats and stats.json.",
      "",
      "With --watch: the share of items that needed no fetch, opens, fetches and bytes a second,"
          + " 'stall %%' (how much of the time the average active process was blocked on a fetch),"
          + " 'stalled' (how many readers were, on average), what is resident, and errors. The"
          + " first row is about all the time since the mount."
    },
    parameterListHeading = "%nArguments:%n",
    optionListHeading = "%nOptions:%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  holdfast stats",
      "  holdfast stats /data/imagenet --watch",
      "  holdfast stats --watch --interval 10s --count 6 --json | jq .rates.hit_ratio",
      "  holdfast stats data-imagenet --jobs"
    })
final class StatsCommand implements Callable<Integer> {
  private static final int ROWS_PER_HEADING = 20;

  private final CliContext context;

  @Mixin private final MountArgument mount = new MountArgument();

  @Mixin private final CommandOutput output = new CommandOutput();

  @Option(
      names = "--jobs",
      description = "The jobs alone, their epochs, what each waits for, and all processes.")
  private boolean jobs;

  @Option(
      names = "--watch",
      description =
          "A row for each interval, until Ctrl-C; with --json an object, with 'rates' besides.")
  private boolean watch;

  @Option(
      names = "--interval",
      paramLabel = "TIME",
      description = "From one row to the next. Default: 1s.",
      converter = OptionValues.Interval.class)
  private @Nullable Duration interval;

  @Option(
      names = "--count",
      paramLabel = "N",
      description = "End after that many rows.",
      converter = OptionValues.Count.class)
  private @Nullable Long count;

  StatsCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    Targets targets = context.targets();
    RunningDaemon daemon = mount.any(targets);
    if (watch && jobs) {
      throw CliException.usage("--watch and --jobs: choose one of them");
    }
    if (targets.isCheckpoint(daemon)) {
      showCheckpoint(daemon);
    } else if (watch) {
      watch(daemon);
    } else if (interval != null || count != null) {
      throw CliException.usage("--interval and --count are for --watch: give it too");
    } else {
      show(daemon);
    }
    return 0;
  }

  private void showCheckpoint(RunningDaemon daemon) throws IOException {
    if (watch || jobs || interval != null || count != null) {
      throw CliException.usage(
          "'%s' is a checkpoint mount, which has only --json".formatted(daemon.name()));
    }
    RunningDaemon answering = context.targets().answering(daemon);
    Map<String, Object> stats = new DaemonClient(answering, context.answerDeadline()).stats();
    output.show(stats, checkpointLines(stats));
  }

  private void show(RunningDaemon daemon) throws IOException {
    Map<String, Object> stats = new DaemonClient(daemon, context.answerDeadline()).stats();
    if (output.isJson()) {
      if (jobs) {
        stats.keySet().retainAll(Set.of("jobs", "processes"));
      }
      output.json(stats);
    } else if (jobs) {
      output.text(JobsText.of(FiguresJson.figures(stats)));
    } else {
      output.text(context.colors().headings(StatsText.of(FiguresJson.figures(stats))));
    }
  }

  private void watch(RunningDaemon daemon) throws IOException {
    DaemonLook look = new DaemonLook(daemon, context.answerDeadline(), false);
    WatchLoop.Show show = output.isJson() ? (change, round) -> line(change) : this::row;
    Duration every = interval == null ? Duration.ofSeconds(1) : interval;
    new WatchLoop(context, look, every, count == null ? 0 : count)
        .run(output.out(), output.err(), show);
  }

  private static String line(Change change) throws IOException {
    Map<String, Object> all = new LinkedHashMap<>(change.stats());
    all.put("rates", ChangeReport.rates(change));
    return Visible.json(JSON.std.with(JSON.Feature.WRITE_NULL_PROPERTIES).asString(all)) + "\n";
  }

  private String row(Change change, long round) {
    Colors colors = context.colors();
    String heading = round % ROWS_PER_HEADING == 0 ? colors.firstLine(WatchRows.heading()) : "";
    return heading + Colors.lines(WatchRows.row(change), row -> painted(colors, change, row));
  }

  private static String painted(Colors colors, Change change, String row) {
    return change.level() == Level.GOOD ? row : colors.of(change.level(), row);
  }

  /** Returns the figures of a checkpoint mount as lines. */
  private static Stream<String> checkpointLines(Map<String, Object> stats) {
    Map<?, ?> figures = stats.get("checkpoint") instanceof Map<?, ?> map ? map : Map.of();
    Map<?, ?> advice = figures.get("advice") instanceof Map<?, ?> map ? map : Map.of();
    String lastError = String.valueOf(figures.get("last_error"));
    return Stream.of(
        "%s: checkpoints of %s".formatted(stats.get("mountpoint"), stats.get("store")),
        "state        " + figures.get("state"),
        "front        %s of %s in %s"
            .formatted(
                bytes(figures, "front_bytes"),
                bytes(figures, "front_capacity_bytes"),
                stats.get("front")),
        "pending      %s in %s, the oldest %.1f s old"
            .formatted(
                bytes(figures, "pending_bytes"),
                Human.count((long) number(figures, "pending_operations"), "operation"),
                number(figures, "oldest_pending_seconds")),
        "persisted    %s, last at %s/s"
            .formatted(
                bytes(figures, "persisted_bytes"), bytes(figures, "persist_bytes_per_second")),
        "writers      %.0f waiting for room".formatted(number(figures, "waiting_writers")),
        "errors       %.0f%s"
            .formatted(
                number(figures, "errors"), lastError.isEmpty() ? "" : ", last: " + lastError),
        number(advice, "interval_seconds") == 0
            ? "advice       none yet: nothing was saved"
            : "advice       save every %.1f s or less often: overhead %.2f %%"
                .formatted(number(advice, "interval_seconds"), 100 * number(advice, "overhead")));
  }

  private static String bytes(Map<?, ?> figures, String key) {
    return Human.bytes((long) number(figures, key));
  }

  private static double number(Map<?, ?> figures, String key) {
    return figures.get(key) instanceof Number number ? number.doubleValue() : 0;
  }
}
