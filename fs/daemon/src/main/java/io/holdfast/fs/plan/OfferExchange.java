package io.holdfast.fs.plan;

import io.holdfast.fs.OutOfMemory;
import io.holdfast.policy.cluster.ClusterPlan;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The offer of this node, and those of its peers. A node that has an offer asks the others for
 * theirs, again and again; a node without one asks nobody. Where a peer does not answer, its last
 * offer holds, and the other peers are asked on.
 *
 * <p>Thread-safe: the monitor guards all fields. It is a leaf, and is not held while a peer is
 * asked, since a peer may answer at once.
 */
final class OfferExchange {
  /** The pause between two questions to peers while no plan is followed. */
  private static final long SHORT_PAUSE = Duration.ofMillis(250).toNanos();

  /** The pause while one is. */
  private static final long PAUSE = Duration.ofSeconds(1).toNanos();

  private static final int LONGEST_WAIT = 30;

  private final LongSupplier nanoTime;

  /** The addresses of all nodes, with this one first. */
  private List<String> members = List.of();

  private @Nullable PlanOffer own;
  private volatile String ownText = "";
  private final Map<String, PeerOffer> heard = new HashMap<>();

  /** The peers that have not answered yet. */
  private final Set<String> asked = new HashSet<>();

  private long lastAsked;

  /** How often this node has withdrawn its offer: answers to questions before that are too late. */
  private int withdrawals;

  /**
   * Questions to peers.
   *
   * @param knownNames the peers, and the names of their offers that this node knows
   * @param longest the most letters of an offer of as many files as this node's
   * @param withdrawals how often this node had withdrawn its offer
   */
  private record Questions(Map<String, String> knownNames, int longest, int withdrawals) {}

  OfferExchange(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    lastAsked = nanoTime.getAsLong();
  }

  // --- this node's offer

  /** Offers this node's part. */
  synchronized void offer(PlanOffer offer) {
    own = offer;
    ownText = offer.toString();
  }

  /** Takes this node's offer back, and forgets those of the others. */
  synchronized void withdraw() {
    own = null;
    ownText = "";
    heard.clear();
    withdrawals++;
  }

  /** Returns this node's offer; null if it has none. */
  synchronized @Nullable PlanOffer own() {
    return own;
  }

  /** Returns this node's offer for a peer; empty if there is none. Waits for nothing. */
  String ownText() {
    return ownText;
  }

  // --- the others' offers

  /**
   * Learns which nodes there are, with this one first; tells whether they have changed. One that
   * has gone, and comes back before anybody looks, has to offer its part again.
   */
  synchronized boolean view(List<String> selfAndOthers) {
    boolean isChanged = !members.equals(selfAndOthers);
    members = List.copyOf(selfAndOthers);
    heard.keySet().retainAll(members);
    return isChanged;
  }

  /** Returns how many nodes there are. */
  synchronized int nodes() {
    return members.size();
  }

  /** Tells whether offers are of the nodes that there are now, and of this node's offer. */
  synchronized boolean areNodesAndOwn(Offers offers) {
    return offers.members().equals(members) && offers.mine().equals(own);
  }

  /** Returns what all nodes have offered; null if this one has no offer. */
  synchronized @Nullable Offers offers() {
    if (own == null) {
      return null;
    }
    Map<String, PeerOffer> others = new HashMap<>();
    others().forEach(peer -> others.put(peer, heard.getOrDefault(peer, PeerOffer.NONE)));
    return new Offers(members, own, others);
  }

  private List<String> others() {
    return members.size() < 2 ? List.of() : members.subList(1, members.size());
  }

  /** Asks all peers for their offers, if that is due. */
  void ask(PlanPeers peers, boolean isPlanFollowed) {
    Questions due = due(isPlanFollowed);
    if (due != null) {
      due.knownNames.keySet().forEach(peer -> ask(peers, peer, due));
    }
  }

  private synchronized @Nullable Questions due(boolean isPlanFollowed) {
    long now = nanoTime.getAsLong();
    boolean isEarly = now - lastAsked < (isPlanFollowed ? PAUSE : SHORT_PAUSE);
    if (own == null || isEarly || members.size() > ClusterPlan.MOST_NODES) {
      return null;
    }
    lastAsked = now;
    Map<String, String> names = new HashMap<>();
    for (String peer : others()) {
      if (!asked.contains(peer)) {
        names.put(peer, heard.getOrDefault(peer, PeerOffer.NONE).name());
      }
    }
    return new Questions(names, PlanOffer.longest(own.files()), withdrawals);
  }

  private void ask(PlanPeers peers, String peer, Questions due) {
    try {
      begin(peer);
      CompletableFuture<PlanPeers.Answer> unused =
          peers
              .offer(peer, due.knownNames.getOrDefault(peer, ""), due.longest)
              .copy()
              .orTimeout(LONGEST_WAIT, TimeUnit.SECONDS)
              .whenComplete((told, failure) -> answered(peer, failure == null ? told : null, due));
    } catch (RuntimeException e) {
      answered(peer, null, due);
    } catch (OutOfMemoryError e) {
      answered(peer, null, due); // else nobody would ask this peer again
      OutOfMemory.tell(e);
    }
  }

  /** Notes a question, whose end {@link #answered} notes, whatever fails. */
  private synchronized void begin(String peer) {
    asked.add(peer);
  }

  private synchronized void answered(String peer, PlanPeers.@Nullable Answer told, Questions due) {
    asked.remove(peer);
    boolean isLate = due.withdrawals != withdrawals || !others().contains(peer);
    if (told != null && !isLate && !told.name().equals(due.knownNames.get(peer))) {
      heard.put(peer, new PeerOffer(told, due.longest));
    }
  }
}
