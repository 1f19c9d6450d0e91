package io.holdfast.fs.cli;

import io.holdfast.fs.client.DaemonClient;
import io.holdfast.fs.control.FiguresJson;
import io.holdfast.fs.control.PeersText;
import io.holdfast.fs.control.RunningDaemon;
import io.holdfast.fs.figures.NodeFigures;
import io.holdfast.fs.host.Colors;
import io.holdfast.fs.units.Level;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

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
  private final CliContext context;

  @Mixin private final MountArgument mount = new MountArgument();

  @Mixin private final CommandOutput output = new CommandOutput();

  PeersCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    RunningDaemon daemon = mount.daemon(context.targets());
    List<Map<String, Object>> peers = new DaemonClient(daemon, context.answerDeadline()).peers();
    if (output.isJson()) {
      output.json(peers);
    } else {
      output.text(text(FiguresJson.nodes(peers)));
    }
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
