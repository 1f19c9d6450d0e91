package io.holdfast.fs.workload;

import static io.holdfast.fs.workload.Workloads.INSTANT;
import static io.holdfast.fs.workload.Workloads.mount;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.holdfast.fs.allocate.Allocation;
import io.holdfast.fs.allocate.Allocator;
import io.holdfast.fs.allocate.DemandCurve;
import io.holdfast.fs.allocate.Objective;
import io.holdfast.fs.allocate.Plan;
import io.holdfast.fs.allocate.PlannedMount;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;

/** The bound, beside what was computed by hand and by other means. */
class LinearProgramTest {

  /**
   * One origin of 100 for two that want 200. With all memory for one of them both read 300. With
   * half of it each, both read 200.
   */
  @Test
  void sharedOrigin_isLeftToOne() {
    List<PlannedMount> mounts =
        List.of(
            mount("one", 1000, "nas", 100, INSTANT, 200),
            mount("two", 1000, "nas", 100, INSTANT, 200));
    LinearProgram program =
        new LinearProgram(mounts, new double[] {0.5, 0.5}, new double[] {100, 100});
    program.limitMemory(1000);

    assertThat(total(program)).isCloseTo(300, within(0.01));
  }

  /** The steeper one gets what the other's floor leaves, which is half of the way to its knee. */
  @Test
  void floor_isKept() {
    List<PlannedMount> mounts =
        List.of(
            mount("small", 10, null, 10_000_000, INSTANT, 1_000_000_000),
            mount("large", 1000, null, 10_000_000, INSTANT, 19_999_000));
    LinearProgram program =
        new LinearProgram(mounts, new double[] {0, 0}, new double[] {10_000_000, 15_000_000});
    program.limitMemory(255);

    LinearProgram.Solution solution = program.solve();

    assertThat(solution.speeds().get(1)).isCloseTo(15_000_000, within(100.0));
    assertThat(solution.shares().get(1) * 1000).isCloseTo(250.025, within(0.01));
    assertThat(solution.shares().get(0) * 10).isCloseTo(4.975, within(0.01));
  }

  /** With own origins, straight lines are filled by their slopes: the steepest first. */
  @Test
  void ownOrigins_areFilledBySlope() {
    for (int seed = 0; seed < 200; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      List<PlannedMount> mounts = mounts(random, 2 + seed % 6, null);
      double memory =
          random.nextDouble() * mounts.stream().mapToDouble(PlannedMount::dataset).sum();
      LinearProgram program =
          new LinearProgram(mounts, new double[mounts.size()], new double[mounts.size()]);
      program.limitMemory(memory);

      double total = total(program);

      assertThat(total)
          .as("seed %d", seed)
          .isCloseTo(bySlope(mounts, memory), Percentage.withPercentage(0.01));
    }
  }

  private static double total(LinearProgram program) {
    return program.solve().speeds().stream().mapToDouble(speed -> speed).sum();
  }

  private static double bySlope(List<PlannedMount> mounts, double memory) {
    List<double[]> slopes = new ArrayList<>();
    double total = 0;
    for (PlannedMount mount : mounts) {
      DemandCurve curve = DemandCurve.of(mount, (double) mount.rates().origin());
      long knee = curve.sufficient();
      total += curve.speed(0);
      if (knee > 0) {
        slopes.add(new double[] {(curve.speed(knee) - curve.speed(0)) / knee, knee});
      }
    }
    slopes.sort(Comparator.comparingDouble((double[] slope) -> slope[0]).reversed());
    double left = memory;
    for (double[] slope : slopes) {
      double bytes = Math.min(left, slope[1]);
      total += slope[0] * bytes;
      left -= bytes;
    }
    return total;
  }

  /** No division exceeds it, nor does what Holdfast proposes. */
  @Test
  void anyMix_staysBelow() {
    for (int seed = 0; seed < 200; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      List<PlannedMount> mounts = mounts(random, 2 + seed % 4, seed % 2 == 0 ? "nas" : null);
      long memory =
          1
              + (long)
                  (random.nextDouble() * mounts.stream().mapToDouble(PlannedMount::dataset).sum());
      List<Allocation.Share> shares =
          Allocator.allocate(new Plan(memory, mounts), Objective.THROUGHPUT).mounts();
      double[] fair = shares.stream().mapToDouble(each -> each.speeds().fair()).toArray();
      double[] parts = new double[fair.length];
      IntStream.range(0, parts.length)
          .forEach(
              i ->
                  parts[i] =
                      (double) shares.get(i).capacities().proposed() / mounts.get(i).dataset());
      LinearProgram program =
          new LinearProgram(
              mounts, parts, Arrays.stream(fair).map(speed -> Math.max(0, speed - 1)).toArray());
      program.limitMemory((double) memory);

      double bound = total(program);

      double proposed = shares.stream().mapToDouble(each -> each.speeds().proposed()).sum();
      assertThat(proposed).as("seed %d", seed).isLessThanOrEqualTo(bound * 1.00001 + 1);
    }
  }

  private static List<PlannedMount> mounts(SplittableRandom random, int count, String origin) {
    List<PlannedMount> mounts = new ArrayList<>();
    long shared = random.nextLong(100_000, 10_000_000);
    for (int i = 0; i < count; i++) {
      long rate = origin == null ? random.nextLong(100_000, 10_000_000) : shared;
      mounts.add(
          mount(
              "mount" + i,
              random.nextLong(1_000_000, 1_000_000_000_000L),
              origin,
              rate,
              (long) (rate * (0.5 + 50 * random.nextDouble())),
              (long) (rate * (0.3 + 40 * random.nextDouble()))));
    }
    return mounts;
  }
}
