package io.holdfast.fs.cli;

import io.holdfast.fs.FsException;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.host.JsonFile;
import io.holdfast.fs.plot.PlotFile;
import io.holdfast.fs.workload.MemoryPolicies;
import io.holdfast.fs.workload.Outcome;
import io.holdfast.fs.workload.Simulation;
import io.holdfast.fs.workload.Workload;
import io.holdfast.fs.workload.WorkloadPlot;
import io.holdfast.fs.workload.WorkloadReader;
import io.holdfast.fs.workload.WorkloadReport;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** {@code holdfast simulate --jobs FILE}: what is asked, and the report. Immutable. */
final class WorkloadSimulation {
  private static final JsonFile FILE =
      new JsonFile("--jobs", "file of jobs", "jobs", "memory_bytes and jobs");

  /** What can only be a number of jobs, or is meant to be one. */
  private static final Pattern NUMBER = Pattern.compile("[-+]?[0-9][0-9.,]*");

  private final Workload workload;
  private final List<String> policies;

  private WorkloadSimulation(Workload workload, List<String> policies) {
    this.workload = workload;
    this.policies = policies;
  }

  /** Tells whether {@code --jobs} names a file, and not how many jobs read. */
  static boolean isAsked(@Nullable String jobs) {
    return jobs != null && !NUMBER.matcher(jobs).matches();
  }

  /**
   * Reads what is asked.
   *
   * @throws CliException if the file or an option is wrong
   */
  static WorkloadSimulation of(String file, @Nullable String directory, SimulateOptions options) {
    requireNoOther(directory, options);
    List<String> policies = MemoryPolicies.WORDS;
    if (options.caches.policy != null) {
      try {
        policies = MemoryPolicies.parse(List.of(options.caches.policy.split(",", -1)));
      } catch (IllegalArgumentException e) {
        throw CliException.usage("--policy " + e.getMessage(), e);
      }
    }
    return new WorkloadSimulation(FILE.read(file, WorkloadReader::read), policies);
  }

  private static void requireNoOther(@Nullable String directory, SimulateOptions options) {
    Map<String, @Nullable Object> others = new LinkedHashMap<>();
    others.put("DIRECTORY", directory);
    others.put("--files", options.reads.files);
    others.put("--size", options.reads.size);
    others.put("--trace", options.reads.trace);
    others.put("--item-size", options.reads.itemSize);
    others.put("--order", options.reads.order);
    others.put("--epochs", options.reads.epochs);
    others.put("--shared-order", options.reads.sharedOrder ? true : null);
    others.put("--seed", options.reads.seed);
    others.put("--capacity", options.caches.capacity);
    others.put("--nodes", options.caches.nodes);
    others.put("--coordination", options.caches.coordination);
    others.put("--origin-rate", options.rates.origin);
    others.put("--memory-rate", options.rates.memory);
    others.put("--network-rate", options.rates.network);
    others.put("--demand", options.rates.demand);
    others.put("--csv", options.output.csv ? true : null);
    for (Map.Entry<String, @Nullable Object> other : others.entrySet()) {
      if (other.getValue() != null) {
        throw CliException.usage(
            other.getKey() + " is not for a --jobs FILE, which says all of its jobs: leave it out");
      }
    }
  }

  /**
   * Plays the jobs.
   *
   * @throws CliException where a policy has no solution
   */
  WorkloadReport report() {
    List<Outcome> outcomes = new ArrayList<>();
    try {
      policies.forEach(policy -> outcomes.add(Simulation.run(workload, policy)));
    } catch (IllegalArgumentException e) {
      throw CliException.couldNot(String.valueOf(e.getMessage()), e);
    }
    return new WorkloadReport(workload, outcomes);
  }

  /** Draws what came of it. */
  static void draw(WorkloadReport report, PlotFile plot) throws FsException {
    plot.write(new WorkloadPlot(report.outcomes()).picture());
  }
}
