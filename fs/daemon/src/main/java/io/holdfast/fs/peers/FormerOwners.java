package io.holdfast.fs.peers;

import io.holdfast.fs.ItemKey;
import io.holdfast.fs.residency.Residency;
import io.holdfast.fs.transit.Item;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.transfer.ItemRequest;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;

/**
 * The nodes that owned this node's items before it joined: whether to ask them, and when to tell
 * them that an item has moved. Thread-safe.
 *
 * <p>A node that has answered {@link #PATIENCE} times in this view without ever having an item is
 * not asked any more: it joined when this node did.
 */
public final class FormerOwners {
  private static final int PATIENCE = 64;

  private final Residency residency;
  private final BiConsumer<NodeAddress, ItemRequest> tell;
  private final Map<NodeAddress, Tally> tallies = new ConcurrentHashMap<>();
  private final Map<ItemKey, Handover> pending = new ConcurrentHashMap<>();

  private record Handover(NodeAddress from, Item item, ItemRequest request) {}

  /** Questions in vain since a node last had an item. The monitor guards the fields. */
  private static final class Tally {
    private int inVain;
    private boolean useful;

    synchronized void count(boolean found) {
      useful |= found;
      inVain = found ? 0 : inVain + 1;
    }

    synchronized boolean mayHave() {
      return useful || inVain < PATIENCE;
    }
  }

  /**
   * Creates it.
   *
   * @param tell tells a node that this node holds an item now
   */
  public FormerOwners(Residency residency, BiConsumer<NodeAddress, ItemRequest> tell) {
    this.residency = residency;
    this.tell = tell;
  }

  /** Forgets the counts, since the nodes have changed. */
  public void viewChanged() {
    tallies.clear();
  }

  boolean mayHave(NodeAddress node) {
    Tally tally = tallies.get(node);
    return tally == null || tally.mayHave();
  }

  void asked(NodeAddress node, boolean found) {
    tallies.computeIfAbsent(node, each -> new Tally()).count(found);
  }

  /** Records that another node may release an item once it is pinned here. */
  void handOver(NodeAddress from, Item item, ItemRequest request) {
    pending.put(item.key(), new Handover(from, item, request));
  }

  /**
   * Tells former owners of the items that are pinned here by now. Called several times a second.
   */
  public void tick() {
    pending.forEach(
        (id, handover) -> {
          if (residency.isPinned(handover.item())) {
            pending.remove(id, handover);
            tell.accept(handover.from(), handover.request());
          } else if (!residency.isResident(handover.item())) {
            pending.remove(id, handover);
          }
        });
  }
}
