package io.holdfast.fs.peers;

import io.holdfast.fs.residency.Residency;
import io.holdfast.fs.transit.Item;
import io.holdfast.peer.Node;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.Placement;
import io.holdfast.peer.View;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Which items belong where, by the newest view. Thread-safe. */
public final class Cluster {
  private volatile State state;

  /** The newest view, and the placement over those of its nodes that have the same dataset. */
  private record State(View view, Set<NodeAddress> others, Placement placement) {
    static State of(View view, Set<NodeAddress> others) {
      List<Node> same =
          view.nodes().stream().filter(node -> !others.contains(node.address())).toList();
      return new State(view, others, new Placement(new View(view.version(), view.self(), same)));
    }
  }

  /** Creates a cluster of one node. */
  public Cluster(Node self) {
    state = State.of(View.alone(self), Set.of());
  }

  /**
   * Takes another view.
   *
   * @return false where there is a newer one already
   */
  public synchronized boolean update(View view) {
    if (view.version() < state.view.version()) {
      return false;
    }
    state = State.of(view, state.others);
    return true;
  }

  /**
   * Takes note of the nodes that have another dataset, although they call it by the same id. They
   * keep no item of this one.
   *
   * @return false where that is known already
   */
  public synchronized boolean leaveOut(Set<NodeAddress> others) {
    if (state.others.equals(others)) {
      return false;
    }
    state = State.of(state.view, Set.copyOf(others));
    return true;
  }

  /**
   * Takes note that this node has another capacity, and begins to count views anew. The others are
   * taken to be there until a view says otherwise.
   */
  public synchronized void resized(Node self) {
    List<Node> nodes =
        state.view.nodes().stream()
            .map(node -> node.address().equals(self.address()) ? self : node)
            .toList();
    state = State.of(new View(0, self, nodes), state.others);
  }

  /** Returns the newest view. */
  public View view() {
    return state.view;
  }

  /** Returns the nodes that share this node's dataset, itself included, as far as is known. */
  public List<Node> sharing() {
    return state.placement.view().sharing();
  }

  /** Returns the part of all items that a node owns on average, from 0 to 1. */
  public double share(Node node) {
    return state.placement.share(node);
  }

  /** Tells whether this node owns an item. */
  public boolean isOwn(Item item) {
    return place(item).isOwn();
  }

  /** Finds out where an item belongs. */
  public Place place(Item item) {
    Placement now = state.placement;
    Placement.Order order = now.order(Residency.hash(item));
    return new Place(now.view().self(), order.owner(), order.next());
  }

  /**
   * Where an item belongs. Immutable.
   *
   * @param self this node
   * @param owner who owns it; null where nobody keeps anything
   * @param next who would without the owner: the former owner where that joined lately, and the one
   *     that takes what the owner has no room for
   */
  public record Place(Node self, @Nullable Node owner, @Nullable Node next) {
    /** Tells whether this node owns it. */
    public boolean isOwn() {
      return self.equals(owner);
    }

    /** Tells whether this node is the next. */
    public boolean isNext() {
      return self.equals(next);
    }

    /** Returns the address of the owner, where it is another node. */
    public Optional<NodeAddress> otherOwner() {
      return other(owner);
    }

    /** Returns the address of the next, where it is another node. */
    public Optional<NodeAddress> otherNext() {
      return other(next);
    }

    private Optional<NodeAddress> other(@Nullable Node node) {
      return node == null || node.equals(self) ? Optional.empty() : Optional.of(node.address());
    }
  }
}
