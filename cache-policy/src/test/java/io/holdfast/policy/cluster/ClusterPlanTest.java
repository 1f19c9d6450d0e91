package io.holdfast.policy.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.holdfast.policy.cluster.ClusterPlan.Cluster;
import io.holdfast.policy.simulator.AccessOrder;
import io.holdfast.policy.simulator.Dataset;
import io.holdfast.policy.simulator.Progress;
import io.holdfast.policy.simulator.Run;
import io.holdfast.policy.simulator.Scenario;
import io.holdfast.policy.simulator.Simulator;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.function.IntFunction;
import java.util.function.IntToLongFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Plays plans on nodes that are not equally far, and compares what they read with the plan, and the
 * plan with {@link Simulator}. Items have one weight if nothing else is said.
 */
final class ClusterPlanTest {
  private static final int ITEMS = 2000;
  private static final int EPOCHS = 40;
  private static final int LAST = 24;

  /** Returns what a sampler with this seed reads: a fresh permutation in each epoch. */
  private static IntFunction<int[]> shuffled(int items, long seed) {
    return epoch -> {
      Random random = new Random(seed * 1000 + epoch);
      int[] order = IntStream.range(0, items).toArray();
      for (int i = items - 1; i > 0; i--) {
        int other = random.nextInt(i + 1);
        int item = order[i];
        order[i] = order[other];
        order[other] = item;
      }
      return order;
    };
  }

  /** The nodes of a cluster, each with a plan of its own. */
  private static final class Nodes {
    final int count;
    final long capacity;
    final int lag;
    final IntFunction<int[]> orders;
    final IntToLongFunction weights;
    final int items;
    final List<ClusterPlan> plans = new ArrayList<>();
    final List<BitSet> residents = new ArrayList<>();
    final long[] used;
    PlannedEpoch[] now;
    Leavers[] leavers;
    long local;
    long peer;
    long origin;
    long refused;

    Nodes(int count, long capacity, int lag, int planLag, int items, IntToLongFunction weights) {
      this.count = count;
      this.capacity = capacity;
      this.lag = lag;
      this.items = items;
      this.weights = weights;
      orders = shuffled(items, 7);
      used = new long[count];
      now = new PlannedEpoch[count];
      leavers = new Leavers[count];
      List<Integer> nodeOfRank = IntStream.range(0, count).boxed().toList();
      for (int node = 0; node < count; node++) {
        residents.add(new BitSet());
      }
      for (int node = 0; node < count; node++) {
        plans.add(
            new ClusterPlan(
                new Cluster(count, nodeOfRank, capacity - capacity / 128, planLag),
                node,
                0,
                orders,
                items,
                weights,
                residents));
      }
    }

    void plan() {
      for (int node = 0; node < count; node++) {
        now[node] = plans.get(node).next();
        leavers[node] = new Leavers(now[node], residents.get(node), lag);
      }
    }

    /** Plays an epoch; each node is as far behind the first as is told, in files. */
    void play(int epoch, int[] behind) {
      plan();
      local = 0;
      peer = 0;
      origin = 0;
      refused = 0;
      int[] order = orders.apply(epoch);
      int most = Arrays.stream(behind).max().orElse(0);
      for (int at = 0; at < items / count + most; at++) {
        for (int node = 0; node < count; node++) {
          int position = at - behind[node];
          if (position >= 0 && position * count + node < items) {
            leavers[node].opened(node, position + 1);
            read(node, order[position * count + node]);
          }
        }
      }
    }

    void read(int node, int item) {
      PlannedEpoch plan = now[node];
      int holder = plan.holder(item);
      if (residents.get(node).get(item)) {
        local += weights.applyAsLong(item);
        return;
      }
      if (holder != PlannedEpoch.NONE && holder != node) {
        boolean there = residents.get(holder).get(item);
        if (there || (now[holder].hasAtEnd(item) && keep(holder, item))) {
          peer += weights.applyAsLong(item);
          origin += there ? 0 : weights.applyAsLong(item);
          leavers[holder].sent(item);
        } else {
          origin += weights.applyAsLong(item);
        }
      } else {
        origin += weights.applyAsLong(item);
      }
      if (plan.hasAtEnd(item)) {
        keep(node, item);
      }
    }

    boolean keep(int node, int item) {
      long weight = weights.applyAsLong(item);
      while (used[node] + weight > capacity) {
        int leaver = leavers[node].poll();
        if (leaver == Leavers.NONE) {
          refused++;
          return false;
        }
        if (residents.get(node).get(leaver)) {
          residents.get(node).clear(leaver);
          used[node] -= weights.applyAsLong(leaver);
        }
      }
      residents.get(node).set(item);
      used[node] += weight;
      return true;
    }
  }

  private static Run.Epoch simulated(int nodes, double c) {
    Scenario.Cluster cluster =
        new Scenario.Cluster(
            nodes, Scenario.Coordination.KNOWN, hash -> (int) Long.remainderUnsigned(hash, nodes));
    Scenario scenario =
        Scenario.of(Dataset.ofEqualSizes(ITEMS, 1 << 12), AccessOrder.shuffle(ITEMS), EPOCHS, 1)
            .on(cluster);
    long capacity = (long) (c * ITEMS * (1 << 12));
    List<Run.Epoch> epochs =
        Simulator.run(scenario, Simulator.COOPERATIVE, capacity, Progress.NONE).epochs();
    long[] sums = new long[4];
    for (Run.Epoch each : epochs.subList(EPOCHS - LAST, EPOCHS)) {
      sums[0] += each.memoryBytes();
      sums[1] += each.peerBytes();
      sums[2] += each.originBytes();
      sums[3] += each.pushedBytes();
    }
    return new Run.Epoch(1, 0, 0, sums[0], sums[1], sums[2], sums[3]);
  }

  /** A lag costs little, nor do nodes that are not equally far: less than 2 points. */
  @ParameterizedTest(name = "{0} nodes, c = {1}, lag {2} of {3}, behind {4}")
  @CsvSource({
    "2, .35, 0, 0, 0",
    "3, .35, 0, 0, 0",
    "4, .35, 0, 0, 0",
    "2, .35, 8, 16, 0",
    "2, .35, 8, 16, 4",
    "2, .35, 16, 32, 8",
    "3, .35, 8, 16, 4",
    "4, .35, 8, 16, 4",
    "4, .20, 8, 16, 4",
    "2, .65, 8, 16, 4"
  })
  void play_ofNodesThatAreNotEquallyFar_readsWhatTheSimulationSays(
      int count, double c, int lag, int planLag, int behind) {
    Nodes nodes = new Nodes(count, (long) (c * ITEMS), lag, planLag, ITEMS, item -> 1);
    int[] late = new int[count];
    late[count - 1] = behind;
    double[] sums = new double[4];
    double[] planned = new double[3];
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
      nodes.play(epoch, late);
      if (epoch >= EPOCHS - LAST) {
        sums[0] += nodes.local;
        sums[1] += nodes.peer;
        sums[2] += nodes.origin;
        sums[3] += nodes.refused;
        for (PlannedEpoch each : nodes.now) {
          planned[0] += each.shares().local();
          planned[1] += each.shares().peer();
          planned[2] += each.shares().origin();
        }
      }
    }
    double all = (double) ITEMS * LAST;
    Run.Epoch simulated = simulated(count, c);
    String where =
        "read %.3f %.3f %.3f, refused %.4f; planned %.3f %.3f %.3f; simulated %.3f %.3f %.3f"
            .formatted(
                sums[0] / all,
                sums[1] / all,
                sums[2] / all,
                sums[3] / all,
                planned[0] / all,
                planned[1] / all,
                planned[2] / all,
                simulated.byteHitRatio(),
                simulated.movedShare(),
                simulated.originShare());
    assertThat(sums[0] / all).as(where).isCloseTo(simulated.byteHitRatio(), within(.02));
    assertThat(sums[1] / all).as(where).isCloseTo(simulated.movedShare(), within(.02));
    assertThat(sums[2] / all).as(where).isCloseTo(simulated.originShare(), within(.02));
    for (int i = 0; i < 3; i++) {
      assertThat(sums[i] / all).as(where).isCloseTo(planned[i] / all, within(.01));
    }
  }

  /**
   * Several small items make way for a large one; the origin gives no more than what has no room.
   */
  @Test
  void play_ofItemsOfManySizes_readsNoMoreFromTheOriginThanWhatHasNoRoom() {
    IntToLongFunction weights = item -> 1 + item * 2654435761L % 40;
    long all = IntStream.range(0, ITEMS).mapToLong(weights).sum();
    for (int count = 2; count <= 4; count++) {
      Nodes nodes = new Nodes(count, (long) (.35 * all), 8, 16, ITEMS, weights);
      int[] late = new int[count];
      late[1] = 4;
      for (int epoch = 0; epoch < EPOCHS; epoch++) {
        nodes.play(epoch, late);
        double most = epoch == 0 ? 1 : Math.max(0, 1 - .35 * count);
        assertThat((double) nodes.origin / all).as("epoch %d", epoch).isLessThan(most + .02);
        for (int node = 0; node < count; node++) {
          long used = nodes.residents.get(node).stream().mapToLong(weights).sum();
          assertThat(used).isEqualTo(nodes.used[node]).isLessThanOrEqualTo(nodes.capacity);
        }
      }
    }
  }

  /** All nodes compute the same plan, and a node has what the others ask it for. */
  @Test
  void next_onAllNodes_agrees() {
    Nodes nodes = new Nodes(3, 700, 8, 16, ITEMS, item -> 1);
    for (int epoch = 0; epoch < 10; epoch++) {
      nodes.play(epoch, new int[3]);
      for (int item = 0; item < ITEMS; item++) {
        int holder = nodes.now[0].holder(item);
        for (PlannedEpoch each : nodes.now) {
          assertThat(each.holder(item)).isEqualTo(holder);
          assertThat(each.reader(item)).isEqualTo(nodes.now[0].reader(item));
        }
      }
    }
  }
}
