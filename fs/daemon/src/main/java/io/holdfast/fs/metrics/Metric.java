package io.holdfast.fs.metrics;

import io.holdfast.fs.figures.FetchFigures;
import io.holdfast.fs.figures.Figures;
import io.holdfast.fs.figures.NodeFigures;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * One metric as it is declared. Immutable.
 *
 * @param name as Prometheus has it, with the suffix that its type and unit ask for
 * @param unit which its name ends in, before {@code _total}
 * @param meaning for whoever reads it in a dashboard: one or two sentences
 * @param labels the names of its labels but {@code mount}, which all metrics have
 * @param points makes its values, and those of its labels
 */
public record Metric(
    String name,
    Type type,
    Unit unit,
    String meaning,
    List<String> labels,
    Function<Readings, List<Point>> points) {

  /** What metrics are made of: the figures of a mount, and the nodes of its cluster. Immutable. */
  record Readings(Figures figures, List<NodeFigures> nodes) {}

  /**
   * A value. Immutable.
   *
   * @param labels the values of the labels, in their order; of a histogram, of none
   * @param value below 0 where nobody knows it; of a histogram the sum
   * @param upTo of a histogram how many were at most each bound; empty else
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
    /** Only grows while a daemon lives; a new one begins at 0. */
    COUNTER,
    /** Goes up and down. */
    GAUGE,
    /** Always 1; what it says is in its labels. */
    INFO,
    /** Quantiles, since the mount. */
    SUMMARY,
    /** Counts of what took no longer than some bounds, and their sum. */
    HISTOGRAM
  }

  /** What values are measured in: base units only. */
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

    /** Returns what names end in, but for {@code _total}. */
    public String suffix() {
      return suffix;
    }
  }

  /** Declares a metric. */
  public Metric {
    labels = List.copyOf(labels);
  }
}
