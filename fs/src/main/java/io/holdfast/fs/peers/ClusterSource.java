package io.holdfast.fs.peers;

import io.holdfast.fs.residency.Residency;
import io.holdfast.fs.transit.Item;
import io.holdfast.fs.transit.PeerSource;
import io.holdfast.peer.Dataset;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.transfer.ItemRequest;
import io.holdfast.peer.transfer.Outcome;
import io.holdfast.peer.transfer.Refusal;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the nodes that may have an item, in rendezvous order, and decides who keeps it.
 *
 * <ul>
 *   <li>An item of another node: the owner is asked, which fetches and keeps it where it has room.
 *       One that is full says so; then the next node is asked, which takes what the owner could
 *       not, as long as it has room itself. So the memory of all is used although hashing never
 *       divides a dataset quite evenly, and two questions find every item that is in it. This node
 *       keeps the item only if it is that next node.
 *   <li>An item of this node: the next node is asked for what it has, since it owned the item until
 *       this one joined, or took it when this one was full. It fetches nothing for that.
 * </ul>
 *
 * <p>A node that was asked by a peer never asks another to fetch, so no two nodes wait for each
 * other. Whatever goes wrong, the origin is asked. Thread-safe.
 */
public final class ClusterSource implements PeerSource {
  private static final Logger log = LoggerFactory.getLogger(ClusterSource.class);

  /**
   * What is no larger is handed on by the event loop itself, in less time than another takes it.
   */
  private static final int SMALL = 256 << 10;

  private static final Arrival KEEP_FROM_ORIGIN = new Arrival(false, true);
  private static final Arrival PASS_FROM_ORIGIN = new Arrival(false, false);

  private final Dataset dataset;
  private final Cluster cluster;
  private final Residency residency;
  private final Fetcher fetcher;
  private final FormerOwners formerOwners;
  private final Executor threads;

  /** Asks one peer. */
  @FunctionalInterface
  public interface Fetcher {
    /**
     * Fills the memory at an address, and does not touch it any more once the future is complete;
     * that never completes exceptionally.
     */
    CompletableFuture<Outcome> fetch(NodeAddress peer, ItemRequest request, long address);
  }

  /**
   * Creates a source.
   *
   * @param threads where a fetch goes on
   */
  public ClusterSource(
      Dataset dataset,
      Cluster cluster,
      Residency residency,
      Fetcher fetcher,
      FormerOwners formerOwners,
      Executor threads) {
    this.dataset = dataset;
    this.cluster = cluster;
    this.residency = residency;
    this.fetcher = fetcher;
    this.formerOwners = formerOwners;
    this.threads = threads;
  }

  @Override
  public void fetch(Item item, Item range, boolean forPeer, long address, Consumer<Arrival> then) {
    Search search = new Search(item, range, address, then);
    Cluster.Place place = cluster.place(item);
    if (residency.isExcluded(item.path().get())) {
      then.accept(PASS_FROM_ORIGIN);
    } else if (place.isOwn()) {
      search.ownItem(place.otherNext(), forPeer);
    } else if (forPeer || place.otherOwner().isEmpty()) {
      then.accept(place.isNext() ? KEEP_FROM_ORIGIN : PASS_FROM_ORIGIN);
    } else {
      search.itemOf(place.otherOwner().get(), place);
    }
  }

  /** One item that is being looked for. */
  private final class Search {
    private final Item item;
    private final Item range;
    private final long address;
    private final Consumer<Arrival> then;

    /** What the user wants kept is kept wherever it is read. */
    private final boolean keptByName;

    Search(Item item, Item range, long address, Consumer<Arrival> then) {
      this.item = item;
      this.range = range;
      this.address = address;
      this.then = then;
      this.keptByName = !residency.isLeftToPolicy(item.path().get());
    }

    void ownItem(Optional<NodeAddress> next, boolean forPeer) {
      boolean room = residency.wouldAdmit(item);
      boolean worthAsking = room ? next.filter(formerOwners::mayHave).isPresent() : !forPeer;
      if (next.isEmpty() || !worthAsking) {
        then.accept(KEEP_FROM_ORIGIN);
        return;
      }
      NodeAddress other = next.get();
      ItemRequest request = Requests.of(dataset, item, range, room);
      ask(
          other,
          request,
          outcome -> {
            if (room) {
              formerOwners.asked(other, outcome.isFetched());
            }
            if (!outcome.isFetched()) {
              goOn(KEEP_FROM_ORIGIN);
            } else if (room) {
              goOn(new Arrival(true, true), () -> formerOwners.handOver(other, item, request));
            } else {
              goOn(new Arrival(true, keptByName));
            }
          });
    }

    void itemOf(NodeAddress owner, Cluster.Place place) {
      ItemRequest request = Requests.of(dataset, item, range, false);
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

    private void ask(NodeAddress peer, ItemRequest request, Consumer<Outcome> answered) {
      CompletableFuture<Outcome> unused =
          fetcher
              .fetch(peer, request, address)
              .whenComplete(
                  (outcome, failure) -> {
                    if (failure != null) {
                      log.error("asking {} failed", peer, failure);
                    }
                    answered.accept(failure == null ? outcome : Outcome.fault("" + failure));
                  });
    }

    /** What is fetched asks nobody any more, and nothing of what follows waits. */
    private void handOn(Arrival arrival) {
      if (range.length() <= SMALL) {
        then.accept(arrival);
      } else {
        goOn(arrival);
      }
    }

    private void goOn(Arrival arrival) {
      goOn(arrival, () -> {});
    }

    /** Leaves the event loop, which must not wait. */
    private void goOn(Arrival arrival, Runnable afterwards) {
      Runnable rest =
          () -> {
            then.accept(arrival);
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
