package io.holdfast.fs.workload;

import io.holdfast.fs.allocate.SharedOrigins;
import io.holdfast.fs.allocate.Split;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalInt;

/** How the memory of nodes is divided among their jobs, in one simulation. */
interface MemoryPolicy {
  /** Returns its name on the command line. */
  String word();

  /**
   * Returns the node on which a job begins now: the one whose accelerators are used least. Empty
   * where it has to wait.
   */
  default OptionalInt place(Job job, ClusterState state) {
    return state
        .nodesFor(job)
        .boxed()
        .min(Comparator.comparingLong(state::busy))
        .map(OptionalInt::of)
        .orElse(OptionalInt.empty());
  }

  /** Tells whether a job may begin while one that has arrived before it has to wait. */
  default boolean overtakes() {
    return false;
  }

  /** Sets the capacities of all jobs, after one has begun or ended. */
  void divide(ClusterState state);

  /**
   * Returns the bytes per second of each job that runs, in their order. An origin serves those
   * alike that wait for it.
   */
  default double[] speeds(ClusterState state) {
    List<RunningJob> running = state.running();
    SharedOrigins origins = new SharedOrigins(ClusterState.plan(Long.MAX_VALUE, running));
    Split split = origins.of(running.stream().mapToLong(each -> (long) each.resident()).toArray());
    double[] speeds = new double[running.size()];
    Arrays.setAll(speeds, split::speed);
    return speeds;
  }
}
