package io.holdfast.fs.metrics;

import io.holdfast.fs.figures.FetchFigures;
import io.holdfast.fs.figures.Figures;
import io.holdfast.fs.figures.NodeFigures;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * The declaration of a metric. Immutable.
 *
 * @param name its name for Prometheus, with the suffix of its type and unit
 * @param unit its unit, at the end of the name before {@code _total}
 * @param meaning its meaning for a reader of a dashboard, in one or two sentences
 * @param labels the names of its labels, without {@code mount}, which all metrics have
 * @param points returns its values, each with the values of its labels
 */
public record Metric(
    String name,
    Type type,
    Unit unit,
    String meaning,
    List<String> labels,
    Function<Readings, List<Point>> points) {

  /** The input of metrics: the figures of a mount, and the nodes of its cluster. Immutable. */
  record Readings(Figures figures, List<NodeFigures> nodes) {}

  /**
   * A value. Immutable.
   *
   * @param labels the values of the labels, in order; empty for a histogram
   * @param value the value, below 0 if it is not known; for a histogram the sum
   * @param upTo for a histogram, the number of values up to each bound; otherwise empty
   */
  record Point(List<String> labels, double value, Map<String, Long> upTo) {
    static final double UNKNOWN = -1;

    static Point of(double value, String... labels) {
      return new Point(List.of(labels), value, Map.of());
    }

    static Point of(long value, String... labels) {
      return of((double) value, labels);
    }

    static Point of(FetchFigures.Durations durations) {
      Map<String, Long> upTo = new LinkedHashMap<>(durations.upTo());
      upTo.put(Double.toString(Double.POSITIVE_INFINITY), durations.count());
      return new Point(List.of(), durations.seconds(), upTo);
    }

    boolean isKnown() {
      return value >= 0;
    }
  }

  /** How values behave over time. */
  public enum Type {
    /** Only grows while a daemon lives; a new daemon begins at 0. */
    COUNTER,
    /** Goes up and down. */
    GAUGE,
    /** Always 1; the labels have the information. */
    INFO,
    /** Quantiles, since the mount. */
    SUMMARY,
    /** The numbers of values up to some bounds, and the sum. */
    HISTOGRAM
  }

  /** The units of values: base units only. */
  public enum Unit {
    /** A number of things. */
    COUNT(""),
    /** Bytes. */
    BYTES("_bytes"),
    /** Seconds. */
    SECONDS("_seconds"),
    /** Between 0 and 1. */
    RATIO("_ratio"),
    /** 1 for yes, 0 for no. */
    TRUTH("");

    private final String suffix;

    Unit(String suffix) {
      this.suffix = suffix;
    }

    /** Returns the end of names, before {@code _total}. */
    public String suffix() {
      return suffix;
    }
  }

  /** Declares a metric. */
  public Metric {
    labels = List.copyOf(labels);
  }
}
