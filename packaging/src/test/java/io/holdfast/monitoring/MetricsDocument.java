package io.holdfast.monitoring;

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
    String tables = tables(MetricSources.find());
    return BLOCK
        .matcher(document)
        .replaceAll(match -> match.group(1) + Matcher.quoteReplacement(tables) + match.group(2));
  }

  private static String tables(MetricSources sources) {
    StringBuilder text = new StringBuilder();
    for (Metrics.Group group : Metrics.groups()) {
      text.append("\n## ").append(group.heading()).append("\n\n");
      text.append("| metric | type | unit | labels | meaning | from |\n");
      text.append("|---|---|---|---|---|---|\n");
      group.metrics().forEach(metric -> text.append(row(metric, sources.of(metric))));
    }
    return text.append('\n').toString();
  }

  private static String row(Metric metric, List<String> figures) {
    return "| `%s` | %s | %s | %s | %s | %s |%n"
        .formatted(
            metric.name(),
            metric.type().name().toLowerCase(Locale.ROOT),
            unit(metric.unit()),
            code(metric.labels()),
            metric.meaning().replace("|", "\\|"),
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
