package io.holdfast.bench;

import io.holdfast.policy.CachePolicy;
import io.holdfast.policy.ItemHash;
import io.holdfast.policy.Policies;
import io.holdfast.policy.simulator.AccessOrder;
import io.holdfast.policy.simulator.Dataset;
import io.holdfast.policy.simulator.Progress;
import io.holdfast.policy.simulator.Run;
import io.holdfast.policy.simulator.Scenario;
import io.holdfast.policy.simulator.Simulator;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Measures the cost of a decision, the heap of a resident, and the speed of the simulator: {@code
 * packaging/bench/policies}.
 */
@Fork(
    value = 1,
    jvmArgs = {"-Xms3g", "-Xmx3g", "-XX:+UseSerialGC"})
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
public class PolicyBenchmark {

  /** The number of accesses of a simulated run. */
  private static final int ACCESSES = 10_000_000;

  /** A policy that is full, and as many items that are out as are in. */
  @State(Scope.Thread)
  public static class Full {
    private static final long WEIGHT = 4096;
    private static final int BATCH = 1 << 20;

    /** Residents. */
    @Param({"100000", "10000000"})
    public int residents;

    /** By name. */
    @Param({"minio", "minio-hash", "lru"})
    public String policy;

    private CachePolicy cache;
    private long[] items;
    private int next;

    /** Fills it, and prints what that took of the heap. */
    @Setup(Level.Trial)
    public void fill() {
      items = new long[BATCH];
      SplittableRandom random = new SplittableRandom(1);
      for (int i = 0; i < BATCH; i++) {
        items[i] = random.nextLong(2L * residents);
      }
      long before = usedHeap();
      cache = Policies.create(policy, residents * WEIGHT, 1);
      for (long item = 0; item < residents; item++) {
        cache.offer(item, ItemHash.of(item), WEIGHT);
      }
      System.out.printf(
          "%n%s: %.1f bytes of heap a resident at %,d%n",
          policy, (double) (usedHeap() - before) / residents, residents);
    }

    private static long usedHeap() {
      Runtime runtime = Runtime.getRuntime();
      for (int i = 0; i < 3; i++) {
        System.gc();
      }
      return runtime.totalMemory() - runtime.freeMemory();
    }

    long item() {
      next = (next + 1) & (BATCH - 1);
      return items[next];
    }
  }

  /** An item has been fetched, and may be resident by now: is it to be? */
  @Benchmark
  @BenchmarkMode(Mode.AverageTime)
  @OutputTimeUnit(TimeUnit.NANOSECONDS)
  public boolean decide(Full full) {
    long item = full.item();
    full.cache.access(item);
    return full.cache.offer(item, ItemHash.of(item), Full.WEIGHT).admitted();
  }

  /** Ten epochs over a million items. */
  @Benchmark
  @BenchmarkMode(Mode.Throughput)
  @OutputTimeUnit(TimeUnit.MICROSECONDS)
  @OperationsPerInvocation(ACCESSES)
  public Run simulate() {
    int items = ACCESSES / 10;
    Dataset dataset = Dataset.ofEqualSizes(items, 105_000);
    Scenario scenario = Scenario.of(dataset, AccessOrder.shuffle(items), 10, 1);
    return Simulator.run(scenario, "minio", dataset.capacity(0.35), Progress.NONE);
  }
}
