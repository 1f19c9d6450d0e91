package io.holdfast.policy.simulator;

import io.holdfast.policy.CachePolicy;
import io.holdfast.policy.Policies;
import io.holdfast.policy.simulator.Scenario.Coordination;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Runs a scenario against a policy. Every access is a hit in the reader's own memory, or comes from
 * a peer's memory or the origin; then the item is offered to the policy of the node that keeps it.
 *
 * <p>Nodes and jobs take turns, item by item. Nothing takes time: jobs that read the same item at
 * the same time share a fetch only if they have one order.
 *
 * <p>Not thread-safe; one object runs one scenario.
 */
public final class Simulator {
  /** The clairvoyant bound, which only a simulator can have. */
  private static final String BELADY = "belady";

  /** Accesses between two reports of progress. */
  private static final int STEP = 1 << 16;

  private final Scenario scenario;
  private final Dataset dataset;
  private final int nodes;
  private final Progress progress;

  private Simulator(Scenario scenario, Progress progress) {
    this.scenario = scenario;
    this.dataset = scenario.dataset();
    this.nodes = scenario.cluster().nodes();
    this.progress = progress;
  }

  /** The names of all policies that can be simulated. */
  public static List<String> policies() {
    List<String> names = new ArrayList<>(Policies.names());
    names.add(BELADY);
    return List.copyOf(names);
  }

  /**
   * Runs a scenario with one policy.
   *
   * @param capacity bytes, of each node
   * @throws IllegalArgumentException if there is no such policy, or the capacity is not above 0
   */
  public static Run run(Scenario scenario, String policy, long capacity, Progress progress) {
    if (capacity < 1) {
      throw new IllegalArgumentException("the capacity must be above 0: " + capacity);
    }
    Simulator simulator = new Simulator(scenario, progress);
    return new Run(policy, capacity, scenario, simulator.run(policy, capacity));
  }

  private List<Run.Epoch> run(String policy, long capacity) {
    Play play = new Play(policies(policy, capacity));
    List<Run.Epoch> epochs = new ArrayList<>();
    for (int epoch = 1; epoch <= scenario.epochs(); epoch++) {
      play.begin();
      each(epoch, play);
      epochs.add(play.end(epoch));
    }
    for (CachePolicy each : play.caches) {
      each.check();
    }
    return epochs;
  }

  private CachePolicy[] policies(String name, long capacity) {
    CachePolicy[] caches = new CachePolicy[nodes];
    if (name.equals(BELADY)) {
      Foresight foresight = new Foresight(nodes);
      for (int epoch = 1; epoch <= scenario.epochs(); epoch++) {
        each(epoch, foresight);
      }
      Arrays.setAll(
          caches, node -> Policies.belady(capacity, foresight.accesses(node), dataset.items()));
      return caches;
    }
    SplittableRandom seeds = new SplittableRandom(scenario.seed());
    boolean peers = scenario.cluster().coordination() == Coordination.PEERS;
    for (int node = 0; node < nodes; node++) {
      caches[node] = Policies.create(name, capacity, seeds.nextLong());
      caches[node].datasetSize(peers ? dataset.weight() / nodes : dataset.weight());
    }
    return caches;
  }

  /** Takes accesses one by one. */
  private interface Taker {
    /**
     * Takes an access.
     *
     * @param reader node that reads
     * @param keeper node whose cache the item belongs to
     */
    void take(int reader, int keeper, int item);
  }

  /** Passes all accesses of an epoch in order; the order is the same each time. */
  private void each(int epoch, Taker taker) {
    int orders = scenario.sharedOrder() ? 1 : scenario.jobs();
    boolean alone = scenario.cluster().coordination() == Coordination.NONE;
    int[][] order = new int[alone ? orders * nodes : orders][];
    SplittableRandom seeds = new SplittableRandom(scenario.seed() * 31 + epoch);
    for (int i = 0; i < order.length; i++) {
      order[i] = scenario.order().epoch(epoch, seeds.split());
    }
    for (int i = 0; i < order[0].length; i++) {
      for (int k = 0; k < order.length; k++) {
        int item = order[k][i];
        int reader = alone ? k % nodes : i % nodes;
        taker.take(reader, keeper(reader, item), item);
      }
    }
  }

  private int keeper(int reader, int item) {
    return scenario.cluster().coordination() == Coordination.PEERS && nodes > 1
        ? scenario.cluster().placement().owner(dataset.hash(item))
        : reader;
  }

  /** Collects the future accesses of each cache. */
  private static final class Foresight implements Taker {
    private final int[][] accesses;
    private final int[] counts;

    Foresight(int nodes) {
      accesses = new int[nodes][1 << 10];
      counts = new int[nodes];
    }

    @Override
    public void take(int reader, int keeper, int item) {
      if (counts[keeper] == accesses[keeper].length) {
        accesses[keeper] = Arrays.copyOf(accesses[keeper], 2 * counts[keeper]);
      }
      accesses[keeper][counts[keeper]++] = item;
    }

    int[] accesses(int node) {
      return Arrays.copyOf(accesses[node], counts[node]);
    }
  }

  /** Asks the caches, and counts. */
  private final class Play implements Taker {
    private final CachePolicy[] caches;
    private final int together;
    private long accesses;
    private long hits;
    private long memoryBytes;
    private long peerBytes;
    private long originBytes;
    private int sinceProgress;

    Play(CachePolicy[] caches) {
      this.caches = caches;
      this.together = scenario.sharedOrder() ? scenario.jobs() : 1;
    }

    void begin() {
      accesses = 0;
      hits = 0;
      memoryBytes = 0;
      peerBytes = 0;
      originBytes = 0;
    }

    @Override
    public void take(int reader, int keeper, int item) {
      CachePolicy cache = caches[keeper];
      long size = dataset.size(item);
      boolean resident = cache.contains(item);
      cache.access(item);
      if (!resident) {
        originBytes += size;
        cache.offer(item, dataset.hash(item), dataset.weight(item));
      } else if (reader == keeper) {
        hits++;
        memoryBytes += size;
      } else {
        peerBytes += size;
      }
      // jobs that read in step: one fetch, and the other jobs find the item there
      hits += together - 1;
      memoryBytes += (together - 1) * size;
      accesses += together;
      if (++sinceProgress == STEP) {
        sinceProgress = 0;
        progress.advanced((long) STEP * together);
      }
    }

    Run.Epoch end(int epoch) {
      return new Run.Epoch(epoch, accesses, hits, memoryBytes, peerBytes, originBytes);
    }
  }
}
