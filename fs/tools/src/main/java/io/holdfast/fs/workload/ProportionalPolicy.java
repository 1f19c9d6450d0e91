package io.holdfast.fs.workload;

import io.holdfast.fs.allocate.FairShare;
import java.util.List;

/**
 * A node's memory by the accelerators of its jobs, which is equal parts where all have as many: the
 * fair share of {@code holdfast allocate}, and what schedulers give that look at accelerators only.
 * Synergy's has a fixed share for each accelerator of the node; here those that nobody occupies
 * leave theirs to the others.
 */
final class ProportionalPolicy implements MemoryPolicy {
  static final String WORD = "proportional";

  @Override
  public String word() {
    return WORD;
  }

  @Override
  public void divide(ClusterState state) {
    for (int node = 0; node < state.cluster().nodes(); node++) {
      List<RunningJob> jobs = state.on(node);
      long[] shares = shares(state, jobs);
      for (int i = 0; i < shares.length; i++) {
        jobs.get(i).setCapacity(shares[i]);
      }
    }
  }

  /** Returns the fair shares of the jobs of a node. */
  static long[] shares(ClusterState state, List<RunningJob> jobs) {
    return jobs.isEmpty()
        ? new long[0]
        : FairShare.of(ClusterState.plan(state.cluster().memory(), jobs));
  }
}
