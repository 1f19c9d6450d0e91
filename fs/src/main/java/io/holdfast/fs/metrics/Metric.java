package io.holdfast.fs.metrics;

import java.util.List;
import java.util.stream.Stream;

/**
 * One metric as it is declared. Immutable.
 *
 * @param name as Prometheus has it, with the suffix that its type and unit ask for
 * @param unit which its name ends in, before {@code _total}
 * @param meaning for whoever reads it in a dashboard: one or two sentences
 * @param figures where its values are in {@code stats.json}, or in {@code peers.json} behind {@code
 *     peers}: see {@link FigurePath}
 */
public record Metric(String name, Type type, Unit unit, String meaning, List<String> figures) {
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
    figures = List.copyOf(figures);
  }

  /** Returns the names of its labels but {@code mount}, which all metrics have. */
  public List<String> labels() {
    return switch (type) {
      case INFO -> figures.stream().map(FigurePath::lastKey).toList();
      case SUMMARY -> Stream.concat(ofPath().stream(), Stream.of("quantile")).toList();
      case HISTOGRAM -> Stream.concat(ofPath().stream(), Stream.of("le")).toList();
      case COUNTER, GAUGE -> ofPath();
    };
  }

  private List<String> ofPath() {
    return FigurePath.parse(figures.get(0)).labels();
  }
}
