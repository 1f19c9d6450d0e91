package io.holdfast.peer;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;

/** Measures placement at a scale; run by hand with the numbers of nodes and items. */
final class PlacementScale {
  private static final SharedDataset DATASET = new SharedDataset("imagenet", 8 << 20);
  private static final int LOOKUPS = 200_000;

  private PlacementScale() {}

  /**
   * The results.
   *
   * @param largestShare the largest share of a node, as a multiple of its weight's share
   * @param moved items whose owner changes when one node joins, or leaves again, as a multiple of
   *     that node's weight's share
   * @param movedElsewhere items that moved and not to the node that joined
   * @param microseconds CPU time of one lookup of owner and next
   */
  record Figures(double largestShare, double moved, long movedElsewhere, double microseconds) {}

  /** Prints the figures. */
  public static void main(String[] args) {
    int nodes = Integer.parseInt(args[0]);
    int items = Integer.parseInt(args[1]);
    Figures figures = measure(nodes, items);
    System.out.printf(
        Locale.ROOT,
        "%d nodes, %d items: largest share %.4f, moved %.4f, elsewhere %d, %.2f us a lookup%n",
        nodes,
        items,
        figures.largestShare(),
        figures.moved(),
        figures.movedElsewhere(),
        figures.microseconds());
  }

  static Figures measure(int nodes, int items) {
    List<ClusterNode> all = new ArrayList<>();
    for (int i = 0; i <= nodes; i++) {
      NodeAddress address = new NodeAddress("10.0." + i / 250 + "." + i % 250, 7070);
      all.add(new ClusterNode(address, DATASET, (64L << 30) * (1 + i % 3)));
    }
    ClusterNode joins = all.get(nodes);
    Placement before = new Placement(new View(1, all.get(0), all.subList(0, nodes)));
    Placement after = new Placement(new View(2, all.get(0), all));
    Map<ClusterNode, Integer> owned = new HashMap<>();
    long moved = 0;
    long elsewhere = 0;
    for (long item = 0; item < items; item++) {
      long hash = Rendezvous.hash(Long.toString(item).getBytes(StandardCharsets.US_ASCII));
      ClusterNode was = before.order(hash).owner();
      ClusterNode is = after.order(hash).owner();
      owned.merge(was, 1, Integer::sum);
      moved += was.equals(is) ? 0 : 1;
      elsewhere += was.equals(is) || is.equals(joins) ? 0 : 1;
    }
    double largest = 0;
    for (ClusterNode each : all.subList(0, nodes)) {
      largest = Math.max(largest, owned.get(each) / (before.share(each) * items));
    }
    return new Figures(
        largest, moved / (after.share(joins) * items), elsewhere, microseconds(before));
  }

  private static double microseconds(Placement placement) {
    Random random = new Random(1);
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long start = threads.getCurrentThreadCpuTime();
    long sum = 0;
    for (int i = 0; i < LOOKUPS; i++) {
      sum += placement.order(random.nextLong()).next().address().port();
    }
    long nanos = threads.getCurrentThreadCpuTime() - start;
    if (sum != 7070L * LOOKUPS) {
      throw new IllegalStateException("the lookups were not done");
    }
    return nanos / 1e3 / LOOKUPS;
  }
}
