package io.holdfast.peer;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Computes which nodes of a view own an item of its dataset: a pure function of the view. Immutable
 * and thread-safe.
 */
public final class Placement {
  private final View view;
  private final List<ClusterNode> nodes;
  private final long dataset;
  private final long[] names;
  private final double[] weights;
  private final double totalWeight;

  /**
   * The first two nodes in rendezvous order.
   *
   * @param owner the owner; null where no node has any capacity
   * @param next the owner if the current owner were not there; null where there is no other
   */
  public record Order(@Nullable ClusterNode owner, @Nullable ClusterNode next) {}

  /** Prepares the placement of a view. */
  public Placement(View view) {
    this.view = view;
    nodes = view.sharing();
    dataset = Rendezvous.hash(view.self().dataset().id().getBytes(StandardCharsets.UTF_8));
    names = Rendezvous.prepared(nodes.stream().mapToLong(node -> node.address().hash()).toArray());
    weights = nodes.stream().mapToDouble(ClusterNode::capacityBytes).toArray();
    double total = 0;
    for (double weight : weights) {
      total += weight;
    }
    totalWeight = total;
  }

  /** Returns the view of this placement. */
  public View view() {
    return view;
  }

  /**
   * Returns the owner of an item, and the next node.
   *
   * @param item hash of the item's name within the dataset
   */
  public Order order(long item) {
    long hash = item ^ dataset;
    long both = Rendezvous.firstTwo(hash, names, weights);
    int owner = (int) (both >> Integer.SIZE);
    int next = (int) both;
    return new Order(owner < 0 ? null : nodes.get(owner), next < 0 ? null : nodes.get(next));
  }

  /** Returns the share of all items that a node owns on average, from 0 to 1. */
  public double share(ClusterNode node) {
    return totalWeight > 0 && nodes.contains(node) ? node.capacityBytes() / totalWeight : 0;
  }
}
