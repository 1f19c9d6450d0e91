package io.holdfast.fs.workload;

import io.holdfast.fs.units.Columns;
import io.holdfast.fs.units.Human;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What came of a workload under several policies. Immutable.
 *
 * @param outcomes at least one
 */
public record WorkloadReport(Workload workload, List<Outcome> outcomes) {
  private static final List<String> HEADING =
      List.of("policy", "throughput", "mean JCT", "95% JCT", "makespan", "slower");

  /** Takes over the outcomes. */
  public WorkloadReport {
    outcomes = List.copyOf(outcomes);
  }

  /** Returns lines for people, each with its end. */
  public String text() {
    Cluster cluster = workload.cluster();
    List<List<String>> rows = new ArrayList<>();
    rows.add(HEADING);
    outcomes.forEach(outcome -> rows.add(row(outcome)));
    return "%s on %s with %s of memory%s\n\n%s\n%s\n"
        .formatted(
            Human.count(workload.jobs().size(), "job"),
            Human.count(cluster.nodes(), "node"),
            Human.bytes(cluster.memory()),
            cluster.nodes() > 1 ? " each" : "",
            Columns.aligned(rows),
            meaning());
  }

  private List<String> row(Outcome outcome) {
    return List.of(
        outcome.policy(),
        Human.bytes(Math.round(outcome.throughput())) + "/s",
        Human.seconds(Math.round(outcome.meanCompletion())),
        Human.seconds(Math.round(outcome.completion95())),
        Human.seconds(Math.round(outcome.makespan())),
        proportional().map(fair -> Long.toString(outcome.slowerThan(fair))).orElse("-"));
  }

  private String meaning() {
    StringBuilder line = new StringBuilder("JCT is the time from a job's arrival to its end.");
    if (proportional().isPresent()) {
      line.append(" Slower: jobs whose JCT is more than 1% longer than with proportional.");
    }
    if (outcomes.stream().anyMatch(each -> each.policy().equals(OptimumPolicy.WORD))) {
      line.append("\n'optimum' is a bound for the speed of the jobs that run.");
    }
    return line.toString();
  }

  private Optional<Outcome> proportional() {
    return outcomes.stream()
        .filter(each -> each.policy().equals(ProportionalPolicy.WORD))
        .findFirst();
  }

  /** Returns an object for programs. */
  public Map<String, Object> json() {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("nodes", workload.cluster().nodes());
    object.put("memory_bytes", workload.cluster().memory());
    if (workload.cluster().accelerators() != Cluster.UNBOUNDED) {
      object.put("accelerators", workload.cluster().accelerators());
    }
    object.put("policies", outcomes.stream().map(this::json).toList());
    return object;
  }

  private Map<String, Object> json(Outcome outcome) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("policy", outcome.policy());
    object.put("throughput_bytes_per_second", outcome.throughput());
    object.put("jct_mean_seconds", outcome.meanCompletion());
    object.put("jct_p95_seconds", outcome.completion95());
    object.put("makespan_seconds", outcome.makespan());
    proportional().ifPresent(fair -> object.put("slower_jobs", outcome.slowerThan(fair)));
    object.put("jobs", outcome.jobs().stream().map(WorkloadReport::json).toList());
    return object;
  }

  private static Map<String, Object> json(Outcome.Ended ended) {
    Map<String, Object> object = new LinkedHashMap<>();
    object.put("name", ended.job().name());
    object.put("node", ended.node());
    object.put("arrival_seconds", ended.job().arrival());
    object.put("begin_seconds", ended.begin());
    object.put("end_seconds", ended.end());
    object.put("jct_seconds", ended.completion());
    object.put("speed_bytes_per_second", ended.speed());
    return object;
  }
}
