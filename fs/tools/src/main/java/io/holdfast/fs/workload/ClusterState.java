package io.holdfast.fs.workload;

import io.holdfast.fs.allocate.DemandCurve;
import io.holdfast.fs.allocate.Plan;
import io.holdfast.fs.allocate.PlannedMount;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** The jobs that run at a moment, and where. Not thread-safe. */
final class ClusterState {
  private final Cluster cluster;
  private final List<RunningJob> running = new ArrayList<>();

  ClusterState(Cluster cluster) {
    this.cluster = cluster;
  }

  Cluster cluster() {
    return cluster;
  }

  /** Returns the jobs that run, in the order in which they began. */
  List<RunningJob> running() {
    return running;
  }

  /** Returns those of a node. */
  List<RunningJob> on(int node) {
    return running.stream().filter(each -> each.node() == node).toList();
  }

  /** Returns the numbers of the nodes that have accelerators for a job. */
  IntStream nodesFor(Job job) {
    return IntStream.range(0, cluster.nodes())
        .filter(node -> job.accelerators() <= cluster.accelerators() - busy(node));
  }

  /** Returns the accelerators of a node that are occupied. */
  long busy(int node) {
    return on(node).stream().mapToLong(each -> each.job().accelerators()).sum();
  }

  /** Returns the memory of a node that its jobs leave, when each takes its demand. */
  long spareMemory(int node) {
    long spare = cluster.memory();
    for (RunningJob each : on(node)) {
      spare -= Math.min(spare, demand(each.job()));
    }
    return spare;
  }

  /**
   * Returns the bytes from which on memory does not help a job, or those of a node. Of a shared
   * origin it reckons with an equal part for all that run, and for the job itself.
   */
  long demand(Job job) {
    double rate = (double) job.mount().rates().origin();
    String origin = job.mount().rates().sharedOrigin();
    if (origin != null) {
      rate /= 1 + readers(origin).stream().filter(each -> !each.job().equals(job)).count();
    }
    return Math.min(cluster.memory(), DemandCurve.of(job.mount(), rate).sufficient());
  }

  /** Returns the jobs that share an origin. */
  List<RunningJob> readers(String origin) {
    return running.stream()
        .filter(each -> origin.equals(each.mount().rates().sharedOrigin()))
        .toList();
  }

  /** Returns jobs as the mounts of a plan. */
  static Plan plan(long budget, List<RunningJob> jobs) {
    List<PlannedMount> mounts = jobs.stream().map(RunningJob::mount).toList();
    return new Plan(budget, mounts);
  }
}
