package io.holdfast.fs.workload;

import io.holdfast.fs.allocate.DemandCurve;
import io.holdfast.fs.allocate.PlannedMount;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;

/**
 * SiloD (Zhao et al., "SiloD: A Co-design of Caching and Scheduling for Deep Learning Clusters",
 * EuroSys 2023): memory is for those who save the most reads of the origin with a byte of it, which
 * is demand / dataset; and what a shared origin gives is divided, too. A job with the share x in
 * memory that is given b runs at b / (1 - x).
 *
 * <p>Deviations: each node has its own memory. A job is no faster than its model with all of the
 * origin. An origin's rate is divided in equal parts, and what a job does not need of its part goes
 * to the others (max-min fairness); SiloD has several ways, by the aim of the scheduler.
 */
final class SilodPolicy implements MemoryPolicy {
  @Override
  public String word() {
    return "silod";
  }

  @Override
  public void divide(ClusterState state) {
    for (int node = 0; node < state.cluster().nodes(); node++) {
      List<RunningJob> sorted = new ArrayList<>(state.on(node));
      sorted.sort(Comparator.comparingDouble(SilodPolicy::savedByAByte).reversed());
      long free = state.cluster().memory();
      for (RunningJob job : sorted) {
        long part = Math.min(free, job.mount().dataset());
        job.setCapacity(part);
        free -= part;
      }
    }
  }

  private static double savedByAByte(RunningJob job) {
    return (double) job.mount().rates().demand() / job.mount().dataset();
  }

  @Override
  public double[] speeds(ClusterState state) {
    List<RunningJob> running = state.running();
    double[] speeds = new double[running.size()];
    running.stream()
        .map(job -> job.mount().rates().sharedOrigin())
        .filter(Objects::nonNull)
        .distinct()
        .forEach(origin -> share(state.readers(origin), running, speeds));
    for (int i = 0; i < speeds.length; i++) {
      if (running.get(i).mount().rates().sharedOrigin() == null) {
        speeds[i] = alone(running.get(i));
      }
    }
    return speeds;
  }

  /** Divides an origin's rate among its jobs: those who need least come first. */
  private static void share(List<RunningJob> jobs, List<RunningJob> running, double[] speeds) {
    List<RunningJob> sorted = new ArrayList<>(jobs);
    sorted.sort(Comparator.comparingDouble(SilodPolicy::need));
    double left = (double) jobs.get(0).mount().rates().origin();
    for (int i = 0; i < sorted.size(); i++) {
      RunningJob job = sorted.get(i);
      double part = left / (sorted.size() - i);
      double need = need(job);
      speeds[running.indexOf(job)] = need <= part ? alone(job) : part / job.missShare();
      left -= Math.min(need, part);
    }
  }

  /** Returns the bytes per second that a job reads from its origin when nobody else does. */
  private static double need(RunningJob job) {
    return job.missShare() * alone(job);
  }

  private static double alone(RunningJob job) {
    PlannedMount mount = job.mount();
    return DemandCurve.of(mount, (double) mount.rates().origin()).speed((long) job.resident());
  }
}
