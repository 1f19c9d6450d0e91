package io.holdfast.fs.cli;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.control.RunningDaemon;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.units.Visible;
import io.holdfast.fs.watch.Change;
import io.holdfast.fs.watch.ChangeReport;
import io.holdfast.fs.watch.TopScreen;
import io.holdfast.fs.watch.TopState;
import io.holdfast.fs.watch.live.DaemonLook;
import io.holdfast.fs.watch.live.TopTerminal;
import io.holdfast.fs.watch.live.WatchLoop;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code holdfast top}: shows what happens in a mount, live. Asks the daemon's socket only. */
@Command(
    name = "top",
    sortOptions = false,
    customSynopsis = {
      "holdfast top [--interval TIME] [MOUNTPOINT|NAME]",
      "       holdfast top --batch|--json [-n COUNT] [OPTIONS] [MOUNTPOINT|NAME]"
    },
    header = "Show live what jobs and processes read, and what they wait for.",
    description = {
      "",
      "The whole mount, then where files came from (memory, peers, origin), then jobs, processes or"
          + " peers. Rates are those of the last interval, totals those since the mount. STALL is"
          + " how much of the time the average active process was blocked on a fetch.",
      "",
      "Keys: q quits; s, o, m, b sort by seconds stalled, opens, misses, bytes fetched; p shows"
          + " jobs, processes, peers, orders or convoys; space pauses; + and - change the interval; h helps."
    },
    parameterListHeading = "%nArguments:%n",
    optionListHeading = "%nOptions:%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  holdfast top",
      "  holdfast top /data/imagenet --interval 5s",
      "  holdfast top --batch -n 10 >> top.log",
      "  holdfast top --json -n 1 | jq '.jobs[] | {job, stall: .rates.stall_share}'"
    })
final class TopCommand implements Callable<Integer> {
  private final CliContext context;

  @Spec private @Nullable CommandSpec spec;

  @Mixin private final MountArgument mount = new MountArgument();

  @Option(
      names = "--interval",
      paramLabel = "TIME",
      description = "From one look to the next. Default: 1s.",
      converter = OptionValues.Interval.class)
  private Duration interval = Duration.ofSeconds(1);

  @Option(
      names = "--batch",
      description = "Print screens as text, one after the other, with all tables.")
  private boolean batch;

  @Option(
      names = {"-n", "--count"},
      paramLabel = "COUNT",
      description = "With --batch or --json: end after so many. Default: go on until Ctrl-C.",
      converter = OptionValues.Count.class)
  private @Nullable Long count;

  @Option(names = "--json", description = "Print a JSON object for each look, one a line.")
  private boolean json;

  TopCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    RunningDaemon daemon = mount.daemon(context.targets());
    if (batch || json) {
      DaemonLook look = new DaemonLook(daemon, context.answerDeadline(), true);
      new WatchLoop(context, look, interval, count == null ? 0 : count)
          .run(
              context.out(spec),
              context.err(spec),
              json ? (change, round) -> line(change) : this::screen);
    } else {
      showLive(daemon);
    }
    return 0;
  }

  private void showLive(RunningDaemon daemon) throws IOException {
    if (count != null) {
      throw CliException.usage("-n is for --batch and --json: give one of them too");
    }
    if (!context.isTerminal(0) || !context.isTerminal(1)) {
      throw CliException.usage("this is no terminal: give --batch for text, or --json");
    }
    new TopTerminal(context, daemon, TopState.first(interval.toMillis())).run();
  }

  private static String line(Change change) throws IOException {
    return Visible.json(
            JSON.std.with(JSON.Feature.WRITE_NULL_PROPERTIES).asString(ChangeReport.all(change)))
        + "\n";
  }

  private String screen(Change change, long round) {
    String text = TopScreen.text(change, TopState.first(0));
    return (round == 0 ? "" : "\n") + context.colors().headings(text);
  }
}
