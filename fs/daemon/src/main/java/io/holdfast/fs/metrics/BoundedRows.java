package io.holdfast.fs.metrics;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BinaryOperator;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * Bounds the rows of a list, and so the values of a label. A row that got a place keeps it for as
 * long as it is in the list; one more row sums up the others. If places changed with the figures,
 * counters would seem to go back. Not thread-safe.
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

  /**
   * Creates a bound; no row has a place yet.
   *
   * @param most the most rows with a name of their own
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
    Map<String, T> byName = new LinkedHashMap<>();
    rows.forEach(row -> byName.put(name.apply(row), row));
    places.retainAll(byName.keySet());
    for (String each : byName.keySet()) {
      if (places.size() < most && !each.equals(OTHER)) {
        places.add(each);
      }
    }
    List<T> bounded = new ArrayList<>();
    List<T> others = new ArrayList<>();
    byName.forEach((each, row) -> (places.contains(each) ? bounded : others).add(row));
    others.stream().map(asOther).reduce(sum).ifPresent(bounded::add);
    return bounded;
  }
}
