package io.holdfast.policy;

import java.util.ArrayList;
import java.util.List;

/** Creates policies by the names that users give. */
public final class Policies {

  /** The name of the policy that admits what comes first, until full. */
  public static final String MINIO = "minio";

  /** The name of the policy that admits nothing. */
  public static final String NONE = "none";

  /** Policies that need not see hits: in a mount, hits never reach the daemon. */
  private static final List<String> MOUNTABLE = List.of(MINIO, "minio-hash", NONE);

  /** Reference policies for comparison. */
  private static final List<String> REFERENCES =
      List.of("lru", "fifo", "random", "tinylfu", "linux", "unbounded");

  private Policies() {}

  /** The names of policies for a mount, the default first. */
  public static List<String> mountable() {
    return MOUNTABLE;
  }

  /** All names that {@link #create} knows: those for a mount, then the others. */
  public static List<String> names() {
    List<String> names = new ArrayList<>(MOUNTABLE);
    names.addAll(REFERENCES);
    return List.copyOf(names);
  }

  /**
   * Creates the policy with a name.
   *
   * <ul>
   *   <li>{@code minio}: first come, until full, never replaced. The cache of CoorDL (Mohan et al.,
   *       "Analyzing and Mitigating Data Stalls in DNN Training", PVLDB 14(5), 2021). With items of
   *       one size, every epoch from the second on has as many hits as items fit. With mixed sizes,
   *       the last free bytes go to the next item that is small enough. When the capacity shrinks,
   *       random residents are evicted: a choice by age or size would make the rest unlike the
   *       dataset.
   *   <li>{@code minio-hash}: a share of the dataset, selected by hash: {@link HashShare}.
   *   <li>{@code none}: admits nothing; every epoch is like the first.
   *   <li>{@code lru}, {@code fifo}: {@link QueueEviction}.
   *   <li>{@code random}: evicts a random resident for a newcomer, each equally likely.
   *   <li>{@code tinylfu}: {@link TinyLfu}.
   *   <li>{@code linux}: the kernel's own page cache: {@link LinuxPageCache}.
   *   <li>{@code unbounded}: an unlimited capacity, as a bound.
   * </ul>
   *
   * @param seed seed of every random choice; the same seed and calls give the same answers
   * @throws IllegalArgumentException if there is no such policy, or the capacity is negative
   */
  public static CachePolicy create(String name, long capacity, long seed) {
    return switch (name) {
      case MINIO -> always(name, capacity, Eviction.never(seed), seed);
      case "minio-hash" -> {
        HashShare share = new HashShare();
        yield new ComposedPolicy(name, capacity, share, share, seed);
      }
      case NONE -> new ComposedPolicy(name, capacity, Admission.NEVER, Eviction.never(seed), seed);
      case "lru" -> always(name, capacity, QueueEviction.leastRecentlyUsed(), seed);
      case "fifo" -> always(name, capacity, QueueEviction.firstInFirstOut(), seed);
      case "random" -> always(name, capacity, Eviction.random(seed), seed);
      case "tinylfu" -> {
        TinyLfu tinyLfu = new TinyLfu();
        yield new ComposedPolicy(name, capacity, tinyLfu, tinyLfu, seed);
      }
      case "linux" -> always(name, capacity, new LinuxPageCache(), seed);
      case "unbounded" -> always(name, Long.MAX_VALUE, Eviction.never(seed), seed);
      default ->
          throw new IllegalArgumentException(
              "unknown policy '" + name + "': one of " + String.join(", ", names()));
    };
  }

  /**
   * Creates {@link Belady}'s policy, which knows the future.
   *
   * @param accesses every item that will be {@linkplain CachePolicy#access used}, in order
   * @param items number of items, counted from 0
   * @throws IllegalArgumentException if the capacity is negative
   */
  public static CachePolicy belady(long capacity, int[] accesses, int items) {
    Belady belady = new Belady(accesses, items);
    return new ComposedPolicy("belady", capacity, belady, belady, 0);
  }

  private static CachePolicy always(String name, long capacity, Eviction eviction, long seed) {
    return new ComposedPolicy(name, capacity, Admission.ALWAYS, eviction, seed);
  }
}
