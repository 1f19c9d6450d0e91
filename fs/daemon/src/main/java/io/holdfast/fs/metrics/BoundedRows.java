package io.holdfast.fs.metrics;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BinaryOperator;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/**
 * Bounds the rows of a list, and so the values of a label. A row that got a place keeps it for as
 * long as it is in the list; one more row sums up the others. A row that was among the others stays
 * there, also when a place is free: without it, their counters would go back. Not thread-safe.
 *
 * @param <T> a row
 */
final class BoundedRows<T> {
  /** The name of the row that sums up the others. */
  static final String OTHER = "other";

  private final int most;
  private final Function<T, String> name;
  private final UnaryOperator<T> asOther;
  private final BinaryOperator<T> sum;
  private final Set<String> places = new LinkedHashSet<>();

  /** The rows that have been among the others. */
  private final Set<String> summed = new HashSet<>();

  /**
   * Creates a bound; no row has a place yet.
   *
   * @param most the most rows with a name of their own
   * @param name returns the name of a row; {@link #OTHER} for one that is always among the others
   * @param asOther returns a row with only the figures that can be added up, under {@link #OTHER}
   * @param sum adds two such rows
   */
  BoundedRows(int most, Function<T, String> name, UnaryOperator<T> asOther, BinaryOperator<T> sum) {
    this.most = most;
    this.name = name;
    this.asOther = asOther;
    this.sum = sum;
  }

  /** Returns the rows that have a place, and the sum of the others if there are any. */
  List<T> of(List<T> rows) {
    Set<String> names =
        rows.stream().map(name).collect(Collectors.toCollection(LinkedHashSet::new));
    places.retainAll(names);
    summed.retainAll(names);
    summed.add(OTHER);
    for (String each : names) {
      if (places.size() < most && !summed.contains(each)) {
        places.add(each);
      } else if (!places.contains(each)) {
        summed.add(each);
      }
    }
    List<T> bounded = new ArrayList<>();
    List<T> others = new ArrayList<>();
    rows.forEach(row -> (places.contains(name.apply(row)) ? bounded : others).add(row));
    others.stream().map(asOther).reduce(sum).ifPresent(bounded::add);
    return bounded;
  }
}
