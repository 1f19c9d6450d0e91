package io.holdfast.policy.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Random clusters, and a model of plain sets that does what the cache says. */
final class CooperativeCacheTest {

  static LongStream seeds() {
    return LongStream.range(0, 200).map(i -> System.nanoTime() * 31 + i);
  }

  /** A cluster that plays epochs, and checks each move. */
  private static final class Model implements CooperativeCache.Moves {
    final Random random;
    final int nodes;
    final long capacity;
    final long[] weights;
    final CooperativeCache cache;
    final List<Set<Integer>> kept = new ArrayList<>();
    final List<int[]> orders = new ArrayList<>();
    final Set<Integer> read = new HashSet<>();
    final int known;
    int epoch = -1;
    long originWeight;

    Model(Random random, int nodes, long capacity, long[] weights) {
      this.random = random;
      this.nodes = nodes;
      this.capacity = capacity;
      this.weights = weights;
      cache = new CooperativeCache(nodes, capacity, weights.length, item -> weights[item], this);
      for (int node = 0; node < nodes; node++) {
        kept.add(new HashSet<>());
      }
      known = 1 + random.nextInt(CooperativeCache.MOST_KNOWN - 1);
    }

    /** Plays an epoch, and returns the weight of what came from the origin. */
    long play() {
      epoch++;
      while (orders.size() < epoch + known) {
        int[] order = shuffled();
        orders.add(order);
        int[] readers = new int[weights.length];
        for (int i = 0; i < order.length; i++) {
          readers[order[i]] = i % nodes;
        }
        cache.announce(readers);
      }
      cache.nextEpoch();
      read.clear();
      originWeight = 0;
      int[] order = orders.get(epoch);
      for (int i = 0; i < order.length; i++) {
        read(i % nodes, order[i]);
      }
      cache.check();
      for (int node = 0; node < nodes; node++) {
        assertThat(cache.weight(node)).isEqualTo(weight(node));
      }
      return originWeight;
    }

    private void read(int node, int item) {
      boolean own = kept.get(node).contains(item);
      boolean anywhere = copies(item) > 0;
      Set<Integer> holders = new HashSet<>();
      for (int each = 0; each < nodes; each++) {
        if (kept.get(each).contains(item)) {
          holders.add(each);
        }
      }
      read.add(item);
      int source = cache.read(node, item);
      if (own) {
        assertThat(source).isEqualTo(node);
      } else if (anywhere) {
        assertThat(source).isIn(holders);
      } else {
        assertThat(source).isEqualTo(CooperativeCache.ORIGIN);
        originWeight += weights[item];
      }
    }

    private int[] shuffled() {
      int[] order = IntStream.range(0, weights.length).toArray();
      for (int i = order.length - 1; i > 0; i--) {
        int other = random.nextInt(i + 1);
        int item = order[i];
        order[i] = order[other];
        order[other] = item;
      }
      return order;
    }

    @Override
    public void kept(int node, int item) {
      assertThat(kept.get(node).add(item)).isTrue();
      assertThat(weight(node)).as("node %d has room", node).isLessThanOrEqualTo(capacity);
    }

    @Override
    public void pushed(int from, int to, int item) {
      assertThat(to).isNotEqualTo(from);
      assertThat(copies(item)).as("only what would be lost is pushed").isZero();
      kept(to, item);
    }

    @Override
    public void evicted(int node, int item) {
      assertThat(kept.get(node).remove(item)).isTrue();
      if (!read.contains(item)) {
        assertThat(copies(item)).as("item %d is still to be read", item).isPositive();
        int[] order = orders.get(epoch);
        int place = IntStream.range(0, order.length).filter(i -> order[i] == item).sum();
        assertThat(place % nodes).as("item %d is still to be read there", item).isNotEqualTo(node);
      }
    }

    long copies(int item) {
      return kept.stream().filter(each -> each.contains(item)).count();
    }

    long weight(int node) {
      return kept.get(node).stream().mapToLong(item -> weights[item]).sum();
    }

    /** Returns the weight of the items that some node keeps. */
    long covered() {
      return IntStream.range(0, weights.length)
          .filter(item -> copies(item) > 0)
          .mapToLong(item -> weights[item])
          .sum();
    }
  }

  /** As many items are in the cluster as fit, after each epoch; the origin gives the others. */
  @ParameterizedTest
  @MethodSource("seeds")
  void equalItems_origin_givesWhatDoesNotFit(long seed) {
    Random random = new Random(seed);
    int nodes = 2 + random.nextInt(7);
    int items = nodes + random.nextInt(150);
    long weight = 1L + random.nextInt(9);
    long capacity = 1 + (long) (random.nextDouble() * items * weight);
    long[] weights = new long[items];
    Arrays.fill(weights, weight);
    Model model = new Model(random, nodes, capacity, weights);
    long all = items * weight;
    long fits = Math.min(all, nodes * (capacity / weight) * weight);

    assertThat(model.play()).isEqualTo(all);
    for (int epoch = 1; epoch < 25; epoch++) {
      assertThat(model.covered()).isEqualTo(fits);
      assertThat(model.play()).isEqualTo(all - fits);
    }
  }

  /** Less than an item on each node is without use for the cluster. */
  @ParameterizedTest
  @MethodSource("seeds")
  void mixedItems_origin_givesWhatDoesNotFit(long seed) {
    Random random = new Random(seed);
    int nodes = 2 + random.nextInt(7);
    int items = nodes + random.nextInt(150);
    double sigma = random.nextDouble();
    long[] weights = new long[items];
    Arrays.setAll(
        weights, item -> Math.max(1, Math.round(100 * Math.exp(sigma * random.nextGaussian()))));
    long all = Arrays.stream(weights).sum();
    long largest = Arrays.stream(weights).max().orElseThrow();
    long capacity = 1 + (long) (random.nextDouble() * all);
    Model model = new Model(random, nodes, capacity, weights);
    long fits = Math.min(all, nodes * capacity);

    assertThat(model.play()).isEqualTo(all);
    for (int epoch = 1; epoch < 25; epoch++) {
      long lacking = all - model.covered();
      assertThat(lacking).isLessThan(all - fits + nodes * largest);
      assertThat(model.play()).isEqualTo(lacking);
    }
  }

  @Test
  void epochs_thatAreNotKnown_areRefused() {
    CooperativeCache cache = new Model(new Random(1), 2, 1, new long[] {1, 1}).cache;
    assertThatIllegalStateException()
        .isThrownBy(cache::nextEpoch)
        .withMessage("the readers of epoch 0 are not known");
    for (int epoch = 0; epoch < CooperativeCache.MOST_KNOWN; epoch++) {
      cache.announce(new int[] {0, 1});
    }
    assertThatIllegalStateException()
        .isThrownBy(() -> cache.announce(new int[] {0, 1}))
        .withMessage("16 epochs are known already");
    cache.nextEpoch();
    cache.nextEpoch();
    cache.announce(new int[] {0, 1});
  }

  /** The moves of a cluster of two nodes, as words. */
  private static List<String> moves(long capacity, int[][] readers, int[][] orders) {
    List<String> moves = new ArrayList<>();
    CooperativeCache.Moves words =
        new CooperativeCache.Moves() {
          @Override
          public void kept(int node, int item) {
            moves.add(node + " keeps " + item);
          }

          @Override
          public void pushed(int from, int to, int item) {
            moves.add(from + " pushes " + item + " to " + to);
          }

          @Override
          public void evicted(int node, int item) {
            moves.add(node + " evicts " + item);
          }
        };
    CooperativeCache cache = new CooperativeCache(2, capacity, readers[0].length, item -> 1, words);
    for (int[] epoch : readers) {
      cache.announce(epoch);
    }
    for (int epoch = 0; epoch < orders.length; epoch++) {
      cache.nextEpoch();
      for (int item : orders[epoch]) {
        cache.read(readers[epoch][item], item);
      }
    }
    return moves;
  }

  @Test
  void newcomer_thatIsReadAgainSooner_takesThePlaceOfAnItemThatWasRead() {
    int[][] readers = {{0, 0, 1, 1}, {1, 0, 1, 0}};
    assertThat(moves(1, readers, new int[][] {{0, 2, 1, 3}}))
        .containsExactly("0 keeps 0", "1 keeps 2", "0 evicts 0", "0 keeps 1");
  }

  @Test
  void newcomer_thatHasNoRoomAtItsReader_isPushedToItsNextReader() {
    int[][] readers = {{0, 0}, {0, 1}};
    assertThat(moves(1, readers, new int[][] {{0, 1}}))
        .containsExactly("0 keeps 0", "0 pushes 1 to 1");
  }

  @Test
  void itemOfAPeer_whereAllFit_isKeptByBothAndTheCopyThatIsReadLaterMakesWay() {
    int[][] readers = {{0, 1, 0}, {1, 0, 0}, {1, 0, 0}};
    assertThat(moves(2, readers, new int[][] {{0, 1, 2}, {0, 1, 2}}))
        .containsExactly(
            "0 keeps 0", "1 keeps 1", "0 keeps 2", "1 keeps 0", "0 evicts 0", "0 keeps 1");
  }

  @Test
  void newcomer_thatIsReadAgainSooner_isNotLostAgain() {
    int[][] readers = {{0, 1, 0, 1}, {0, 0, 1, 1}, {1, 0, 0, 1}};
    assertThat(moves(1, readers, new int[][] {{0, 1, 2, 3}, {0, 1, 2, 3}}))
        .containsExactly(
            "0 keeps 0", "1 keeps 1", "1 evicts 1", "1 keeps 3", "0 evicts 0", "0 keeps 1");
  }

  /** Node 0 takes item 1 over, and node 1 fills its place with item 2 in the same epoch. */
  @Test
  void itemOfAPeer_whereNotAllFit_movesToWhereItIsReadSooner() {
    int[][] readers = {{0, 1, 0, 1}, {0, 0, 1, 0}, {1, 0, 1, 0}};
    assertThat(moves(1, readers, new int[][] {{0, 1, 2, 3}, {0, 1, 2, 3}}))
        .containsExactly(
            "0 keeps 0", "1 keeps 1", "0 evicts 0", "0 keeps 1", "1 evicts 1", "1 keeps 2");
  }
}
