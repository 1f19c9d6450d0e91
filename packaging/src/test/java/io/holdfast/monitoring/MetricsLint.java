package io.holdfast.monitoring;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Checks the rules of {@code promtool check metrics} and of Prometheus's guide on names. Stateless.
 */
public final class MetricsLint {
  private static final Pattern NAME = Pattern.compile("holdfast(_[a-z0-9]+)+");
  private static final Pattern LABEL = Pattern.compile("[a-z][a-z0-9]*(_[a-z0-9]+)*");
  private static final Set<String> TYPES = Set.of("counter", "gauge", "histogram", "summary");

  /** Prometheus sets these itself, from the target. */
  private static final Set<String> OF_THE_TARGET = Set.of("job", "instance");

  /** Not base units, or abbreviated, or no unit at all. */
  private static final Set<String> NOT_UNITS =
      Set.of(
          "ms",
          "us",
          "ns",
          "milliseconds",
          "microseconds",
          "nanoseconds",
          "minutes",
          "hours",
          "days",
          "kb",
          "mb",
          "gb",
          "kilobytes",
          "megabytes",
          "gigabytes",
          "bits",
          "percent",
          "sec",
          "secs",
          "byte",
          "second",
          "gauge",
          "counter",
          "histogram",
          "summary",
          "metric");

  private static final Set<String> UNITS = Set.of("bytes", "seconds", "ratio");

  private MetricsLint() {}

  /** Returns the violations, a line for each; nothing if all is well. */
  public static List<String> problems(Scrape scrape) {
    List<String> problems = new ArrayList<>();
    for (Scrape.Family family : scrape.families()) {
      of(family).forEach(problem -> problems.add(family.name() + ": " + problem));
    }
    return problems;
  }

  private static List<String> of(Scrape.Family family) {
    return Stream.of(
            form(family),
            name(family),
            family.samples().stream().flatMap(each -> sample(family, each)))
        .flatMap(each -> each)
        .toList();
  }

  private static Stream<String> form(Scrape.Family family) {
    String help = family.help == null ? "" : family.help;
    return Stream.of(
            problem(help.isBlank(), "no HELP"),
            problem(!help.endsWith("."), "HELP is no sentence: " + help),
            problem(family.type == null || !TYPES.contains(family.type), "TYPE " + family.type),
            problem(family.samples.isEmpty(), "no sample"))
        .flatMap(each -> each);
  }

  private static Stream<String> name(Scrape.Family family) {
    String name = family.name();
    boolean total = name.endsWith("_total");
    List<String> words =
        List.of((total ? name.substring(0, name.length() - 6) : name).split("_", -1));
    List<String> before = words.subList(0, words.size() - 1);
    return Stream.of(
            problem(!NAME.matcher(name).matches(), "not a name of ours"),
            problem(total != "counter".equals(family.type), "_total is for counters, all of them"),
            problem(
                Stream.of("_count", "_sum", "_bucket", "_created").anyMatch(name::endsWith),
                "ends as a part of a histogram"),
            problem(words.stream().anyMatch(NOT_UNITS::contains), "not a base unit, or a type"),
            problem(
                before.stream().anyMatch(UNITS::contains) && !name.endsWith("_info"),
                "the unit comes last"))
        .flatMap(each -> each);
  }

  private static Stream<String> sample(Scrape.Family family, Scrape.Sample sample) {
    Map<String, String> labels = sample.labels();
    double value = sample.value();
    return Stream.of(
            problem(!labels.containsKey("mount"), "of no mount: " + sample),
            problem(
                !labels.keySet().stream().allMatch(each -> LABEL.matcher(each).matches()),
                "label: " + sample),
            problem(
                labels.keySet().stream().anyMatch(OF_THE_TARGET::contains),
                "label of the target: " + sample),
            problem(labels.values().stream().anyMatch(String::isEmpty), "empty label: " + sample),
            problem(labels.containsKey("le") != sample.name().endsWith("_bucket"), "le: " + sample),
            problem(
                labels.containsKey("quantile") && !"summary".equals(family.type),
                "quantile: " + sample),
            problem(!Double.isFinite(value) || value < 0, "value: " + sample),
            problem(family.name().endsWith("_ratio") && value > 1, "ratio: " + sample),
            problem(family.name().endsWith("_info") && value != 1, "info: " + sample))
        .flatMap(each -> each);
  }

  private static Stream<String> problem(boolean is, String what) {
    return is ? Stream.of(what) : Stream.empty();
  }
}
