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

  /** The heap that a copy of a file takes while the plan grows. */
  private static final int BYTES_OF_COPY = 48;

  /** The lag, as a part of what a rank reads in an epoch. */
  private static final int PART_LAG = 32;

  private final List<String> members;
  private final Map<String, String> texts;
  private final RankJob job;
  private final PlanOffer mine;
  private final Map<String, PlanOffer> offers = new TreeMap<>();

  /**
   * Takes the offers.
   *
   * @param members the addresses of all nodes, with this one first
   * @param texts the offers of those that have one
   * @param job a job of this node
   */
  PlanMaker(List<String> members, Map<String, String> texts, RankJob job, PlanOffer mine) {
    this.members = members;
    this.texts = texts;
    this.job = job;
    this.mine = mine;
  }

  /** Returns why there is no plan; empty if {@link #make} makes one. */
  String objection() {
    String why = members.size() > ClusterPlan.MOST_NODES ? "there are too many nodes" : agreement();
    if (!why.isEmpty()) {
      return why;
    }
    if (room() < Math.max(1, mine.capacity() / PART_LEAST)) {
      return "files that are not in the list take the room";
    }
    double copies = (double) room() / job.files.weight() * members.size();
    double bytes = job.files.size() * (Plans.BYTES_OF_FILE + copies * BYTES_OF_COPY);
    return bytes > Plans.mostBytes() ? "the list is too long for the heap and so many nodes" : "";
  }

  /** Returns why the offers do not make a plan; empty if they do. */
  private String agreement() {
    if (members.size() < 2) {
      return "there are no other nodes";
    }
    long offered = texts.values().stream().filter(text -> !text.isEmpty()).count();
    if (offered < members.size()) {
      return "%d of %d nodes have offered their parts".formatted(offered, members.size());
    }
    BitSet ranks = new BitSet();
    int count = 0;
    for (Map.Entry<String, String> each : texts.entrySet()) {
      PlanOffer offer;
      try {
        offer = PlanOffer.parse(each.getValue());
      } catch (IllegalArgumentException e) {
        return each.getKey() + " offers what this node does not understand";
      }
      if (!offer.order().equals(mine.order())
          || offer.files() != mine.files()
          || offer.world() != mine.world()) {
        return each.getKey() + " reads another order";
      }
      if (offer.epoch() != mine.epoch()) {
        return "%s begins epoch %d, and this node %d"
            .formatted(each.getKey(), offer.epoch(), mine.epoch());
      }
      if (mine.isOfOtherCapacity(offer.capacity())) {
        return each.getKey() + " has another capacity";
      }
      offer.ranks().forEach(ranks::set);
      count += offer.ranks().size();
      offers.put(each.getKey(), offer);
    }
    return count == mine.world() && ranks.cardinality() == count
        ? ""
        : "the nodes have %d different ranks of %d".formatted(ranks.cardinality(), mine.world());
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
    int self = nodes.indexOf(members.get(0));
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
        job.files, nodes, self, mine.ranks(), Math.min(MOST_OPEN, lag / 2), plan, mine.residents());
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
