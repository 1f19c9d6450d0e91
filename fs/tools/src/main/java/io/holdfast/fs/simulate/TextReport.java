package io.holdfast.fs.simulate;

import io.holdfast.fs.units.Human;
import io.holdfast.policy.simulator.Dataset;
import io.holdfast.policy.simulator.Run;
import io.holdfast.policy.simulator.Scenario;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** A report for people: a table for each run, and one table of all runs. Not thread-safe. */
final class TextReport {
  private static final List<String> HEADING =
      List.of("epoch", "hit ratio", "byte hit ratio", "memory", "peers", "origin");

  private static final String PUSHED_HEADING = "pushed";

  private static final List<String> SHARES_HEADING =
      List.of("capacity", "policy", "memory", "peers", "origin", "moved");

  private static final List<String> TIME_HEADING = List.of("time", "speed");

  private final Report report;
  private final @Nullable Prediction prediction;
  private final StringBuilder text = new StringBuilder();

  TextReport(Report report) {
    this.report = report;
    this.prediction = report.prediction();
  }

  String text() {
    addScenario(report.scenario());
    report.runs().forEach(this::addRun);
    if (report.hasPushes()) {
      addShares();
    } else if (report.runs().size() > 1) {
      addSummary();
    }
    if (prediction != null) {
      text.append('\n').append(sufficient(prediction)).append('\n');
    }
    return text.toString();
  }

  private void addScenario(Scenario scenario) {
    Dataset dataset = scenario.dataset();
    text.append(
        "%s, %s (%s in whole pages); %s, %s, %s, %s\n"
            .formatted(
                Human.count(dataset.items(), "item"),
                Human.bytes(dataset.bytes()),
                Human.bytes(dataset.weight()),
                scenario.order().name(),
                Human.count(scenario.epochs(), "epoch"),
                Human.count(scenario.jobs(), "job"),
                Human.count(scenario.cluster().nodes(), "node")));
  }

  private void addRun(Run run) {
    text.append(
        "\n%s, capacity %s (%s of the dataset)%s\n"
            .formatted(
                run.policy(),
                Human.bytes(run.capacity()),
                percent(report.share(run)),
                run.scenario().cluster().nodes() > 1 ? " on each node" : ""));
    Table table = new Table();
    List<String> heading = new ArrayList<>(HEADING);
    if (report.hasPushes()) {
      heading.add(PUSHED_HEADING);
    }
    if (prediction != null) {
      heading.addAll(TIME_HEADING);
    }
    table.add(heading);
    run.epochs().forEach(epoch -> table.add(row(epoch)));
    text.append(table);
    text.append(closing(run)).append('\n');
  }

  /** Adds a table with a row for each policy and a column for each capacity. */
  private void addSummary() {
    List<Long> capacities = report.runs().stream().map(Run::capacity).distinct().toList();
    Map<String, Map<Long, Run>> policies = new LinkedHashMap<>();
    report
        .runs()
        .forEach(
            run ->
                policies
                    .computeIfAbsent(run.policy(), policy -> new HashMap<>())
                    .put(run.capacity(), run));
    Table table = new Table();
    List<String> heading = new ArrayList<>(List.of("policy"));
    capacities.forEach(capacity -> heading.add(Human.bytes(capacity)));
    table.add(heading);
    policies.forEach(
        (policy, runs) -> {
          List<String> row = new ArrayList<>(List.of(policy));
          capacities.forEach(
              capacity -> {
                Run run = runs.get(capacity);
                row.add(run == null ? "-" : ratio(run.laterHitRatio()));
              });
          table.add(row);
        });
    text.append("\nHit ratio of later epochs, by capacity\n").append(table);
  }

  /** Adds a table of where bytes came from, with the policies of a capacity one below the other. */
  private void addShares() {
    Table table = new Table();
    table.add(SHARES_HEADING);
    report.runs().stream()
        .sorted(Comparator.comparingLong(Run::capacity))
        .forEach(
            run ->
                table.add(
                    List.of(
                        Human.bytes(run.capacity()),
                        run.policy(),
                        ratio(later(run, Run.Epoch::byteHitRatio)),
                        ratio(later(run, Run.Epoch::peerShare)),
                        ratio(later(run, Run.Epoch::originShare)),
                        ratio(later(run, Run.Epoch::movedShare)))));
    text.append("\nShares of the bytes read in later epochs, by source; moved: from node to node\n")
        .append(table);
  }

  private static double later(Run run, ToDoubleFunction<Run.Epoch> share) {
    return run.later().stream().mapToDouble(share).average().orElse(0);
  }

  private List<String> row(Run.Epoch epoch) {
    List<String> row = new ArrayList<>();
    row.add(Integer.toString(epoch.epoch()));
    row.add(ratio(epoch.hitRatio()));
    row.add(ratio(epoch.byteHitRatio()));
    row.add(Human.bytes(epoch.memoryBytes()));
    row.add(Human.bytes(epoch.peerBytes()));
    row.add(Human.bytes(epoch.originBytes()));
    if (report.hasPushes()) {
      row.add(Human.bytes(epoch.pushedBytes()));
    }
    if (prediction != null) {
      row.add(time(prediction.seconds(epoch)));
      row.add(Human.bytes(prediction.speed(epoch)) + "/s");
    }
    return row;
  }

  private static String closing(Run run) {
    List<Run.Epoch> later = run.later();
    long origin = Math.round(later.stream().mapToLong(Run.Epoch::originBytes).average().orElse(0));
    return "%s: hit ratio %s, %s from the origin%s"
        .formatted(
            later.size() > 1 ? "Later epochs" : "Epoch " + later.get(0).epoch(),
            ratio(run.laterHitRatio()),
            Human.bytes(origin),
            later.size() > 1 ? " in each" : "");
  }

  private String sufficient(Prediction known) {
    long capacity = known.sufficientCapacity();
    if (capacity == 0) {
      return "The origin alone meets the demand: more memory brings nothing.";
    }
    if (known.memoryIsTooSlow()) {
      return "Memory itself is slower than the demand: more of it helps until all of the dataset is"
          + " in it.";
    }
    double share = (double) capacity / report.scenario().dataset().weight();
    return "With minio, capacity beyond %s (%s of the dataset) brings nothing: the demand is met."
        .formatted(Human.bytes(capacity), percent(share));
  }

  /** Returns a ratio with three decimals, never rounded up to 1. */
  private static String ratio(double ratio) {
    return String.format(Locale.ROOT, "%.3f", ratio < 1 ? Math.min(ratio, 0.999) : ratio);
  }

  private static String percent(double share) {
    String percent = String.format(Locale.ROOT, "%.1f", 100 * share);
    return (percent.endsWith(".0") ? percent.substring(0, percent.length() - 2) : percent) + "%";
  }

  private static String time(double seconds) {
    return seconds < 60
        ? String.format(Locale.ROOT, "%.1f s", seconds)
        : Human.seconds(Math.round(seconds));
  }
}
