package io.holdfast.monitoring;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** The queries of the dashboard and of the alerts, and what they ask for. */
public final class Queries {
  static final Path DASHBOARD = Path.of("src/main/dist/monitoring/grafana-dashboard.json");
  static final Path ALERTS = Path.of("src/main/dist/monitoring/prometheus-alerts.yaml");

  /** Prometheus's own metrics: whether the target answered. */
  private static final Set<String> OF_PROMETHEUS = Set.of("up");

  private static final Set<String> LABELS_OF_THE_TARGET = Set.of("job", "instance");

  /** Grafana puts a duration in place of these. */
  private static final Pattern INTERVAL = Pattern.compile("\\$__(rate_)?interval");

  private Queries() {}

  /** Returns the queries by what they are for. */
  public static Map<String, String> all() throws IOException {
    Map<String, String> all = new LinkedHashMap<>();
    Map<String, Object> dashboard = JSON.std.mapFrom(Files.readString(DASHBOARD));
    for (Map<?, ?> panel : maps(dashboard.get("panels"))) {
      for (Map<?, ?> target : maps(panel.get("targets"))) {
        all.put("panel " + panel.get("title") + " " + target.get("refId"), text(target, "expr"));
      }
    }
    for (Map<?, ?> variable : maps(((Map<?, ?>) dashboard.get("templating")).get("list"))) {
      if ("query".equals(variable.get("type"))) {
        all.put("variable " + variable.get("name"), text(variable, "definition"));
      }
    }
    for (Map<?, ?> rule : rules()) {
      all.put("alert " + rule.get("alert"), text(rule, "expr"));
    }
    return all;
  }

  /** Returns the alerts. */
  static List<Map<?, ?>> rules() throws IOException {
    Object file = new Load(LoadSettings.builder().build()).loadFromString(Files.readString(ALERTS));
    List<Map<?, ?>> rules = new ArrayList<>();
    maps(((Map<?, ?>) file).get("groups")).forEach(group -> rules.addAll(maps(group.get("rules"))));
    return rules;
  }

  /**
   * Returns what queries ask for and a scrape does not have, a line for each.
   *
   * @param labels the labels of each name that samples may have
   */
  public static List<String> unresolved(Map<String, Set<String>> labels) throws IOException {
    List<String> unresolved = new ArrayList<>();
    for (Map.Entry<String, String> each : all().entrySet()) {
      PromQl query = PromQl.of(each.getValue());
      Set<String> known = new TreeSet<>(LABELS_OF_THE_TARGET);
      for (String metric : query.metrics()) {
        if (!labels.containsKey(metric) && !OF_PROMETHEUS.contains(metric)) {
          unresolved.add(each.getKey() + ": no metric " + metric);
        }
        known.addAll(labels.getOrDefault(metric, Set.of()));
      }
      for (String label : query.labels()) {
        if (!known.contains(label)) {
          unresolved.add(each.getKey() + ": no label " + label);
        }
      }
    }
    return unresolved;
  }

  /** Returns which labels the samples of a scrape have, by their names. */
  public static Map<String, Set<String>> labels(Scrape scrape) {
    Map<String, Set<String>> labels = new LinkedHashMap<>();
    for (Scrape.Family family : scrape.families()) {
      for (Scrape.Sample sample : family.samples()) {
        labels
            .computeIfAbsent(sample.name(), name -> new TreeSet<>())
            .addAll(sample.labels().keySet());
      }
    }
    return labels;
  }

  private static String text(Map<?, ?> map, String key) {
    if (!(map.get(key) instanceof String text) || text.isBlank()) {
      throw new AssertionError("no " + key + " in " + map);
    }
    // the name of a label is a parameter here, and no metric
    String query = text.replaceFirst("^(label_values\\(.*), \\w+\\)$", "$1)");
    return INTERVAL.matcher(query).replaceAll("5m");
  }

  private static List<Map<?, ?>> maps(@Nullable Object list) {
    List<Map<?, ?>> maps = new ArrayList<>();
    if (list instanceof List<?> all) {
      all.forEach(each -> maps.add((Map<?, ?>) each));
    }
    return maps;
  }
}
