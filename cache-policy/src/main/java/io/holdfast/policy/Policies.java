package io.holdfast.policy;

import java.util.List;

/** Makes policies by the names that users give. */
public final class Policies {

  private static final List<String> NAMES = List.of("minio", "none");

  private Policies() {}

  /** The names that {@link #create} knows, the default first. */
  public static List<String> names() {
    return NAMES;
  }

  /**
   * Makes the policy of that name.
   *
   * <ul>
   *   <li>{@code minio}: first come, until full, never replaced. The cache of CoorDL (Mohan et al.,
   *       "Analyzing and Mitigating Data Stalls in DNN Training", PVLDB 14(5), 2021). With items of
   *       one size, every epoch from the second on hits exactly as many as fit; with mixed sizes,
   *       what is left over at the end goes to the next item that is small enough. When the
   *       capacity shrinks, residents chosen at random make way: a choice by age or size would make
   *       what remains unlike the dataset.
   *   <li>{@code none}: admits nothing; every epoch is a first one.
   * </ul>
   *
   * @param seed of every random choice; the same seed and calls give the same answers
   * @throws IllegalArgumentException if there is no such policy, or the capacity is negative
   */
  public static CachePolicy create(String name, long capacity, long seed) {
    return switch (name) {
      case "minio" -> new ComposedPolicy(name, capacity, Admission.ALWAYS, Eviction.never(seed));
      case "none" -> new ComposedPolicy(name, capacity, Admission.NEVER, Eviction.never(seed));
      default ->
          throw new IllegalArgumentException(
              "unknown policy '" + name + "': one of " + String.join(", ", NAMES));
    };
  }
}
