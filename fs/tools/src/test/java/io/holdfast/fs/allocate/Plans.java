package io.holdfast.fs.allocate;

import io.holdfast.fs.figures.Bottleneck;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Plans for tests. Stateless. */
final class Plans {
  static final long MB = 1_000_000;
  static final long GB = 1000 * MB;
  static final long TB = 1000 * GB;

  private Plans() {}

  /** Returns a mount without bounds, of weight 1. */
  static PlannedMount mount(String name, long dataset, long origin, long memory, long demand) {
    return new PlannedMount(
        name,
        dataset,
        new Rates(null, origin, memory, demand, Bottleneck.UNKNOWN),
        new Capacity(0, 0, Long.MAX_VALUE, 1));
  }

  static PlannedMount weighing(PlannedMount mount, long weight) {
    Capacity is = mount.capacity();
    return new PlannedMount(
        mount.name(),
        mount.dataset(),
        mount.rates(),
        new Capacity(is.now(), is.least(), is.most(), weight));
  }

  static PlannedMount bounded(PlannedMount mount, long least, long most) {
    Capacity is = mount.capacity();
    return new PlannedMount(
        mount.name(),
        mount.dataset(),
        mount.rates(),
        new Capacity(is.now(), least, most, is.weight()));
  }

  static PlannedMount reading(PlannedMount mount, String origin) {
    return reading(mount, origin, 1);
  }

  static PlannedMount reading(PlannedMount mount, String origin, long readers) {
    Rates is = mount.rates();
    return new PlannedMount(
        mount.name(),
        mount.dataset(),
        new Rates(
            new OriginShare(origin, readers),
            is.origin(),
            is.memory(),
            is.demand(),
            is.demandBound()),
        mount.capacity());
  }

  /** The case: two jobs, memory for one of them. */
  static Plan worked() {
    return new Plan(
        TB,
        List.of(
            mount("fast", TB, 50 * MB, 1000 * MB, 200 * MB),
            mount("slow", TB, 50 * MB, 1000 * MB, 60 * MB)));
  }

  /** Any mounts and any budget: also such that memory does not help, or all of it does not. */
  static Plan random(SplittableRandom random, int mounts) {
    List<PlannedMount> all = new ArrayList<>();
    double datasets = 0;
    for (int i = 0; i < mounts; i++) {
      long dataset = between(random, GB, 10 * TB);
      long origin = between(random, 10 * MB, 5 * GB);
      long memory = Math.max(1, (long) (origin * factor(random, 0.5, 1000)));
      long demand = Math.max(1, (long) (origin * factor(random, 0.3, 2.0 * memory / origin)));
      PlannedMount mount = mount("mount" + i, dataset, origin, memory, demand);
      all.add(weighing(mount, random.nextInt(1, 5)));
      datasets += dataset;
    }
    return new Plan(Math.max(1, (long) (datasets * factor(random, 0.01, 1.2))), all);
  }

  static long between(SplittableRandom random, long least, long most) {
    return (long) (least * factor(random, 1, (double) most / least));
  }

  /** A number whose logarithm is uniformly distributed. */
  static double factor(SplittableRandom random, double least, double most) {
    return least * Math.pow(most / least, random.nextDouble());
  }
}
