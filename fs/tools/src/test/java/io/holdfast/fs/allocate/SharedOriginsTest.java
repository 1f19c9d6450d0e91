package io.holdfast.fs.allocate;

import static io.holdfast.fs.allocate.Plans.GB;
import static io.holdfast.fs.allocate.Plans.MB;
import static io.holdfast.fs.allocate.Plans.TB;
import static io.holdfast.fs.allocate.Plans.mount;
import static io.holdfast.fs.allocate.Plans.reading;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;

/** Several mounts of one origin, whose rate for each depends on what the others read. */
class SharedOriginsTest {
  private static final String NAS = "nas";

  private static Plan plan(long budget, PlannedMount... mounts) {
    List<PlannedMount> all = new ArrayList<>();
    for (PlannedMount each : mounts) {
      all.add(reading(each, NAS));
    }
    return new Plan(budget, all);
  }

  @Test
  void mounts_thatAllWait_getEqualParts() {
    PlannedMount one = mount("one", TB, 100 * MB, 100 * GB, GB);
    PlannedMount two = mount("two", TB, 100 * MB, 100 * GB, GB);
    Split split = new SharedOrigins(plan(TB, one, two)).of(new long[2]);

    assertThat(split.originRate(0)).isCloseTo(50e6, within(1.0));
    assertThat(split.speed(1)).isCloseTo(50e6, within(1.0));
  }

  @Test
  void mount_thatWantsLittle_getsItAndTheOtherTheRest() {
    PlannedMount light = mount("light", TB, 100 * MB, 100 * GB, 20 * MB);
    PlannedMount heavy = mount("heavy", TB, 100 * MB, 100 * GB, GB);
    Split split = new SharedOrigins(plan(TB, light, heavy)).of(new long[2]);

    assertThat(split.speed(0)).isEqualTo(20e6);
    assertThat(split.speed(1)).isCloseTo(80e6, within(1.0));
  }

  /** An origin serves one request after the other, and who has more readers has more requests. */
  @Test
  void mountWithMoreReaders_getsAsManyTimesAsMuch() {
    PlannedMount many = reading(mount("many", TB, 100 * MB, 100 * GB, GB), NAS, 12);
    PlannedMount few = reading(mount("few", TB, 100 * MB, 100 * GB, GB), NAS, 4);
    Split split = new SharedOrigins(new Plan(TB, List.of(many, few))).of(new long[2]);

    assertThat(split.originRate(0)).isCloseTo(75e6, within(1.0));
    assertThat(split.originRate(1)).isCloseTo(25e6, within(1.0));
  }

  /** The readers of a job that takes little hardly wait. */
  @Test
  void mountWithMoreReaders_thatWantsLittle_leavesTheRest() {
    PlannedMount many = reading(mount("many", TB, 100 * MB, 100 * GB, 20 * MB), NAS, 12);
    PlannedMount few = reading(mount("few", TB, 100 * MB, 100 * GB, GB), NAS, 4);
    Split split = new SharedOrigins(new Plan(TB, List.of(many, few))).of(new long[2]);

    assertThat(split.speed(0)).isEqualTo(20e6);
    assertThat(split.speed(1)).isCloseTo(80e6, within(1.0));
    assertThat(split.originRate(0)).as("nobody gets more than the origin has").isEqualTo(100e6);
  }

  @Test
  void origin_thatIsFastEnough_isEachMountsAlone() {
    PlannedMount one = mount("one", TB, 100 * MB, 100 * GB, 40 * MB);
    PlannedMount two = mount("two", TB, 100 * MB, 100 * GB, 60 * MB);
    Split split = new SharedOrigins(plan(TB, one, two)).of(new long[2]);

    assertThat(split.originRate(0)).isEqualTo(100e6);
    assertThat(split.originRate(1)).isEqualTo(100e6);
  }

  /**
   * At the fixed point a busy origin gives all it has, and each reader sees the same rate, but for
   * those that would see more than the origin has.
   */
  @Test
  void anyMix_isAFixedPoint() {
    for (int seed = 0; seed < 500; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      Plan plan = crowded(random, 2 + seed % 4);
      long[] capacities =
          plan.mounts().stream().mapToLong(each -> random.nextLong(each.dataset() + 1)).toArray();
      Split split = new SharedOrigins(plan).of(capacities);

      double rate = plan.mounts().get(0).rates().origin();
      double load = 0;
      double perReader = 0;
      for (int i = 0; i < capacities.length; i++) {
        perReader =
            Math.max(perReader, split.originRate(i) / plan.mounts().get(i).rates().readers());
      }
      boolean busy = false;
      for (int i = 0; i < capacities.length; i++) {
        double part = perReader * plan.mounts().get(i).rates().readers();
        busy |= split.originRate(i) < rate;
        assertThat(split.originRate(i))
            .as("seed %d", seed)
            .isBetween(0.0, rate)
            .satisfiesAnyOf(
                is -> assertThat(is).isEqualTo(rate),
                is -> assertThat(is).isCloseTo(part, Percentage.withPercentage(1e-6)));
        load += split.speed(i) * (1 - (double) capacities[i] / plan.mounts().get(i).dataset());
      }
      if (busy) {
        assertThat(load).as("seed %d", seed).isCloseTo(rate, Percentage.withPercentage(0.0001));
      } else {
        assertThat(load).as("seed %d", seed).isLessThanOrEqualTo(rate * 1.000001);
      }
    }
  }

  @Test
  void moreMemoryForOne_slowsNobody() {
    for (int seed = 0; seed < 500; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      Plan plan = crowded(random, 2 + seed % 4);
      SharedOrigins origins = new SharedOrigins(plan);
      long[] capacities =
          plan.mounts().stream().mapToLong(each -> random.nextLong(each.dataset() + 1)).toArray();
      Split before = origins.ofUseful(capacities);
      capacities[0] += random.nextLong(plan.mounts().get(0).dataset() - capacities[0] + 1);
      Split after = origins.ofUseful(capacities);

      for (int i = 0; i < capacities.length; i++) {
        assertThat(after.speed(i) * 1.000001)
            .as("seed %d", seed)
            .isGreaterThanOrEqualTo(before.speed(i));
      }
    }
  }

  /** The greatest total on a grid of capacities up to the knee, nobody below the fair share. */
  @Test
  void throughput_ofTwoMountsAtOneOrigin_isNearTheBestOfAGrid() {
    for (int seed = 0; seed < 300; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      Plan plan = seed % 2 == 0 ? sharing(random, 2) : crowded(random, 2);
      SharedOrigins origins = new SharedOrigins(plan);
      Split fair = origins.ofUseful(FairShare.of(plan));
      double best = 0;
      for (int k = 0; k <= 200; k++) {
        long first = Math.min(plan.mounts().get(0).dataset(), (long) (plan.budget() / 200.0 * k));
        long second = Math.min(plan.mounts().get(1).dataset(), plan.budget() - first);
        Split split = origins.ofUseful(new long[] {first, second});
        boolean kept = true;
        for (int i = 0; i < 2; i++) {
          kept &= split.speed(i) >= fair.speed(i) * 0.999999;
        }
        best = kept ? Math.max(best, split.speed(0) + split.speed(1)) : best;
      }
      Allocation allocation = Allocator.allocate(plan, Objective.THROUGHPUT);
      double total = allocation.mounts().stream().mapToDouble(s -> s.speeds().proposed()).sum();
      assertThat(total).as("seed %d", seed).isGreaterThanOrEqualTo(best * 0.999);
    }
  }

  /** The same for three mounts, on a coarser grid. */
  @Test
  void throughput_ofThreeMountsAtOneOrigin_isNearTheBestOfAGrid() {
    for (int seed = 0; seed < 60; seed++) {
      Plan plan = sharing(new SplittableRandom(1000 + seed), 3);
      SharedOrigins origins = new SharedOrigins(plan);
      Split fair = origins.ofUseful(FairShare.of(plan));
      double best = 0;
      for (int k = 0; k <= 40; k++) {
        for (int l = 0; l <= 40 - k; l++) {
          long[] parts = {share(plan, 0, k), share(plan, 1, l), share(plan, 2, 40 - k - l)};
          Split split = origins.ofUseful(parts);
          boolean kept = true;
          double total = 0;
          for (int i = 0; i < 3; i++) {
            kept &= split.speed(i) >= fair.speed(i) * 0.999999;
            total += split.speed(i);
          }
          best = kept ? Math.max(best, total) : best;
        }
      }
      double total =
          Allocator.allocate(plan, Objective.THROUGHPUT).mounts().stream()
              .mapToDouble(each -> each.speeds().proposed())
              .sum();
      assertThat(total).as("seed %d", seed).isGreaterThanOrEqualTo(best * 0.995);
    }
  }

  private static long share(Plan plan, int mount, int parts) {
    return Math.min(plan.mounts().get(mount).dataset(), (long) (plan.budget() / 40.0 * parts));
  }

  /**
   * The fixed point beside time that passes: in each small step an origin gives equal parts to the
   * mounts that wait for it, and a mount reads what it has from memory meanwhile.
   */
  @Test
  void fixedPoint_isWhatTimeSettlesAt() {
    for (int seed = 0; seed < 200; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      int count = 2 + seed % 2;
      Plan plan = sharing(random, count);
      long[] capacities =
          plan.mounts().stream().mapToLong(each -> random.nextLong(each.dataset() + 1)).toArray();
      Split split = new SharedOrigins(plan).of(capacities);

      double rate = plan.mounts().get(0).rates().origin();
      double seen = rate;
      for (int step = 0; step < 20_000; step++) {
        double load = 0;
        for (int i = 0; i < count; i++) {
          PlannedMount mount = plan.mounts().get(i);
          double miss = 1 - (double) capacities[i] / mount.dataset();
          double perByte = miss / seen + (1 - miss) / mount.rates().memory();
          load += miss * Math.min((double) mount.rates().demand(), 1 / perByte);
        }
        // who is given more than there is gets less in the next step, and the other way round
        seen = Math.min(rate, seen * (1 + 0.05 * (rate / Math.max(load, rate / 1000) - 1)));
      }
      assertThat(split.originRate(0)).as("seed %d", seed).isCloseTo(seen, within(seen * 1e-4));
    }
  }

  /** Some have more readers than others. */
  private static Plan crowded(SplittableRandom random, int mounts) {
    Plan plan = sharing(random, mounts);
    return new Plan(
        plan.budget(),
        plan.mounts().stream().map(each -> reading(each, NAS, random.nextLong(1, 65))).toList());
  }

  private static Plan sharing(SplittableRandom random, int mounts) {
    Plan plan = Plans.random(random, mounts);
    long rate = Plans.between(random, 10 * MB, 5 * GB);
    return new Plan(
        plan.budget(),
        plan.mounts().stream()
            .map(
                each ->
                    new PlannedMount(
                        each.name(),
                        each.dataset(),
                        reading(each, NAS, each.rates().readers()).rates().withOrigin(rate),
                        each.capacity()))
            .toList());
  }
}
