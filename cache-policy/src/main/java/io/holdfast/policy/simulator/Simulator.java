package io.holdfast.policy.simulator;

import io.holdfast.policy.CachePolicy;
import io.holdfast.policy.Policies;
import io.holdfast.policy.cluster.CooperativeCache;
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
  /** The policy of {@link CooperativeCache}, for {@link Coordination#KNOWN} only. */
  public static final String COOPERATIVE = "cooperative";

  /** The clairvoyant bound, which only a simulator can have. */
  private static final String BELADY = "belady";

  /** Accesses between two reports of progress. */
  private static final int STEP = 1 << 16;

  private final Scenario scenario;
  private final Dataset dataset;
  private final int nodes;

  /** Whether each item belongs to one node, which alone keeps it. */
  private final boolean owned;

  private final Progress progress;

  private Simulator(Scenario scenario, Progress progress, String policy) {
    boolean known = scenario.cluster().coordination() == Coordination.KNOWN;
    if (policy.equals(COOPERATIVE) && !known) {
      throw new IllegalArgumentException(policy + " needs nodes that know the orders");
    }
    this.scenario = scenario;
    this.dataset = scenario.dataset();
    this.nodes = scenario.cluster().nodes();
    this.owned =
        nodes > 1
            && (scenario.cluster().coordination() == Coordination.PEERS
                || (known && !policy.equals(BELADY)));
    this.progress = progress;
  }

  /** The names of all policies that can be simulated. */
  public static List<String> policies() {
    List<String> names = new ArrayList<>(Policies.names());
    names.add(BELADY);
    names.add(COOPERATIVE);
    return List.copyOf(names);
  }

  /**
   * Runs a scenario with one policy.
   *
   * @param capacity bytes, of each node
   * @throws IllegalArgumentException if there is no such policy, the capacity is not above 0, or
   *     the policy needs orders that are known
   */
  public static Run run(Scenario scenario, String policy, long capacity, Progress progress) {
    if (capacity < 1) {
      throw new IllegalArgumentException("the capacity must be above 0: " + capacity);
    }
    Simulator simulator = new Simulator(scenario, progress, policy);
    return new Run(policy, capacity, scenario, simulator.run(policy, capacity));
  }

  private List<Run.Epoch> run(String policy, long capacity) {
    Caches caches =
        policy.equals(COOPERATIVE)
            ? new Cooperative(capacity)
            : new Separate(policies(policy, capacity));
    Play play = new Play(caches);
    List<Run.Epoch> epochs = new ArrayList<>();
    for (int epoch = 1; epoch <= scenario.epochs(); epoch++) {
      play.begin();
      caches.begin(epoch);
      each(epoch, play);
      epochs.add(play.end(epoch));
    }
    caches.check();
    return epochs;
  }

  private CachePolicy[] policies(String name, long capacity) {
    CachePolicy[] caches = new CachePolicy[nodes];
    if (name.equals(BELADY)) {
      Foresight foresight = new Foresight(nodes);
      for (int epoch = 1; epoch <= lastKnown(scenario.epochs()); epoch++) {
        each(epoch, foresight);
      }
      Arrays.setAll(
          caches, node -> Policies.belady(capacity, foresight.accesses(node), dataset.items()));
      return caches;
    }
    SplittableRandom seeds = new SplittableRandom(scenario.seed());
    for (int node = 0; node < nodes; node++) {
      caches[node] = Policies.create(name, capacity, seeds.nextLong());
      caches[node].datasetSize(owned ? dataset.weight() / nodes : dataset.weight());
    }
    return caches;
  }

  /**
   * Returns the last epoch that is known in an epoch. Nodes that know the orders know those beyond
   * the last epoch that is played, too: else its figures would be those of a training's end.
   */
  private int lastKnown(int epoch) {
    boolean known = scenario.cluster().coordination() == Coordination.KNOWN;
    return known ? epoch + CooperativeCache.MOST_KNOWN - 2 : epoch;
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
    return owned ? scenario.cluster().placement().owner(dataset.hash(item)) : reader;
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

  /** The memory of all nodes. */
  private interface Caches {
    /** Begins an epoch. */
    void begin(int epoch);

    /**
     * Reads an item, and decides who keeps it.
     *
     * @return the node whose memory it comes from, or {@link CooperativeCache#ORIGIN}
     */
    int read(int reader, int keeper, int item);

    /** Returns the bytes that were pushed since the last call. */
    long takePushed();

    void check();
  }

  /** A cache on each node, which knows nothing of the others. */
  private final class Separate implements Caches {
    private final CachePolicy[] caches;

    Separate(CachePolicy[] caches) {
      this.caches = caches;
    }

    @Override
    public void begin(int epoch) {}

    @Override
    public int read(int reader, int keeper, int item) {
      CachePolicy cache = caches[keeper];
      boolean resident = cache.contains(item);
      cache.access(item);
      if (resident) {
        return keeper;
      }
      cache.offer(item, dataset.hash(item), dataset.weight(item));
      return CooperativeCache.ORIGIN;
    }

    @Override
    public long takePushed() {
      return 0;
    }

    @Override
    public void check() {
      for (CachePolicy each : caches) {
        each.check();
      }
    }
  }

  /** One cache of all nodes, which knows the orders of the coming epochs. */
  private final class Cooperative implements Caches, CooperativeCache.Moves {
    private final CooperativeCache cache;
    private int announced;
    private long pushed;

    Cooperative(long capacity) {
      long room = Math.min(capacity, dataset.weight());
      cache = new CooperativeCache(nodes, room, dataset.items(), dataset::weight, this);
    }

    @Override
    public void begin(int epoch) {
      int[] readers = new int[dataset.items()];
      while (announced < lastKnown(epoch)) {
        each(++announced, (reader, keeper, item) -> readers[item] = reader);
        cache.announce(readers);
      }
      cache.nextEpoch();
    }

    @Override
    public int read(int reader, int keeper, int item) {
      return cache.read(reader, item);
    }

    @Override
    public void kept(int node, int item) {}

    @Override
    public void pushed(int from, int to, int item) {
      pushed += dataset.size(item);
    }

    @Override
    public void evicted(int node, int item) {}

    @Override
    public long takePushed() {
      long bytes = pushed;
      pushed = 0;
      return bytes;
    }

    @Override
    public void check() {
      cache.check();
    }
  }

  /** Asks the caches, and counts. */
  private final class Play implements Taker {
    private final Caches caches;
    private final int together;
    private long accesses;
    private long hits;
    private long memoryBytes;
    private long peerBytes;
    private long originBytes;
    private int sinceProgress;

    Play(Caches caches) {
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
      long size = dataset.size(item);
      int source = caches.read(reader, keeper, item);
      if (source == CooperativeCache.ORIGIN) {
        originBytes += size;
      } else if (source == reader) {
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
      return new Run.Epoch(
          epoch, accesses, hits, memoryBytes, peerBytes, originBytes, caches.takePushed());
    }
  }
}
