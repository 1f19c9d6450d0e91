package io.holdfast.fs.control;

import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Looks figures up in nested maps; what is missing is 0, empty or false. Immutable as far as its
 * map is.
 */
final class Figures {
  private final Map<?, ?> map;

  Figures(Map<?, ?> map) {
    this.map = map;
  }

  Figures group(String key) {
    return new Figures(map.get(key) instanceof Map<?, ?> group ? group : Map.of());
  }

  long number(String key) {
    return map.get(key) instanceof Number number ? number.longValue() : 0;
  }

  double real(String key) {
    return map.get(key) instanceof Number number ? number.doubleValue() : 0;
  }

  String text(String key) {
    Object value = map.get(key);
    return value == null ? "" : value.toString();
  }

  boolean is(String key) {
    return Boolean.TRUE.equals(map.get(key));
  }

  /** Returns all that are numbers, by name. */
  SortedMap<String, Long> numbers() {
    SortedMap<String, Long> numbers = new TreeMap<>();
    map.forEach(
        (key, value) -> {
          if (value instanceof Number number) {
            numbers.put(String.valueOf(key), number.longValue());
          }
        });
    return numbers;
  }
}
