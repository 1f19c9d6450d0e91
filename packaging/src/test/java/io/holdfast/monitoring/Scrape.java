package io.holdfast.monitoring;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A scrape in Prometheus's text format 0.0.4, read as strictly as the format is written down.
 * Immutable.
 */
public final class Scrape {
  private static final Pattern COMMENT = Pattern.compile("# (HELP|TYPE) (\\S+) (.*)");
  private static final Pattern SAMPLE = Pattern.compile("([^\\s{]+)(?:\\{(.*)})? (\\S+)");
  private static final Pattern LABEL =
      Pattern.compile("([^=,]+)=\"((?:[^\"\\\\]|\\\\[\"\\\\n])*)\"(?:,|$)");

  private final Map<String, Family> families = new LinkedHashMap<>();

  /** One value. */
  public record Sample(String name, Map<String, String> labels, double value) {}

  /** A metric with its samples. */
  public static final class Family {
    private final String name;
    @Nullable String help;
    @Nullable String type;
    final List<Sample> samples = new ArrayList<>();

    Family(String name) {
      this.name = name;
    }

    /** Returns the name, as dashboards have it but for the parts of histograms and summaries. */
    public String name() {
      return name;
    }

    /** Returns the samples, in their order. */
    public List<Sample> samples() {
      return List.copyOf(samples);
    }

    private void comment(String kind, String text) {
      if ((kind.equals("HELP") ? help : type) != null || !samples.isEmpty()) {
        throw new AssertionError(name + " has its " + kind + " twice, or too late");
      }
      if (kind.equals("HELP")) {
        help = text;
      } else {
        type = text;
      }
    }

    private boolean owns(String sample) {
      boolean parts = "histogram".equals(type) || "summary".equals(type);
      String rest = sample.startsWith(name) ? sample.substring(name.length()) : "?";
      return rest.isEmpty() || (parts && Set.of("_bucket", "_sum", "_count").contains(rest));
    }
  }

  private Scrape() {}

  /** Reads a scrape; an error where it is none. */
  public static Scrape parse(String text) {
    Scrape scrape = new Scrape();
    Set<String> seen = new TreeSet<>();
    Family current = null;
    if (!text.endsWith("\n")) {
      throw new AssertionError("the last line does not end");
    }
    for (String line : text.lines().toList()) {
      Matcher comment = COMMENT.matcher(line);
      if (comment.matches()) {
        String name = comment.group(2);
        if (current == null || !current.name.equals(name)) {
          current = new Family(name);
          if (scrape.families.put(name, current) != null) {
            throw new AssertionError(name + " comes twice");
          }
        }
        current.comment(comment.group(1), comment.group(3));
      } else {
        Sample sample = sample(line);
        if (current == null || !current.owns(sample.name())) {
          throw new AssertionError("does not belong to what is above it: " + line);
        }
        if (!seen.add(sample.name() + new TreeMap<>(sample.labels()))) {
          throw new AssertionError("twice: " + line);
        }
        current.samples.add(sample);
      }
    }
    return scrape;
  }

  private static Sample sample(String line) {
    Matcher sample = SAMPLE.matcher(line);
    if (!sample.matches()) {
      throw new AssertionError("no sample: " + line);
    }
    Map<String, String> labels = new LinkedHashMap<>();
    String text = sample.group(2) == null ? "" : sample.group(2);
    Matcher label = LABEL.matcher(text);
    int at = 0;
    for (; at < text.length() && label.find(at) && label.start() == at; at = label.end()) {
      labels.put(label.group(1), label.group(2));
    }
    if (at != text.length()) {
      throw new AssertionError("no labels: " + line);
    }
    String value = sample.group(3);
    return new Sample(
        sample.group(1),
        labels,
        value.equals("+Inf") ? Double.POSITIVE_INFINITY : Double.parseDouble(value));
  }

  /** Returns the metrics, in their order. */
  public List<Family> families() {
    return List.copyOf(families.values());
  }

  /** Returns the names of the metrics. */
  public Set<String> names() {
    return Set.copyOf(families.keySet());
  }

  /** Returns the samples of a metric, or of a part of a histogram or summary. */
  public List<Sample> samples(String name) {
    return families.values().stream()
        .flatMap(family -> family.samples.stream())
        .filter(sample -> sample.name().equals(name))
        .toList();
  }

  /** Returns the sum of a metric's samples with a label. */
  public double sum(String name, String label, String value) {
    return samples(name).stream()
        .filter(sample -> value.equals(sample.labels().get(label)))
        .mapToDouble(Sample::value)
        .sum();
  }
}
