package io.holdfast.fs.metrics;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Bounds the rows of a list, and so the values of a label: those that got a place keep it as long
 * as they are there, the others are added up in one row. If places changed with the figures,
 * counters would seem to go back. Not thread-safe.
 */
final class BoundedRows {
  /** What the row of all others is called. */
  static final String OTHER = "other";

  private final int most;
  private final String name;
  private final List<String> additive;
  private final Set<String> places = new LinkedHashSet<>();

  /**
   * Bounds a list.
   *
   * @param most rows with a name of their own
   * @param name the field with a row's name
   * @param additive the fields that the row of the others has
   */
  BoundedRows(int most, String name, List<String> additive) {
    this.most = most;
    this.name = name;
    this.additive = List.copyOf(additive);
  }

  /** Returns the rows that have a place, and one of the others where there are any. */
  List<Map<?, ?>> of(List<?> rows) {
    Map<String, Map<?, ?>> byName = new LinkedHashMap<>();
    for (Object row : rows) {
      if (row instanceof Map<?, ?> map) {
        byName.put(String.valueOf(map.get(name)), map);
      }
    }
    places.retainAll(byName.keySet());
    for (String each : byName.keySet()) {
      if (places.size() < most && !each.equals(OTHER)) {
        places.add(each);
      }
    }
    List<Map<?, ?>> bounded = new ArrayList<>();
    Map<String, Object> others = new LinkedHashMap<>();
    byName.forEach(
        (each, row) -> {
          if (places.contains(each)) {
            bounded.add(row);
          } else {
            others.put(name, OTHER);
            additive.forEach(field -> add(others, field, row.get(field)));
          }
        });
    if (!others.isEmpty()) {
      bounded.add(others);
    }
    return bounded;
  }

  private static void add(Map<String, Object> sums, String field, @Nullable Object value) {
    if (value instanceof Number number && number.doubleValue() >= 0) {
      double before = sums.get(field) instanceof Double sum ? sum : 0;
      sums.put(field, before + number.doubleValue());
    }
  }
}
