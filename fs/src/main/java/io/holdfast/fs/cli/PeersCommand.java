package io.holdfast.fs.cli;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.FsException;
import io.holdfast.fs.control.ControlClient;
import io.holdfast.fs.control.FiguresJson;
import io.holdfast.fs.control.PeersText;
import io.holdfast.fs.control.RunningDaemon;
import io.holdfast.fs.figures.NodeFigures;
import io.holdfast.fs.units.Level;
import io.holdfast.fs.units.Visible;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code holdfast peers}: shows the nodes that share a mount's dataset. */
@Command(
    name = "peers",
    sortOptions = false,
    customSynopsis = "holdfast peers [--json] [MOUNTPOINT|NAME]",
    header = "Show the nodes that share a dataset.",
    description = {
      "",
      "For each: its state (self, up, suspect: left alone for a while after a failure, comparing:"
          + " it is not known yet whether it has the same dataset, other dataset: it has not, and"
          + " nothing is shared with it, with what differs below the table), since when, its capacity and what it said last of its residents, the share of items that it owns,"
          + " what came from it and went to it, failures, and the median and 99th percentile of the"
          + " time that an item took. The same is in MOUNTPOINT/.holdfast/peers and peers.json."
    },
    parameterListHeading = "%nArguments:%n",
    optionListHeading = "%nOptions:%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  holdfast peers",
      "  holdfast peers data-imagenet --json | jq '.[] | select(.state == \"suspect\")'"
    })
final class PeersCommand implements Callable<Integer> {
  private static final Duration DEADLINE = Duration.ofSeconds(5);

  private final CliContext context;

  @Spec private @Nullable CommandSpec spec;

  @Parameters(
      arity = "0..1",
      paramLabel = "MOUNTPOINT|NAME",
      description = "Which mount. Default: the only one.")
  private @Nullable String target;

  @Option(names = "--json", description = "As a JSON array.")
  private boolean json;

  PeersCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    Targets targets = new Targets(context.host());
    RunningDaemon daemon = target == null ? targets.only() : targets.get(target);
    List<Map<String, Object>> peers;
    try {
      peers = new ControlClient(daemon.socket(), DEADLINE).peers();
    } catch (FsException e) {
      throw DaemonTrouble.explain(e, daemon);
    }
    PrintWriter out = context.out(spec);
    if (json) {
      out.println(Visible.json(JSON.std.with(JSON.Feature.PRETTY_PRINT_OUTPUT).asString(peers)));
    } else {
      out.print(text(FiguresJson.nodes(peers)));
    }
    out.flush();
    return 0;
  }

  private String text(List<NodeFigures> peers) {
    String text = PeersText.of(peers);
    Colors colors = context.colors();
    return peers.isEmpty()
        ? text
        : colors.firstLine(
            Colors.lines(
                text,
                row ->
                    row.contains(" suspect ") || row.contains(" other dataset ")
                        ? colors.of(Level.POOR, row)
                        : row));
  }
}
