package io.holdfast.fs.control;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Looks figures up in nested maps, such as those of {@code stats.json}; what is missing is 0, empty
 * or false. Immutable as far as its map is.
 */
public final class Figures {
  private final Map<?, ?> map;

  /** Looks into a map, such as {@link ControlClient#stats()} gives. */
  public Figures(Map<?, ?> map) {
    this.map = map;
  }

  /** Returns what is nested under a key. */
  public Figures group(String key) {
    return new Figures(map.get(key) instanceof Map<?, ?> group ? group : Map.of());
  }

  /** Returns the groups of a list. */
  public List<Figures> groups(String key) {
    if (!(map.get(key) instanceof List<?> list)) {
      return List.of();
    }
    List<Figures> groups = new ArrayList<>();
    for (Object each : list) {
      if (each instanceof Map<?, ?> group) {
        groups.add(new Figures(group));
      }
    }
    return groups;
  }

  /** Tells whether there is a value. */
  public boolean has(String key) {
    return map.get(key) != null;
  }

  /** Returns a whole number. */
  public long number(String key) {
    return map.get(key) instanceof Number number ? number.longValue() : 0;
  }

  /** Returns a number. */
  public double real(String key) {
    return map.get(key) instanceof Number number ? number.doubleValue() : 0;
  }

  /** Returns anything as text. */
  public String text(String key) {
    Object value = map.get(key);
    return value == null ? "" : value.toString();
  }

  /** Tells whether a value is true. */
  public boolean is(String key) {
    return Boolean.TRUE.equals(map.get(key));
  }

  /** Returns all that are numbers, by name. */
  public SortedMap<String, Long> numbers() {
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
