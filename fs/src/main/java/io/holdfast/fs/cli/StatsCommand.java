package io.holdfast.fs.cli;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.FsException;
import io.holdfast.fs.control.ControlClient;
import io.holdfast.fs.control.RunningDaemon;
import io.holdfast.fs.control.StatsText;
import io.holdfast.fs.control.StatsWatch;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code holdfast stats}: shows a mount's figures. Asks the daemon's socket and never the mount.
 */
@Command(
    name = "stats",
    sortOptions = false,
    customSynopsis = "holdfast stats [--json] [--watch] [MOUNTPOINT|NAME]",
    header = "Show what a mount has cached, fetched and served.",
    description = {
      "",
      "Answers also while the source is gone. Without MOUNTPOINT or NAME it shows the only mount."
          + " The same figures are in MOUNTPOINT/.holdfast/stats and stats.json."
    },
    parameterListHeading = "%nArguments:%n",
    optionListHeading = "%nOptions:%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  holdfast stats",
      "  holdfast stats /data/imagenet --watch",
      "  holdfast stats data-imagenet --json | jq .cache.resident_bytes"
    })
final class StatsCommand implements Callable<Integer> {
  private static final Duration DEADLINE = Duration.ofSeconds(5);
  private static final long WATCH_MILLIS = 1000;
  private static final int ROWS_PER_HEADING = 20;

  private final CliContext context;

  @Spec private @Nullable CommandSpec spec;

  @Parameters(
      arity = "0..1",
      paramLabel = "MOUNTPOINT|NAME",
      description = "Which mount. Default: the only one.")
  private @Nullable String target;

  @Option(names = "--json", description = "As one JSON object; with --watch one a line and second.")
  private boolean json;

  @Option(names = "--watch", description = "A row every second, until Ctrl-C.")
  private boolean watch;

  StatsCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    Targets targets = new Targets(context.host());
    RunningDaemon daemon = target == null ? targets.only() : targets.get(target);
    ControlClient client = new ControlClient(daemon.socket(), DEADLINE);
    if (watch) {
      watch(client, daemon);
    } else {
      show(client, daemon);
    }
    return 0;
  }

  private void show(ControlClient client, RunningDaemon daemon) throws IOException {
    Map<String, Object> stats = ask(client, daemon);
    PrintWriter out = context.out(spec);
    if (json) {
      out.println(JSON.std.with(JSON.Feature.PRETTY_PRINT_OUTPUT).asString(stats));
    } else {
      out.print(StatsText.of(stats));
    }
    out.flush();
  }

  private void watch(ControlClient client, RunningDaemon daemon) throws IOException {
    PrintWriter out = context.out(spec);
    StatsWatch table = new StatsWatch();
    for (long row = 0; !out.checkError(); row++) {
      Map<String, Object> stats = ask(client, daemon);
      if (json) {
        out.println(JSON.std.asString(stats));
      } else {
        out.print(row % ROWS_PER_HEADING == 0 ? table.heading() : "");
        out.print(table.row(stats, System.nanoTime()));
      }
      out.flush();
      if (!context.pause(WATCH_MILLIS)) {
        return;
      }
    }
  }

  private static Map<String, Object> ask(ControlClient client, RunningDaemon daemon)
      throws FsException {
    try {
      return client.stats();
    } catch (FsException e) {
      throw DaemonTrouble.explain(e, daemon);
    }
  }
}
