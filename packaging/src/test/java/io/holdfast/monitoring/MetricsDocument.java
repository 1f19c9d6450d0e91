package io.holdfast.monitoring;

import io.holdfast.fs.checkpoint.daemon.CheckpointMetrics;
import io.holdfast.fs.metrics.Metric;
import io.holdfast.fs.metrics.Metrics;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The tables of METRICS.md: what stands between its marks is made here, from the declarations.
 * {@link #main} writes them, a test compares them.
 */
final class MetricsDocument {
  static final String FILE = "METRICS.md";

  private static final Pattern BLOCK =
      Pattern.compile("(<!-- metrics -->\n).*?(<!-- end -->)", Pattern.DOTALL);

  private static final Pattern CHECKPOINT_BLOCK =
      Pattern.compile("(<!-- checkpoint metrics -->\n).*?(<!-- end -->)", Pattern.DOTALL);

  private MetricsDocument() {}

  /**
   * Writes the tables again.
   *
   * @param arguments the folder of the documents
   */
  public static void main(String[] arguments) throws IOException {
    Path file = Path.of(arguments[0]).resolve(FILE);
    Files.writeString(file, rendered(Files.readString(file)));
  }

  /** Returns the document with the metrics that there are. */
  static String rendered(String document) throws IOException {
    String datasets = written(BLOCK, document, tables(MetricSources.find()));
    return written(CHECKPOINT_BLOCK, datasets, checkpointTable());
  }

  private static String written(Pattern block, String document, String tables) {
    return block
        .matcher(document)
        .replaceAll(match -> match.group(1) + Matcher.quoteReplacement(tables) + match.group(2));
  }

  private static String checkpointTable() {
    StringBuilder text = new StringBuilder("\n" + HEADINGS);
    for (CheckpointMetrics.Declared metric : CheckpointMetrics.all()) {
      text.append(
          row(
              metric.name(),
              metric.type(),
              metric.unit(),
              List.of(),
              metric.meaning(),
              List.of(metric.figure())));
    }
    return text.append('\n').toString();
  }

  private static String tables(MetricSources sources) {
    StringBuilder text = new StringBuilder();
    for (Metrics.Group group : Metrics.groups()) {
      text.append("\n## ").append(group.heading()).append("\n\n");
      text.append(HEADINGS);
      for (Metric metric : group.metrics()) {
        text.append(
            row(
                metric.name(),
                metric.type(),
                metric.unit(),
                metric.labels(),
                metric.meaning(),
                sources.of(metric)));
      }
    }
    return text.append('\n').toString();
  }

  private static final String HEADINGS =
      "| metric | type | unit | labels | meaning | from |\n|---|---|---|---|---|---|\n";

  private static String row(
      String name,
      Metric.Type type,
      Metric.Unit unit,
      List<String> labels,
      String meaning,
      List<String> figures) {
    return "| `%s` | %s | %s | %s | %s | %s |%n"
        .formatted(
            name,
            type.name().toLowerCase(Locale.ROOT),
            unit(unit),
            code(labels),
            meaning.replace("|", "\\|"),
            code(figures));
  }

  private static String unit(Metric.Unit unit) {
    return switch (unit) {
      case COUNT -> "";
      case BYTES -> "bytes";
      case SECONDS -> "seconds";
      case RATIO -> "0 to 1";
      case TRUTH -> "0 or 1";
    };
  }

  private static String code(List<String> names) {
    return names.stream().map(name -> "`" + name + "`").collect(Collectors.joining(", "));
  }
}
