package io.holdfast.fs.control;

import io.holdfast.fs.figures.NodeFigures;
import io.holdfast.fs.units.Columns;
import io.holdfast.fs.units.Human;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The nodes of a cluster as an aligned table for people: {@code /.holdfast/peers} and {@code
 * holdfast peers}. Stateless.
 */
public final class PeersText {
  private static final List<String> HEADING =
      List.of(
          "node",
          "state",
          "since",
          "capacity",
          "resident",
          "share",
          "in",
          "out",
          "errors",
          "p50",
          "p99");

  private PeersText() {}

  /**
   * Shows the nodes.
   *
   * @param peers the nodes; none where this mount has no peers
   * @return lines, each with its end
   */
  public static String of(List<NodeFigures> peers) {
    if (peers.isEmpty()) {
      return "this mount has no peers: see --listen and --peers of 'holdfast mount --help'\n";
    }
    List<List<String>> rows = new ArrayList<>();
    rows.add(HEADING);
    peers.forEach(peer -> rows.add(row(peer)));
    StringBuilder text = new StringBuilder(Columns.aligned(rows));
    for (NodeFigures peer : peers) {
      if (!peer.difference().isEmpty()) {
        text.append(
            "%n%s: nothing is shared with it: %s%n".formatted(peer.node(), peer.difference()));
      }
    }
    return text.toString();
  }

  private static List<String> row(NodeFigures peer) {
    long resident = peer.residentBytes();
    return List.of(
        peer.node(),
        peer.state(),
        peer.since().isEmpty() ? "-" : peer.since(),
        Human.bytes(peer.capacityBytes()),
        resident < 0 ? "-" : Human.bytes(resident),
        Human.ratio(peer.share()),
        Human.bytes(peer.bytesIn()),
        Human.bytes(peer.bytesOut()),
        Human.grouped(peer.errors()),
        time(peer.p50Us()),
        time(peer.p99Us()));
  }

  private static String time(long micros) {
    if (micros == 0) {
      return "-";
    }
    return micros < 1000 ? micros + " us" : String.format(Locale.ROOT, "%.1f ms", micros / 1000.0);
  }
}
