package io.holdfast.fs.peers;

import io.holdfast.fs.OutOfMemory;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.plan.Planned;
import io.holdfast.fs.plan.PlannedItem;
import io.holdfast.fs.residency.Residency;
import io.holdfast.fs.transit.Item;
import io.holdfast.fs.transit.PeerSource;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.SharedDataset;
import io.holdfast.peer.transfer.ItemPath;
import io.holdfast.peer.transfer.ItemRequest;
import io.holdfast.peer.transfer.Refusal;
import io.holdfast.peer.transfer.TransferResult;
import java.util.Iterator;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the nodes that may have an item, in rendezvous order, and decides which node keeps it.
 *
 * <ul>
 *   <li>An item of another node: this node asks the owner, which fetches and keeps the item if it
 *       has room. A full owner says so. Then this node asks the next node, which takes the item if
 *       it has room. So the cluster uses all of its memory although hashing never divides a dataset
 *       evenly, and two questions find every cached item. This node keeps the item only if it is
 *       the next node itself.
 *   <li>An item of this node: this node asks the next node for a cached copy. The next node owned
 *       the item until this node joined, or took it while this node was full. The question makes no
 *       node fetch.
 *   <li>An item of a {@linkplain Planned plan} that the nodes follow: this node asks the holder
 *       that the plan names, which fetches and keeps the item if it must, and then the owner, if
 *       the owner has the item. If this node is the holder and has lost the item, it asks the owner
 *       as well.
 *   <li>After such a plan, the node that had an item by the plan is asked before the next one.
 * </ul>
 *
 * <p>A node that a peer has asked never makes another node fetch, so no two nodes wait for each
 * other. Whatever goes wrong, the origin is asked. Thread-safe.
 */
public final class ClusterSource implements PeerSource {
  private static final Logger log = LoggerFactory.getLogger(ClusterSource.class);

  /**
   * Most bytes of an answer that the event loop itself passes on: a hand-over to another thread
   * would take longer.
   */
  private static final int SMALL = 256 << 10;

  private static final Arrival KEEP_FROM_ORIGIN = new Arrival(false, true);
  private static final Arrival PASS_FROM_ORIGIN = new Arrival(false, false);

  private final SharedDataset dataset;
  private final Cluster cluster;
  private final Residency residency;
  private final Fetcher fetcher;
  private final FormerOwners formerOwners;
  private final Planned plans;
  private final Executor threads;

  /** Asks one peer. */
  @FunctionalInterface
  public interface Fetcher {
    /**
     * Fills the memory at an address. Does not touch the memory after the answer, nor where this
     * method fails.
     *
     * @param answered takes the result, once; not called where this method fails. Throws nothing
     */
    void fetch(
        NodeAddress peer, ItemRequest request, long address, Consumer<TransferResult> answered);
  }

  /**
   * Creates a source.
   *
   * @param plans says who has an item, if the nodes follow a plan
   * @param threads continue a fetch after an answer
   */
  public ClusterSource(
      SharedDataset dataset,
      Cluster cluster,
      Residency residency,
      Fetcher fetcher,
      FormerOwners formerOwners,
      Planned plans,
      Executor threads) {
    this.dataset = dataset;
    this.cluster = cluster;
    this.residency = residency;
    this.fetcher = fetcher;
    this.formerOwners = formerOwners;
    this.plans = plans;
    this.threads = threads;
  }

  @Override
  public void fetch(
      Item item, Item range, boolean forPeer, long address, Consumer<Arrival> answered) {
    Search search = new Search(item, range, address, answered);
    Cluster.Place place = cluster.place(item);
    OriginPath path = item.path().get();
    PlannedItem planned = plans.find(item);
    if (residency.isExcluded(path) || ItemPath.isTooLong(path.bytes())) {
      search.ends(PASS_FROM_ORIGIN);
    } else if (planned != null) {
      search.plannedItem(planned, place, forPeer);
    } else if (place.isOwn()) {
      search.ownItem(cluster.at(plans.formerHolder(item)), place.otherNext(), forPeer);
    } else if (forPeer || place.otherOwner().isEmpty()) {
      search.ends(place.isNext() ? KEEP_FROM_ORIGIN : PASS_FROM_ORIGIN);
    } else {
      search.itemOf(place.otherOwner().get(), place);
    }
  }

  /** The search for one item. Ends once, whatever fails after the first question. */
  private final class Search {
    private final Item item;
    private final Item range;
    private final long address;
    private final Consumer<Arrival> answered;
    private final AtomicBoolean ended = new AtomicBoolean();

    /** Made before it is needed: the heap may be full then. */
    private final Runnable passFromOrigin;

    /** Whether the user wants the item kept on every node that reads it. */
    private final boolean keptByName;

    Search(Item item, Item range, long address, Consumer<Arrival> answered) {
      this.item = item;
      this.range = range;
      this.address = address;
      this.answered = answered;
      this.keptByName = !residency.isLeftToPolicy(item.path().get());
      this.passFromOrigin = () -> ends(PASS_FROM_ORIGIN);
    }

    void ends(Arrival arrival) {
      if (ended.compareAndSet(false, true)) {
        answered.accept(arrival);
      }
    }

    void ownItem(Optional<NodeAddress> former, Optional<NodeAddress> next, boolean forPeer) {
      boolean room = residency.wouldAdmit(item) || residency.wouldSwap(item);
      Iterator<NodeAddress> worthAsking =
          Stream.concat(former.stream(), next.stream())
              .distinct()
              .filter(node -> room ? formerOwners.mayHave(node) : !forPeer)
              .iterator();
      if (worthAsking.hasNext()) {
        askInTurn(worthAsking, room);
      } else {
        ends(KEEP_FROM_ORIGIN);
      }
    }

    private void askInTurn(Iterator<NodeAddress> nodes, boolean room) {
      NodeAddress other = nodes.next();
      ItemRequest request = PeerRequests.of(dataset, item, range, room);
      ask(
          other,
          request,
          outcome -> {
            if (room && saysWhatItHas(outcome)) {
              formerOwners.asked(other, outcome.isFetched());
            }
            if (!outcome.isFetched() && nodes.hasNext()) {
              askInTurn(nodes, room);
            } else if (!outcome.isFetched()) {
              goOn(KEEP_FROM_ORIGIN);
            } else if (room) {
              goOn(new Arrival(true, true), () -> formerOwners.handOver(other, item, request));
            } else {
              goOn(new Arrival(true, keptByName));
            }
          });
    }

    /** Tells whether a node has answered, rather than that it could not, or need not, be asked. */
    private boolean saysWhatItHas(TransferResult outcome) {
      return outcome.isFetched() || outcome.refusal() == Refusal.NOT_CACHED;
    }

    /**
     * Asks the holder, and then the owner for what it has; a peer has asked this holder already. If
     * the item should be here, its reader may have it already, and the owner may have a copy.
     */
    void plannedItem(PlannedItem planned, Cluster.Place place, boolean forPeer) {
      boolean keeps = forPeer || planned.keeps() || keptByName;
      Optional<NodeAddress> holder =
          forPeer || planned.isHere() ? Optional.empty() : cluster.at(planned.holder());
      if (holder.isEmpty()) {
        boolean missing = plans.fetched(item);
        if (missing && place.otherOwner().isPresent()) {
          askForCopy(place.otherOwner().get(), keeps);
        } else {
          ends(new Arrival(false, keeps));
        }
        return;
      }
      ask(
          holder.get(),
          PeerRequests.of(dataset, item, range, false),
          outcome -> {
            if (outcome.isFetched()) {
              handOn(new Arrival(true, keeps));
              return;
            }
            plans.notThere(item);
            Optional<NodeAddress> owner =
                place.otherOwner().filter(node -> !node.equals(holder.get()));
            if (owner.isEmpty()) {
              goOn(new Arrival(false, keeps));
            } else {
              askForCopy(owner.get(), keeps);
            }
          });
    }

    /** Asks a node for an item if the node has it, and then the origin. */
    private void askForCopy(NodeAddress owner, boolean keeps) {
      ask(
          owner,
          PeerRequests.of(dataset, item, range, true),
          outcome -> goOn(new Arrival(outcome.isFetched(), keeps)));
    }

    void itemOf(NodeAddress owner, Cluster.Place place) {
      ItemRequest request = PeerRequests.of(dataset, item, range, false);
      ask(
          owner,
          request,
          outcome -> {
            if (outcome.isFetched()) {
              handOn(new Arrival(true, keptByName));
            } else if (outcome.refusal() != Refusal.FULL) {
              goOn(new Arrival(false, keptByName));
            } else if (place.otherNext().isPresent()) {
              ask(
                  place.otherNext().get(),
                  request,
                  second -> goOn(new Arrival(second.isFetched(), keptByName)));
            } else {
              goOn(place.isNext() ? KEEP_FROM_ORIGIN : new Arrival(false, keptByName));
            }
          });
    }

    private void ask(NodeAddress peer, ItemRequest request, Consumer<TransferResult> next) {
      fetcher.fetch(peer, request, address, outcome -> learn(peer, outcome, next));
    }

    /**
     * Goes on after an answer. Where that fails, as with a full heap, no other peer has been asked:
     * the origin is.
     */
    private void learn(NodeAddress peer, TransferResult outcome, Consumer<TransferResult> next) {
      try {
        next.accept(outcome);
      } catch (RuntimeException e) {
        execute(passFromOrigin);
        log.error("the search after the answer of {} failed", peer, e);
      } catch (OutOfMemoryError e) {
        execute(passFromOrigin);
        OutOfMemory.tell(e);
      }
    }

    /** Ends the search on another thread, which may read from the origin; on this one at worst. */
    private void execute(Runnable end) {
      try {
        threads.execute(end);
      } catch (RuntimeException | OutOfMemoryError e) {
        end.run();
      }
    }

    /**
     * Completes the search on the event loop if the item is small, since no later step asks a peer
     * or waits.
     */
    private void handOn(Arrival arrival) {
      if (range.length() <= SMALL) {
        ends(arrival);
      } else {
        goOn(arrival);
      }
    }

    private void goOn(Arrival arrival) {
      goOn(arrival, () -> {});
    }

    /**
     * Completes the search on another thread, because later steps may wait and the event loop must
     * not.
     */
    private void goOn(Arrival arrival, Runnable afterwards) {
      Runnable rest =
          () -> {
            ends(arrival);
            afterwards.run();
          };
      try {
        threads.execute(rest);
      } catch (RejectedExecutionException e) {
        rest.run(); // the mount is ending, and the fetch with it
      }
    }
  }
}
