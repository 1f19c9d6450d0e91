package io.holdfast.fs.allocate;

import io.holdfast.fs.figures.Bottleneck;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Reads a plan from an object as JSON has it. Stateless. */
public final class PlanReader {
  static final String BUDGET = "budget_bytes";
  static final String MOUNTS = "mounts";

  /** The key of a name. */
  public static final String NAME = "name";

  static final String DATASET = "dataset_bytes";
  static final String CAPACITY = "capacity_bytes";
  static final String FLOOR = "capacity_min_bytes";
  static final String CEILING = "capacity_max_bytes";
  static final String WEIGHT = "weight";
  static final String ORIGIN = "origin";
  static final String READERS = "readers";
  static final String ORIGIN_RATE = "origin_bytes_per_second";
  static final String MEMORY_RATE = "memory_bytes_per_second";
  static final String DEMAND = "demand_bytes_per_second";
  static final String PREPARATION = "preparation_bytes_per_second";
  static final String ACCELERATOR = "accelerator_bytes_per_second";

  private static final List<String> PLAN_KEYS = List.of(BUDGET, MOUNTS);
  private static final List<String> MOUNT_KEYS =
      List.of(
          NAME,
          DATASET,
          CAPACITY,
          FLOOR,
          CEILING,
          WEIGHT,
          ORIGIN,
          READERS,
          ORIGIN_RATE,
          MEMORY_RATE,
          DEMAND,
          PREPARATION,
          ACCELERATOR);

  /** The keys that say how fast a job reads. */
  public static final List<String> SPEED_KEYS =
      List.of(
          NAME,
          DATASET,
          ORIGIN,
          READERS,
          ORIGIN_RATE,
          MEMORY_RATE,
          DEMAND,
          PREPARATION,
          ACCELERATOR);

  private static final int MOST_MOUNTS = 500;
  static final long MOST_WEIGHT = 1_000_000;

  /** A petabyte a second. */
  static final long MOST_RATE = 1_000_000_000_000_000L;

  private PlanReader() {}

  /**
   * Reads a plan.
   *
   * @param json an object, with numbers as they are written
   * @throws IllegalArgumentException with one line that names the key and says what to do
   */
  public static Plan read(Map<?, ?> json) {
    PlanObject plan = new PlanObject("", json);
    plan.requireKnown(PLAN_KEYS);
    long budget = plan.whole(BUDGET, 1, Long.MAX_VALUE);
    List<?> list = plan.list(MOUNTS, "mounts");
    if (list.isEmpty() || list.size() > MOST_MOUNTS) {
      throw new IllegalArgumentException(
          "%s has %,d elements: give from 1 to %,d mounts"
              .formatted(MOUNTS, list.size(), MOST_MOUNTS));
    }
    List<PlannedMount> mounts = new ArrayList<>();
    for (int i = 0; i < list.size(); i++) {
      mounts.add(mount(PlanObject.of(MOUNTS + "[" + i + "]", "mount", list.get(i))));
    }
    return new Plan(budget, mounts);
  }

  private static PlannedMount mount(PlanObject unnamed) {
    String name = unnamed.text(NAME);
    PlanObject mount = unnamed.named(name);
    mount.requireKnown(MOUNT_KEYS);
    long dataset = mount.whole(DATASET, 1, Long.MAX_VALUE);
    return new PlannedMount(name, dataset, rates(mount), capacity(mount, dataset));
  }

  /**
   * Reads how fast a job reads: a mount without capacity, floor and ceiling.
   *
   * @param job has {@link #SPEED_KEYS}
   * @param weight of its fair share
   */
  public static PlannedMount unbounded(PlanObject job, long weight) {
    return new PlannedMount(
        job.text(NAME),
        job.whole(DATASET, 1, Long.MAX_VALUE),
        rates(job),
        new Capacity(0, 0, Long.MAX_VALUE, weight));
  }

  private static Capacity capacity(PlanObject mount, long dataset) {
    long floor = mount.whole(FLOOR, 0, Long.MAX_VALUE, 0);
    if (floor > dataset) {
      throw mount.wrong(FLOOR, "must not exceed dataset_bytes, %,d: lower it".formatted(dataset));
    }
    long ceiling = mount.whole(CEILING, 0, Long.MAX_VALUE, Long.MAX_VALUE);
    if (ceiling < floor) {
      throw mount.wrong(
          CEILING, "must not be less than capacity_min_bytes, %,d: raise it".formatted(floor));
    }
    return new Capacity(
        mount.whole(CAPACITY, 0, Long.MAX_VALUE, 0),
        floor,
        ceiling,
        mount.whole(WEIGHT, 1, MOST_WEIGHT, 1));
  }

  private static Rates rates(PlanObject mount) {
    long readers = mount.whole(READERS, 1, OriginShare.MOST_READERS, 1);
    OriginShare origin = mount.has(ORIGIN) ? new OriginShare(mount.text(ORIGIN), readers) : null;
    long originRate = mount.rate(ORIGIN_RATE, MOST_RATE);
    long memoryRate = mount.rate(MEMORY_RATE, MOST_RATE);
    Long preparation = mount.has(PREPARATION) ? mount.rate(PREPARATION, MOST_RATE) : null;
    Long accelerator = mount.has(ACCELERATOR) ? mount.rate(ACCELERATOR, MOST_RATE) : null;
    if (preparation == null && accelerator == null) {
      return new Rates(
          origin, originRate, memoryRate, mount.rate(DEMAND, MOST_RATE), Bottleneck.UNKNOWN);
    }
    Bottleneck bound = bound(preparation, accelerator);
    Long lower = bound == Bottleneck.PREPARATION ? preparation : accelerator;
    long demand = Objects.requireNonNull(lower);
    if (mount.has(DEMAND) && mount.rate(DEMAND, MOST_RATE) != demand) {
      throw mount.wrong(
          DEMAND,
          "must be the lower of %s and %s, %,d: leave it out"
              .formatted(PREPARATION, ACCELERATOR, demand));
    }
    return new Rates(origin, originRate, memoryRate, demand, bound);
  }

  private static Bottleneck bound(@Nullable Long preparation, @Nullable Long accelerator) {
    boolean prepares = preparation != null && (accelerator == null || preparation < accelerator);
    return prepares ? Bottleneck.PREPARATION : Bottleneck.ACCELERATOR;
  }
}
