package io.holdfast.fs.peers;

import io.holdfast.fs.residency.Residency;
import io.holdfast.fs.transit.Item;
import io.holdfast.peer.ClusterNode;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.Placement;
import io.holdfast.peer.View;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The newest view, and the placement of items by it. Thread-safe. */
public final class Cluster {
  private volatile State state;

  /** The newest view, and the placement over the nodes with the same dataset. */
  private record State(View view, Set<NodeAddress> others, Placement placement) {
    static State of(View view, Set<NodeAddress> others) {
      List<ClusterNode> same =
          view.nodes().stream().filter(node -> !others.contains(node.address())).toList();
      return new State(view, others, new Placement(new View(view.version(), view.self(), same)));
    }
  }

  /** Creates a cluster of one node. */
  public Cluster(ClusterNode self) {
    state = State.of(View.alone(self), Set.of());
  }

  /**
   * Replaces the view.
   *
   * @return false where the current view is newer
   */
  public synchronized boolean update(View view) {
    if (view.version() < state.view.version()) {
      return false;
    }
    state = State.of(view, state.others);
    return true;
  }

  /**
   * Leaves nodes out of the placement that have another dataset under the same id.
   *
   * @return false where the same nodes are left out already
   */
  public synchronized boolean leaveOut(Set<NodeAddress> others) {
    if (state.others.equals(others)) {
      return false;
    }
    state = State.of(state.view, Set.copyOf(others));
    return true;
  }

  /**
   * Changes this node's capacity, and starts to count views anew. Keeps the other nodes until the
   * next view.
   */
  public synchronized void resized(ClusterNode self) {
    List<ClusterNode> nodes =
        state.view.nodes().stream()
            .map(node -> node.address().equals(self.address()) ? self : node)
            .toList();
    state = State.of(new View(0, self, nodes), state.others);
  }

  /** Returns the newest view. */
  public View view() {
    return state.view;
  }

  /** Returns the nodes that share this node's dataset, including this node, as far as is known. */
  public List<ClusterNode> sharing() {
    return state.placement.view().sharing();
  }

  /** Returns the share of all items that a node owns on average, from 0 to 1. */
  public double share(ClusterNode node) {
    return state.placement.share(node);
  }

  /** Returns the address of another node that shares the dataset, by its text. */
  Optional<NodeAddress> at(String address) {
    return address.isEmpty()
        ? Optional.empty()
        : state.placement.view().nodes().stream()
            .map(ClusterNode::address)
            .filter(node -> !node.equals(state.view.self().address()))
            .filter(node -> node.toString().equals(address))
            .findFirst();
  }

  /** Tells whether this node owns an item. */
  public boolean isOwn(Item item) {
    return place(item).isOwn();
  }

  /** Returns the place of an item. */
  public Place place(Item item) {
    Placement now = state.placement;
    Placement.Order order = now.order(Residency.hash(item));
    return new Place(now.view().self(), order.owner(), order.next());
  }

  /**
   * The nodes that may keep an item. Immutable.
   *
   * @param self this node
   * @param owner the owner; null where no node keeps items
   * @param next the owner if the current owner were not there: the former owner where the current
   *     one joined lately. It takes items for which the owner has no room
   */
  public record Place(ClusterNode self, @Nullable ClusterNode owner, @Nullable ClusterNode next) {
    /** Tells whether this node owns the item. */
    public boolean isOwn() {
      return self.equals(owner);
    }

    /** Tells whether this node is the next. */
    public boolean isNext() {
      return self.equals(next);
    }

    /** Returns the address of the owner, if it is another node. */
    public Optional<NodeAddress> otherOwner() {
      return other(owner);
    }

    /** Returns the address of the next, if it is another node. */
    public Optional<NodeAddress> otherNext() {
      return other(next);
    }

    private Optional<NodeAddress> other(@Nullable ClusterNode node) {
      return node == null || node.equals(self) ? Optional.empty() : Optional.of(node.address());
    }
  }
}
