package io.holdfast.fs.metrics;

import io.holdfast.fs.figures.Figures;
import io.holdfast.fs.figures.JobsFigures;
import io.holdfast.fs.figures.JobsFigures.Job;
import io.holdfast.fs.figures.JobsFigures.Split;
import io.holdfast.fs.figures.NodeFigures;
import io.holdfast.fs.metrics.Metric.Point;
import io.holdfast.fs.metrics.Metric.Readings;
import io.holdfast.fs.units.Visible;
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
import java.util.OptionalDouble;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * Writes the figures of a mount in Prometheus's text format 0.0.4. Thread-safe: one scrape at a
 * time. The monitor guards the choice of jobs and peers that have a label of their own.
 */
public final class Exposition {
  /** The content type of {@link #text()}. */
  public static final String CONTENT_TYPE = PrometheusTextFormatWriter.CONTENT_TYPE;

  /** The most jobs, and the most nodes, with a label of their own. */
  static final int MOST_LABELS = 64;

  /** A figure that cannot be added up. */
  private static final int UNKNOWN = -1;

  private final String mount;
  private final Supplier<Figures> stats;
  private final Supplier<List<NodeFigures>> peers;
  private final PrometheusTextFormatWriter writer = PrometheusTextFormatWriter.create();
  private final BoundedRows<Job> jobs =
      new BoundedRows<>(MOST_LABELS, Exposition::label, Exposition::asOther, Exposition::sum);
  private final BoundedRows<NodeFigures> nodes =
      new BoundedRows<>(MOST_LABELS, NodeFigures::node, Exposition::asOther, Exposition::sum);

  /**
   * Creates an exposition.
   *
   * @param mount the mount's name, a label of every metric
   * @param stats the figures of the mount; touches neither the origin nor the own mount
   * @param peers the nodes of the mount's cluster; touches neither the origin nor the own mount
   */
  public Exposition(String mount, Supplier<Figures> stats, Supplier<List<NodeFigures>> peers) {
    this.mount = mount;
    this.stats = stats;
    this.peers = peers;
  }

  /** Returns all metrics as they are now; the text is UTF-8. */
  public synchronized byte[] text() {
    Figures figures = stats.get();
    JobsFigures bounded = figures.jobs().with(jobs.of(figures.jobs().jobs()));
    Readings readings = new Readings(figures.with(bounded), nodes.of(peers.get()));
    List<MetricSnapshot> snapshots = new ArrayList<>();
    Metrics.all().forEach(metric -> snapshots.add(snapshot(metric, readings)));
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    try {
      writer.write(text, new MetricSnapshots(snapshots));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return text.toByteArray();
  }

  /** The row of jobs that have lost theirs takes over what these had among the others. */
  private static String label(Job job) {
    return job.epoch() < 0 ? BoundedRows.OTHER : job.job();
  }

  private static Job asOther(Job job) {
    return new Job(
        BoundedRows.OTHER,
        job.processes(),
        OptionalDouble.empty(),
        false,
        job.opens(),
        job.items(),
        job.misses(),
        OptionalDouble.empty(),
        job.fetchedBytes(),
        job.stallSeconds(),
        job.splitSeconds(),
        "",
        "",
        UNKNOWN,
        List.of());
  }

  private static Job sum(Job a, Job b) {
    return new Job(
        a.job(),
        a.processes() + b.processes(),
        OptionalDouble.empty(),
        false,
        a.opens() + b.opens(),
        a.items() + b.items(),
        a.misses() + b.misses(),
        OptionalDouble.empty(),
        a.fetchedBytes() + b.fetchedBytes(),
        a.stallSeconds() + b.stallSeconds(),
        Split.sum(a.splitSeconds(), b.splitSeconds()),
        "",
        "",
        UNKNOWN,
        List.of());
  }

  private static NodeFigures asOther(NodeFigures node) {
    return new NodeFigures(
        BoundedRows.OTHER,
        "",
        "",
        "",
        "",
        UNKNOWN,
        UNKNOWN,
        UNKNOWN,
        node.itemsIn(),
        node.bytesIn(),
        node.itemsOut(),
        node.bytesOut(),
        node.errors(),
        UNKNOWN,
        UNKNOWN);
  }

  private static NodeFigures sum(NodeFigures a, NodeFigures b) {
    return new NodeFigures(
        a.node(),
        "",
        "",
        "",
        "",
        UNKNOWN,
        UNKNOWN,
        UNKNOWN,
        a.itemsIn() + b.itemsIn(),
        a.bytesIn() + b.bytesIn(),
        a.itemsOut() + b.itemsOut(),
        a.bytesOut() + b.bytesOut(),
        a.errors() + b.errors(),
        UNKNOWN,
        UNKNOWN);
  }

  private MetricSnapshot snapshot(Metric metric, Readings readings) {
    List<Point> points = metric.points().apply(readings).stream().filter(Point::isKnown).toList();
    return switch (metric.type()) {
      case COUNTER -> counter(metric, points);
      case GAUGE -> gauge(metric, points);
      case INFO -> info(metric, points);
      case SUMMARY -> summary(metric, points);
      case HISTOGRAM -> histogram(metric, points);
    };
  }

  private MetricSnapshot counter(Metric metric, List<Point> points) {
    CounterSnapshot.Builder builder =
        CounterSnapshot.builder().name(base(metric, "_total")).help(metric.meaning());
    for (Point point : points) {
      builder.dataPoint(
          CounterDataPointSnapshot.builder()
              .labels(labels(metric, point.labels()))
              .value(point.value())
              .build());
    }
    return builder.build();
  }

  private MetricSnapshot gauge(Metric metric, List<Point> points) {
    GaugeSnapshot.Builder builder =
        GaugeSnapshot.builder().name(metric.name()).help(metric.meaning());
    for (Point point : points) {
      builder.dataPoint(
          GaugeDataPointSnapshot.builder()
              .labels(labels(metric, point.labels()))
              .value(point.value())
              .build());
    }
    return builder.build();
  }

  private MetricSnapshot info(Metric metric, List<Point> points) {
    InfoSnapshot.Builder builder =
        InfoSnapshot.builder().name(base(metric, "_info")).help(metric.meaning());
    for (Point point : points) {
      builder.dataPoint(
          InfoDataPointSnapshot.builder().labels(labels(metric, point.labels())).build());
    }
    return builder.build();
  }

  /** Makes a summary; the last label of a point is the quantile. */
  private MetricSnapshot summary(Metric metric, List<Point> points) {
    Map<List<String>, List<Quantile>> quantiles = new LinkedHashMap<>();
    for (Point point : points) {
      int last = point.labels().size() - 1;
      double quantile = Double.parseDouble(point.labels().get(last));
      quantiles
          .computeIfAbsent(point.labels().subList(0, last), labels -> new ArrayList<>())
          .add(new Quantile(quantile, point.value()));
    }
    SummarySnapshot.Builder builder =
        SummarySnapshot.builder().name(metric.name()).help(metric.meaning());
    quantiles.forEach(
        (labels, each) ->
            builder.dataPoint(
                SummaryDataPointSnapshot.builder()
                    .labels(labels(metric, labels))
                    .quantiles(Quantiles.of(each.toArray(Quantile[]::new)))
                    .build()));
    return builder.build();
  }

  private MetricSnapshot histogram(Metric metric, List<Point> points) {
    HistogramSnapshot.Builder builder =
        HistogramSnapshot.builder().name(metric.name()).help(metric.meaning());
    for (Point point : points) {
      builder.dataPoint(
          HistogramDataPointSnapshot.builder()
              .labels(labels(metric, point.labels()))
              .classicHistogramBuckets(buckets(point.upTo()))
              .sum(point.value())
              .build());
    }
    return builder.build();
  }

  private static ClassicHistogramBuckets buckets(Map<String, Long> upTo) {
    SortedMap<Double, Long> sorted = new TreeMap<>();
    upTo.forEach((bound, count) -> sorted.put(Double.valueOf(bound), count));
    ClassicHistogramBuckets.Builder buckets = ClassicHistogramBuckets.builder();
    long before = 0;
    for (Map.Entry<Double, Long> each : sorted.entrySet()) {
      buckets.bucket(each.getKey(), Math.max(0, each.getValue() - before));
      before = Math.max(before, each.getValue());
    }
    return buckets.build();
  }

  private Labels labels(Metric metric, List<String> values) {
    Labels.Builder all = Labels.builder().label("mount", mount);
    for (int i = 0; i < values.size(); i++) {
      all.label(metric.labels().get(i), Visible.of(values.get(i)));
    }
    return all.build();
  }

  private static String base(Metric metric, String suffix) {
    return metric.name().substring(0, metric.name().length() - suffix.length());
  }
}
