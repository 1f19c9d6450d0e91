package io.holdfast.fs.workload;

import java.util.OptionalInt;

/**
 * Synergy-Greedy: each job has its demand, on the first node where it fits, and waits until it
 * fits. Jobs behind one that waits may begin. Accelerators can stay idle meanwhile, which is why
 * Synergy does not do it so (Mohan et al., OSDI 2022, section 4.2).
 */
final class GreedyPolicy implements MemoryPolicy {
  @Override
  public String word() {
    return "greedy";
  }

  @Override
  public OptionalInt place(Job job, ClusterState state) {
    long demand = state.demand(job);
    return state.nodesFor(job).filter(node -> state.spareMemory(node) >= demand).findFirst();
  }

  @Override
  public boolean overtakes() {
    return true;
  }

  @Override
  public void divide(ClusterState state) {
    for (int node = 0; node < state.cluster().nodes(); node++) {
      long left = state.cluster().memory();
      for (RunningJob job : state.on(node)) {
        // demands grow where others come to a shared origin
        long part = Math.min(left, state.demand(job.job()));
        job.setCapacity(part);
        left -= part;
      }
    }
  }
}
