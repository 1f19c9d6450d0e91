package io.holdfast.fs.control;

import io.holdfast.fs.units.Columns;
import io.holdfast.fs.units.Human;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The nodes of a cluster as an aligned table for people: {@code /.holdfast/peers} and {@code
 * holdfast peers}. Takes the rows of {@link ControlCommands#peers()}. Stateless.
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
   * @param peers as from {@link ControlCommands#peers()}; none where this mount has no peers
   * @return lines, each with its end
   */
  public static String of(List<Map<String, Object>> peers) {
    if (peers.isEmpty()) {
      return "this mount has no peers: see --listen and --peers of 'holdfast mount --help'\n";
    }
    List<List<String>> rows = new ArrayList<>();
    rows.add(HEADING);
    peers.forEach(peer -> rows.add(row(new Figures(peer))));
    return Columns.aligned(rows);
  }

  private static List<String> row(Figures peer) {
    long resident = peer.number("resident_bytes");
    return List.of(
        peer.text("node"),
        peer.text("state"),
        peer.text("since").isEmpty() ? "-" : peer.text("since"),
        Human.bytes(peer.number("capacity_bytes")),
        resident < 0 ? "-" : Human.bytes(resident),
        Human.ratio(peer.real("share")),
        Human.bytes(peer.number("bytes_in")),
        Human.bytes(peer.number("bytes_out")),
        Human.grouped(peer.number("errors")),
        time(peer.number("p50_us")),
        time(peer.number("p99_us")));
  }

  private static String time(long micros) {
    if (micros == 0) {
      return "-";
    }
    return micros < 1000 ? micros + " us" : String.format(Locale.ROOT, "%.1f ms", micros / 1000.0);
  }
}
