package io.holdfast.monitoring;

import io.holdfast.fs.metrics.Metric;
import io.holdfast.fs.metrics.Metrics;
import io.holdfast.monitoring.FiguresFile.Leaf;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The figures of {@code stats.json} and {@code peers.json} that each metric shows. Nothing declares
 * them: this class changes one figure after the other, and sees which metrics change with it.
 * Immutable.
 */
final class MetricSources {
  private final FiguresFile file;
  private final Map<String, Set<String>> found = new LinkedHashMap<>();

  private MetricSources(FiguresFile file) {
    this.file = file;
  }

  static MetricSources find() throws IOException {
    FiguresFile file = FiguresFile.read();
    MetricSources sources = new MetricSources(file);
    Scrape before = file.scrape();
    for (Leaf leaf : file.leaves()) {
      if (!sources.isNameOfARow(leaf.path())) {
        Scrape after = file.changed(leaf).scrape();
        Metrics.all().forEach(metric -> sources.compare(metric, leaf, before, after));
      }
    }
    return sources;
  }

  /** Returns the paths of a metric's figures: {label} is a key, or a text; [label] a row. */
  List<String> of(Metric metric) {
    return List.copyOf(found.getOrDefault(metric.name(), Set.of()));
  }

  /** The first figure of a row is its name. */
  private boolean isNameOfARow(List<Object> path) {
    int last = path.size() - 1;
    return last > 0
        && path.get(last - 1) instanceof Integer
        && nameKey(path.subList(0, last)).equals(path.get(last));
  }

  private Object nameKey(List<Object> row) {
    return ((Map<?, ?>) file.at(row)).keySet().iterator().next();
  }

  private void compare(Metric metric, Leaf leaf, Scrape before, Scrape after) {
    List<Scrape.Sample> gone = samples(metric, before);
    List<Scrape.Sample> come = samples(metric, after);
    Set<Scrape.Sample> same = new HashSet<>(gone);
    same.retainAll(come);
    gone.removeAll(same);
    come.removeAll(same);
    if (!gone.isEmpty() || !come.isEmpty()) {
      boolean info = metric.type() == Metric.Type.INFO; // its labels are the figures
      Map<String, String> labels = info ? Map.of() : (gone.isEmpty() ? come : gone).get(0).labels();
      found
          .computeIfAbsent(metric.name(), name -> new LinkedHashSet<>())
          .add(path(metric, leaf, labels));
    }
  }

  private static List<Scrape.Sample> samples(Metric metric, Scrape scrape) {
    List<Scrape.Sample> samples = new ArrayList<>();
    scrape.families().stream()
        .filter(family -> family.name().equals(metric.name()))
        .forEach(family -> samples.addAll(family.samples()));
    return samples;
  }

  private String path(Metric metric, Leaf leaf, Map<String, String> labels) {
    boolean peers = leaf.path().get(0).equals(FiguresFile.PEERS);
    List<String> steps = new ArrayList<>(peers ? List.of("peers") : List.of());
    for (int i = 1; i < leaf.path().size(); i++) {
      Object step = leaf.path().get(i);
      if (step instanceof Integer) {
        List<Object> row = leaf.path().subList(0, i + 1);
        Object key = nameKey(row);
        Object name = file.at(FiguresFile.with(row, key));
        String label = label(metric, labels, name);
        steps.add(key.equals(label) ? "[" + label + "]" : "[" + key + "=" + label + "]");
      } else {
        String label = label(metric, labels, step);
        steps.add(label.isEmpty() ? (String) step : "{" + label + "}");
      }
    }
    if (metric.type() == Metric.Type.HISTOGRAM) {
      return String.join(".", steps.subList(0, steps.indexOf("durations") + 1));
    }
    String text = label(metric, labels, leaf.value());
    return String.join(".", steps) + (text.isEmpty() ? "" : ".{" + text + "}");
  }

  /** Returns the label that has a value, or nothing. */
  private static String label(Metric metric, Map<String, String> labels, Object value) {
    return metric.labels().stream()
        .filter(label -> value instanceof String text && text.equals(labels.get(label)))
        .findFirst()
        .orElse("");
  }
}
