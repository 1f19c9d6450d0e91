package io.holdfast.fs.checkpoint.daemon;

import io.holdfast.fs.checkpoint.CheckpointFigures;
import io.holdfast.fs.metrics.Metric;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** The metrics of a checkpoint mount: their declarations, and the answer to a scrape. Stateless. */
public final class CheckpointMetrics {
  private static final String TOTAL = "_total";

  /**
   * The declaration of a metric. Its only label is {@code mount}. Immutable.
   *
   * @param name its name for Prometheus, with the suffix of its type and unit
   * @param type how its value behaves over time
   * @param unit its unit, at the end of the name before {@code _total}
   * @param figure where the value is in {@code holdfast stats --json}
   * @param meaning its meaning for a reader of a dashboard
   * @param value returns its value
   */
  public record Declared(
      String name,
      Metric.Type type,
      Metric.Unit unit,
      String figure,
      String meaning,
      ToDoubleFunction<CheckpointFigures> value) {}

  private static final List<Declared> ALL =
      List.of(
          gauge(
              "holdfast_checkpoint_front_bytes",
              Metric.Unit.BYTES,
              "front_bytes",
              "What the front holds: pending, kept, and its log.",
              CheckpointFigures::frontBytes),
          gauge(
              "holdfast_checkpoint_front_capacity_bytes",
              Metric.Unit.BYTES,
              "front_capacity_bytes",
              "What the front may hold.",
              CheckpointFigures::frontCapacityBytes),
          gauge(
              "holdfast_checkpoint_pending_bytes",
              Metric.Unit.BYTES,
              "pending_bytes",
              "What programs have written and the store does not have durably.",
              CheckpointFigures::pendingBytes),
          gauge(
              "holdfast_checkpoint_pending_operations",
              Metric.Unit.COUNT,
              "pending_operations",
              "Operations that the store does not have durably.",
              CheckpointFigures::pendingOperations),
          gauge(
              "holdfast_checkpoint_oldest_pending_seconds",
              Metric.Unit.SECONDS,
              "oldest_pending_seconds",
              "The age of the first operation that is pending; what a loss of this node would cost.",
              CheckpointFigures::oldestPendingSeconds),
          counter(
              "holdfast_checkpoint_persisted_bytes_total",
              Metric.Unit.BYTES,
              "persisted_bytes",
              "What the store has taken since the daemon started.",
              CheckpointFigures::persistedBytes),
          counter(
              "holdfast_checkpoint_store_errors_total",
              Metric.Unit.COUNT,
              "errors",
              "How often the store failed. Nothing is lost: it is asked again.",
              CheckpointFigures::errors),
          gauge(
              "holdfast_checkpoint_store_fails",
              Metric.Unit.TRUTH,
              "store_fails",
              "Whether the last attempt at the store failed.",
              figures -> figures.storeFails() ? 1 : 0),
          gauge(
              "holdfast_checkpoint_waiting_writers",
              Metric.Unit.COUNT,
              "waiting_writers",
              "Programs that wait because the front is full.",
              CheckpointFigures::waitingWriters),
          gauge(
              "holdfast_checkpoint_advised_interval_seconds",
              Metric.Unit.SECONDS,
              "advice.interval_seconds",
              "How often to save at most, by what was measured; 0 until something was saved.",
              figures -> figures.advice().intervalSeconds()),
          gauge(
              "holdfast_checkpoint_advised_overhead_ratio",
              Metric.Unit.RATIO,
              "advice.overhead",
              "The part of their time that saving costs programs at that interval.",
              figures -> figures.advice().overhead()));

  private CheckpointMetrics() {}

  private static Declared gauge(
      String name,
      Metric.Unit unit,
      String figure,
      String meaning,
      ToDoubleFunction<CheckpointFigures> value) {
    return new Declared(name, Metric.Type.GAUGE, unit, "checkpoint." + figure, meaning, value);
  }

  private static Declared counter(
      String name,
      Metric.Unit unit,
      String figure,
      String meaning,
      ToDoubleFunction<CheckpointFigures> value) {
    return new Declared(name, Metric.Type.COUNTER, unit, "checkpoint." + figure, meaning, value);
  }

  /** Returns all metrics, in the order of the document. */
  public static List<Declared> all() {
    return ALL;
  }

  /** Returns the answer to a scrape, in Prometheus's text format 0.0.4. */
  static byte[] text(String mount, CheckpointFigures figures) {
    Labels labels = Labels.of("mount", mount);
    List<MetricSnapshot> snapshots =
        ALL.stream().map(metric -> snapshot(metric, labels, figures)).toList();
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    try {
      PrometheusTextFormatWriter.create().write(text, new MetricSnapshots(snapshots));
    } catch (IOException e) {
      throw new UncheckedIOException(e); // in memory
    }
    return text.toByteArray();
  }

  private static MetricSnapshot snapshot(
      Declared metric, Labels labels, CheckpointFigures figures) {
    double value = metric.value().applyAsDouble(figures);
    if (metric.type() == Metric.Type.COUNTER) {
      String base = metric.name().substring(0, metric.name().length() - TOTAL.length());
      return CounterSnapshot.builder()
          .name(base)
          .help(metric.meaning())
          .dataPoint(CounterDataPointSnapshot.builder().labels(labels).value(value).build())
          .build();
    }
    return GaugeSnapshot.builder()
        .name(metric.name())
        .help(metric.meaning())
        .dataPoint(GaugeDataPointSnapshot.builder().labels(labels).value(value).build())
        .build();
  }
}
