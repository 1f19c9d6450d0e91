package io.holdfast.fs.workload;

import io.holdfast.fs.allocate.Objective;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/** The policies by their names. Stateless. */
public final class MemoryPolicies {
  private static final List<Supplier<MemoryPolicy>> ALL =
      List.of(
          ProportionalPolicy::new,
          GreedyPolicy::new,
          TunePolicy::new,
          SilodPolicy::new,
          () -> new HoldfastPolicy("holdfast", Objective.THROUGHPUT),
          () -> new HoldfastPolicy("holdfast-makespan", Objective.MAKESPAN),
          OptimumPolicy::new);

  /** All names, in the order in which they are shown. */
  public static final List<String> WORDS = ALL.stream().map(each -> each.get().word()).toList();

  private MemoryPolicies() {}

  /**
   * Reads names.
   *
   * @throws IllegalArgumentException if one is not known, with one line for the user
   */
  public static List<String> parse(List<String> words) {
    Set<String> known = new LinkedHashSet<>();
    words.forEach(word -> known.add(of(word).word()));
    return List.copyOf(known);
  }

  /** Returns a policy for one simulation. */
  static MemoryPolicy of(String word) {
    return ALL.stream()
        .map(Supplier::get)
        .filter(policy -> policy.word().equals(word))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "'%s' is not known: choose of %s".formatted(word, String.join(", ", WORDS))));
  }
}
