package io.holdfast.fs.watch;

import io.holdfast.fs.control.FiguresJson;
import io.holdfast.fs.figures.Figures;
import io.holdfast.fs.figures.NodeFigures;
import java.util.List;
import java.util.Map;

/**
 * The figures of a mount at one moment. Immutable as far as its map is.
 *
 * @param figures the mount's figures
 * @param nodes the nodes of its cluster; none if the mount has no peers
 * @param stats the figures as they came, with those that this version does not know
 * @param nanos the moment, on any clock of nanoseconds
 */
public record Snapshot(
    Figures figures, List<NodeFigures> nodes, Map<String, Object> stats, long nanos) {
  /** Copies the list. */
  public Snapshot {
    nodes = List.copyOf(nodes);
  }

  /**
   * Reads a daemon's answer.
   *
   * @param stats as {@code stats.json}
   * @param peers as {@code peers.json}
   */
  public static Snapshot of(
      Map<String, Object> stats, List<Map<String, Object>> peers, long nanos) {
    return new Snapshot(FiguresJson.figures(stats), FiguresJson.nodes(peers), stats, nanos);
  }
}
