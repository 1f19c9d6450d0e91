package io.holdfast.fs.metrics;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where values are in nested maps and lists: keys with dots between. {@code {label}} stands for
 * every key of a map, or for a text that is there, whose value is 1 then; {@code [field]} and
 * {@code [field=label]} for every row of a list. Keys, texts and fields become labels. Immutable.
 *
 * <p>A truth value is 1 or 0. Keys that end in {@code _us} have microseconds, which become seconds.
 * What is missing, or negative because nobody knows it, has no value.
 */
final class FigurePath {
  private static final double MICROS = 1e6;

  private final List<String> steps;

  /** Takes what was found. */
  @FunctionalInterface
  interface Sink<T> {
    /** Takes a value, or a part of the figures, with its labels in the order of the path. */
    void take(Map<String, String> labels, T value);
  }

  private FigurePath(List<String> steps) {
    this.steps = steps;
  }

  static FigurePath parse(String path) {
    return new FigurePath(List.of(path.split("\\.", -1)));
  }

  static String lastKey(String path) {
    return path.substring(path.lastIndexOf('.') + 1);
  }

  /** Returns the names of the labels that values get. */
  List<String> labels() {
    return steps.stream().filter(FigurePath::isLabel).map(FigurePath::label).toList();
  }

  private static boolean isLabel(String step) {
    return step.startsWith("{") || step.startsWith("[");
  }

  private static String label(String step) {
    String inner = step.substring(1, step.length() - 1);
    return inner.substring(inner.indexOf('=') + 1);
  }

  private static String field(String step) {
    return step.substring(1, step.length() - 1).split("=", 2)[0];
  }

  /** Passes the numbers that are there. */
  void numbers(Map<String, Object> figures, Sink<Double> sink) {
    double unit = steps.get(steps.size() - 1).endsWith("_us") ? MICROS : 1;
    walk(
        figures,
        0,
        Map.of(),
        (labels, value) -> {
          double number = number(value);
          if (number >= 0) {
            sink.take(labels, number / unit);
          }
        });
  }

  private static double number(Object value) {
    if (value instanceof Boolean is) {
      return is ? 1 : 0;
    }
    return value instanceof Number some ? some.doubleValue() : -1;
  }

  /** Passes whatever is there. */
  void values(Map<String, Object> figures, Sink<Object> sink) {
    walk(figures, 0, Map.of(), sink);
  }

  private void walk(@Nullable Object at, int depth, Map<String, String> labels, Sink<Object> sink) {
    if (at == null) {
      return;
    }
    if (depth == steps.size()) {
      sink.take(labels, at);
      return;
    }
    String step = steps.get(depth);
    if (step.startsWith("[")) {
      rows(at, depth, labels, sink);
    } else if (step.startsWith("{")) {
      keys(at, depth, labels, sink);
    } else if (at instanceof Map<?, ?> map) {
      walk(map.get(step), depth + 1, labels, sink);
    }
  }

  private void rows(Object list, int depth, Map<String, String> labels, Sink<Object> sink) {
    String step = steps.get(depth);
    if (list instanceof List<?> rows) {
      for (Object row : new ArrayList<>(rows)) {
        Object name = row instanceof Map<?, ?> map ? map.get(field(step)) : null;
        if (name != null) {
          walk(row, depth + 1, with(labels, label(step), name.toString()), sink);
        }
      }
    }
  }

  private void keys(Object at, int depth, Map<String, String> labels, Sink<Object> sink) {
    String label = label(steps.get(depth));
    if (at instanceof Map<?, ?> map) {
      map.forEach(
          (key, value) -> walk(value, depth + 1, with(labels, label, String.valueOf(key)), sink));
    } else if (at instanceof String text) {
      walk(1, depth + 1, with(labels, label, text), sink);
    }
  }

  private static Map<String, String> with(Map<String, String> labels, String name, String value) {
    Map<String, String> all = new LinkedHashMap<>(labels);
    all.put(name, value);
    return all;
  }
}
