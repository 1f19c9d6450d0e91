package io.holdfast.fs.plan;

import io.holdfast.fs.sampler.TorchSampler;
import io.holdfast.policy.cluster.ClusterPlan;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Makes a plan of the offers of all nodes: the same one on each node that has the same offers. Not
 * thread-safe.
 */
final class PlanMaker {
  /** The part of the room that stays free, for nodes that are not equally far. */
  private static final int PART_SPARE = 128;

  /** The least part of the capacity that the files of the list need. */
  private static final int PART_LEAST = 4;

  /** The most files that a rank may have open at a time. */
  private static final int MOST_OPEN = 16;

  /** The most reads by which the nodes may differ before an item makes way too late. */
  private static final int MOST_LAG = 256;

  private static final int LEAST_LAG = 4;

  /** The lag, as a part of what a rank reads in an epoch. */
  private static final int PART_LAG = 32;

  private final Offers offered;
  private final PlanOffer mine;
  private final RankJob job;

  /** The offers of all nodes, by their addresses. */
  private final Map<String, PlanOffer> offers = new TreeMap<>();

  /**
   * Takes the offers.
   *
   * @param job a job of this node
   */
  PlanMaker(Offers offered, RankJob job) {
    this.offered = offered;
    this.mine = offered.mine();
    this.job = job;
  }

  /** Returns why there is no plan; empty if {@link #make} makes one. */
  String objection() {
    int nodes = offered.members().size();
    String why = nodes > ClusterPlan.MOST_NODES ? "there are too many nodes" : agreement();
    if (!why.isEmpty()) {
      return why;
    }
    if (room() < Math.max(1, mine.capacity() / PART_LEAST)) {
      return "files that are not in the list take the room";
    }
    double copies = (double) room() / job.files.weight() * nodes;
    return PlanHeap.hasRoom(job.files.size(), copies)
        ? ""
        : "the list is too long for the heap and so many nodes";
  }

  /** Returns why the offers do not make a plan; empty if they do. */
  private String agreement() {
    int nodes = offered.members().size();
    if (nodes < 2) {
      return "there are no other nodes";
    }
    if (offered.count() < nodes) {
      return "%d of %d nodes have offered their parts".formatted(offered.count(), nodes);
    }
    offers.put(offered.members().get(0), mine);
    for (String peer : offered.members().subList(1, nodes)) {
      String why = take(peer, offered.others().getOrDefault(peer, PeerOffer.NONE));
      if (!why.isEmpty()) {
        return why;
      }
    }
    BitSet ranks = new BitSet();
    offers.values().forEach(offer -> offer.ranks().forEach(ranks::set));
    int count = offers.values().stream().mapToInt(offer -> offer.ranks().size()).sum();
    return count == mine.world() && ranks.cardinality() == count
        ? ""
        : "the nodes have %d different ranks of %d".formatted(ranks.cardinality(), mine.world());
  }

  /** Takes a peer's offer; returns why it does not go with this node's, or nothing. */
  private String take(String peer, PeerOffer told) {
    PlanOffer offer = null;
    if (!told.isTooLong()) {
      try {
        offer = told.read();
      } catch (IllegalArgumentException e) {
        return peer + " offers what this node does not understand";
      }
    }
    if (offer == null || !offer.isOfSameOrder(mine)) {
      return peer + " reads another order";
    }
    if (offer.epoch() != mine.epoch()) {
      return "%s begins epoch %d, and this node %d".formatted(peer, offer.epoch(), mine.epoch());
    }
    if (mine.isOfOtherCapacity(offer.capacity())) {
      return peer + " has another capacity";
    }
    offers.put(peer, offer);
    return "";
  }

  /** Computes the plan, which takes some time. */
  ActivePlan make() {
    List<String> nodes = List.copyOf(offers.keySet());
    Integer[] nodeOfRank = new Integer[mine.world()];
    List<BitSet> residents = new ArrayList<>();
    for (int node = 0; node < nodes.size(); node++) {
      PlanOffer offer = offers.get(nodes.get(node));
      for (int rank : offer.ranks()) {
        nodeOfRank[rank] = node;
      }
      residents.add(offer.residents());
    }
    int self = nodes.indexOf(offered.members().get(0));
    int lag = Math.max(LEAST_LAG, Math.min(MOST_LAG, job.share / PART_LAG));
    TorchSampler sampler = job.sampler;
    int count = job.files.size();
    ClusterPlan plan =
        new ClusterPlan(
            new ClusterPlan.Cluster(nodes.size(), Arrays.asList(nodeOfRank), room(), lag),
            self,
            mine.epoch(),
            epoch -> sampler.at(epoch).indicesOfAllRanks(count),
            count,
            job.files::weight,
            residents);
    return new ActivePlan(
        job.files,
        new ActivePlan.Nodes(nodes, self, mine.ranks()),
        Math.min(MOST_OPEN, lag / 2),
        plan,
        (BitSet) mine.residents().clone()); // the plan changes it, and the offer stands
  }

  /** Returns how many bytes each node has for files of the list. Equal on all nodes. */
  private long room() {
    long capacity = Long.MAX_VALUE;
    long room = Long.MAX_VALUE;
    long dataset = 0;
    for (PlanOffer each : offers.values()) {
      capacity = Math.min(capacity, each.capacity());
      room = Math.min(room, each.room());
      dataset = Math.max(dataset, each.dataset());
    }
    // second copies leave room for single copies of what is not in the list
    int nodes = offers.size();
    long beyond = Math.max(0, capacity - job.files.weight() / nodes);
    long others = Math.min(Math.max(0, dataset - job.files.weight()) / nodes, beyond);
    long most = Math.min(room, capacity - others);
    return most - most / PART_SPARE;
  }
}
