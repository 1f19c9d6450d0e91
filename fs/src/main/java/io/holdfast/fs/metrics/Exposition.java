package io.holdfast.fs.metrics;

import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot.InfoDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import io.prometheus.metrics.model.snapshots.Quantile;
import io.prometheus.metrics.model.snapshots.Quantiles;
import io.prometheus.metrics.model.snapshots.SummarySnapshot;
import io.prometheus.metrics.model.snapshots.SummarySnapshot.SummaryDataPointSnapshot;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Writes the figures of a mount as Prometheus reads them, text format 0.0.4. Thread-safe: one
 * scrape at a time, under the monitor, which guards which jobs and peers have a label of their own.
 */
public final class Exposition {
  /** The content type of {@link #text()}. */
  public static final String CONTENT_TYPE = PrometheusTextFormatWriter.CONTENT_TYPE;

  /** Jobs, and nodes, with a label of their own. */
  static final int MOST_LABELS = 64;

  private static final double MEDIAN = 0.5;
  private static final double HIGH = 0.99;

  private final String mount;
  private final Supplier<Map<String, Object>> stats;
  private final Supplier<List<Map<String, Object>>> peers;
  private final PrometheusTextFormatWriter writer = PrometheusTextFormatWriter.create();
  private final BoundedRows jobs =
      new BoundedRows(
          MOST_LABELS,
          "job",
          List.of("processes", "opens", "misses", "fetched_bytes", "stall_seconds"));
  private final BoundedRows nodes =
      new BoundedRows(
          MOST_LABELS, "node", List.of("items_in", "bytes_in", "items_out", "bytes_out", "errors"));

  /**
   * Creates one.
   *
   * @param mount the mount's name, a label of every metric
   * @param stats the figures of {@code stats.json}; touches neither the origin nor the own mount
   * @param peers the rows of {@code peers.json}, likewise
   */
  public Exposition(
      String mount,
      Supplier<Map<String, Object>> stats,
      Supplier<List<Map<String, Object>>> peers) {
    this.mount = mount;
    this.stats = stats;
    this.peers = peers;
  }

  /** Returns all metrics as they are now; the text is UTF-8. */
  public synchronized byte[] text() {
    Map<String, Object> figures = new LinkedHashMap<>(stats.get());
    figures.put("peers", nodes.of(peers.get()));
    if (figures.get("jobs") instanceof Map<?, ?> map && map.get("jobs") instanceof List<?> rows) {
      figures.put("jobs", Map.of("jobs", jobs.of(rows)));
    }
    List<MetricSnapshot> snapshots = new ArrayList<>();
    Metrics.all().forEach(metric -> snapshots.add(snapshot(metric, figures)));
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    try {
      writer.write(text, new MetricSnapshots(snapshots));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return text.toByteArray();
  }

  private MetricSnapshot snapshot(Metric metric, Map<String, Object> figures) {
    return switch (metric.type()) {
      case COUNTER -> counter(metric, figures);
      case GAUGE -> gauge(metric, figures);
      case INFO -> info(metric, figures);
      case SUMMARY -> summary(metric, figures);
      case HISTOGRAM -> histogram(metric, figures);
    };
  }

  private MetricSnapshot counter(Metric metric, Map<String, Object> figures) {
    CounterSnapshot.Builder builder =
        CounterSnapshot.builder().name(base(metric, "_total")).help(metric.meaning());
    FigurePath.parse(metric.figures().get(0))
        .numbers(
            figures,
            (labels, value) ->
                builder.dataPoint(
                    CounterDataPointSnapshot.builder().labels(of(labels)).value(value).build()));
    return builder.build();
  }

  private MetricSnapshot gauge(Metric metric, Map<String, Object> figures) {
    GaugeSnapshot.Builder builder =
        GaugeSnapshot.builder().name(metric.name()).help(metric.meaning());
    FigurePath.parse(metric.figures().get(0))
        .numbers(
            figures,
            (labels, value) ->
                builder.dataPoint(
                    GaugeDataPointSnapshot.builder().labels(of(labels)).value(value).build()));
    return builder.build();
  }

  private MetricSnapshot info(Metric metric, Map<String, Object> figures) {
    Map<String, String> all = new LinkedHashMap<>();
    for (String figure : metric.figures()) {
      FigurePath.parse(figure)
          .values(
              figures,
              (labels, value) -> all.put(FigurePath.lastKey(figure), String.valueOf(value)));
    }
    return InfoSnapshot.builder()
        .name(base(metric, "_info"))
        .help(metric.meaning())
        .dataPoint(InfoDataPointSnapshot.builder().labels(of(all)).build())
        .build();
  }

  private MetricSnapshot summary(Metric metric, Map<String, Object> figures) {
    Map<Map<String, String>, List<Quantile>> points = new LinkedHashMap<>();
    List<String> paths = metric.figures();
    for (int i = 0; i < paths.size(); i++) {
      double quantile = i == 0 ? MEDIAN : HIGH;
      FigurePath.parse(paths.get(i))
          .numbers(
              figures,
              (labels, value) ->
                  points
                      .computeIfAbsent(labels, each -> new ArrayList<>())
                      .add(new Quantile(quantile, value)));
    }
    SummarySnapshot.Builder builder =
        SummarySnapshot.builder().name(metric.name()).help(metric.meaning());
    points.forEach(
        (labels, quantiles) ->
            builder.dataPoint(
                SummaryDataPointSnapshot.builder()
                    .labels(of(labels))
                    .quantiles(Quantiles.of(quantiles.toArray(Quantile[]::new)))
                    .build()));
    return builder.build();
  }

  /** The figures have a count, a sum, and how many took no longer than each bound in seconds. */
  private MetricSnapshot histogram(Metric metric, Map<String, Object> figures) {
    HistogramSnapshot.Builder builder =
        HistogramSnapshot.builder().name(metric.name()).help(metric.meaning());
    FigurePath.parse(metric.figures().get(0))
        .values(
            figures,
            (labels, value) -> {
              if (value instanceof Map<?, ?> histogram) {
                builder.dataPoint(
                    HistogramDataPointSnapshot.builder()
                        .labels(of(labels))
                        .classicHistogramBuckets(buckets(histogram))
                        .sum(number(histogram.get("seconds")))
                        .build());
              }
            });
    return builder.build();
  }

  private static ClassicHistogramBuckets buckets(Map<?, ?> histogram) {
    SortedMap<Double, Long> upTo = new TreeMap<>();
    if (histogram.get("up_to") instanceof Map<?, ?> bounds) {
      bounds.forEach(
          (bound, count) -> upTo.put(Double.valueOf(String.valueOf(bound)), (long) number(count)));
    }
    upTo.put(Double.POSITIVE_INFINITY, (long) number(histogram.get("count")));
    ClassicHistogramBuckets.Builder buckets = ClassicHistogramBuckets.builder();
    long before = 0;
    for (Map.Entry<Double, Long> each : upTo.entrySet()) {
      buckets.bucket(each.getKey(), Math.max(0, each.getValue() - before));
      before = Math.max(before, each.getValue());
    }
    return buckets.build();
  }

  private static double number(@Nullable Object value) {
    return value instanceof Number number ? number.doubleValue() : 0;
  }

  private Labels of(Map<String, String> labels) {
    Labels.Builder all = Labels.builder().label("mount", mount);
    labels.forEach(all::label);
    return all.build();
  }

  private static String base(Metric metric, String suffix) {
    return metric.name().substring(0, metric.name().length() - suffix.length());
  }
}
