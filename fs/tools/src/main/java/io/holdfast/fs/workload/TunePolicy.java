package io.holdfast.fs.workload;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/**
 * Synergy-TUNE (Mohan et al., OSDI 2022, section 4.3). A job begins on the node where its demand
 * fits best. Among the jobs of a node, those with the greatest demand come first. Where a demand
 * does not fit, the job is content with its fair share; where that does not fit either, jobs that
 * have more than their fair share are cut to it. So nobody has less than the fair share or the
 * demand. What is left is not given to anybody.
 *
 * <p>Deviation: Synergy places all jobs anew in each round. Here a job stays on its node, because
 * what it has in memory is there.
 */
final class TunePolicy implements MemoryPolicy {
  @Override
  public String word() {
    return "tune";
  }

  @Override
  public OptionalInt place(Job job, ClusterState state) {
    long demand = state.demand(job);
    OptionalInt fits =
        state
            .nodesFor(job)
            .filter(node -> state.spareMemory(node) >= demand)
            .boxed()
            .min(Comparator.comparingLong(state::spareMemory))
            .map(OptionalInt::of)
            .orElse(OptionalInt.empty());
    return fits.isPresent() ? fits : MemoryPolicy.super.place(job, state);
  }

  @Override
  public void divide(ClusterState state) {
    for (int node = 0; node < state.cluster().nodes(); node++) {
      capacities(state, state.on(node)).forEach(RunningJob::setCapacity);
    }
  }

  private static Map<RunningJob, Long> capacities(ClusterState state, List<RunningJob> jobs) {
    long[] parts = ProportionalPolicy.shares(state, jobs);
    Map<RunningJob, Long> shares = new LinkedHashMap<>();
    for (int i = 0; i < parts.length; i++) {
      shares.put(jobs.get(i), parts[i]);
    }
    List<RunningJob> sorted = new ArrayList<>(jobs);
    sorted.sort(Comparator.comparingLong((RunningJob each) -> state.demand(each.job())).reversed());
    Map<RunningJob, Long> capacities = new LinkedHashMap<>();
    long free = state.cluster().memory();
    for (RunningJob job : sorted) {
      long wanted = state.demand(job.job());
      if (wanted > free) {
        wanted = Math.min(wanted, shares.getOrDefault(job, 0L));
        free += cut(capacities, shares, wanted - free);
      }
      capacities.put(job, Math.min(wanted, free));
      free -= Math.min(wanted, free);
    }
    return capacities;
  }

  /** Cuts jobs to their fair shares, those with the most beyond it first; returns the bytes. */
  private static long cut(
      Map<RunningJob, Long> capacities, Map<RunningJob, Long> shares, long needed) {
    List<RunningJob> richest = new ArrayList<>(capacities.keySet());
    richest.sort(
        Comparator.comparingLong((RunningJob each) -> beyond(each, capacities, shares)).reversed());
    long cut = 0;
    for (RunningJob each : richest) {
      long more = beyond(each, capacities, shares);
      if (cut >= needed || more <= 0) {
        break;
      }
      capacities.put(each, shares.getOrDefault(each, 0L));
      cut += more;
    }
    return cut;
  }

  private static long beyond(
      RunningJob job, Map<RunningJob, Long> capacities, Map<RunningJob, Long> shares) {
    return capacities.getOrDefault(job, 0L) - shares.getOrDefault(job, 0L);
  }
}
