package io.holdfast.fs.workload;

import io.holdfast.fs.allocate.Plan;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Jobs, and the cluster that they run on. Immutable.
 *
 * @param jobs at least one
 */
public record Workload(Cluster cluster, List<Job> jobs) {
  /**
   * Checks what the jobs say together.
   *
   * @throws IllegalArgumentException with one line that names the key and says what to do
   */
  public Workload {
    jobs = List.copyOf(jobs);
    Map<String, Integer> numbers = new HashMap<>();
    for (int i = 0; i < jobs.size(); i++) {
      Job job = jobs.get(i);
      Integer other = numbers.putIfAbsent(job.name(), i);
      if (other != null) {
        throw new IllegalArgumentException(
            "jobs[%d].name is '%s', and so is jobs[%d].name: give each job its own name"
                .formatted(i, job.name(), other));
      }
      if (job.accelerators() > cluster.accelerators()) {
        throw new IllegalArgumentException(
            "jobs[%d] ('%s') has %d accelerators, and a node has %d: a job runs on one node"
                .formatted(i, job.name(), job.accelerators(), cluster.accelerators()));
      }
    }
    Plan.requireOneRatePerOrigin(jobs.stream().map(Job::mount).toList());
  }
}
