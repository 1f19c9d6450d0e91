package io.holdfast.fs.workload;

import java.util.List;

/**
 * What came of a workload under a policy. Times are in seconds from the beginning of the workload's
 * own time. Immutable.
 *
 * @param policy its name
 * @param jobs in the order of the workload
 * @param speeds of all jobs together, from each moment on at which it changed
 */
public record Outcome(String policy, List<Ended> jobs, List<Speed> speeds) {
  /**
   * A job that has ended.
   *
   * @param node on which it ran, from 0
   */
  public record Ended(Job job, int node, double begin, double end) {
    /** Returns its completion time: the seconds from its arrival to its end. */
    public double completion() {
      return end - job.arrival();
    }

    /** Returns the bytes per second that it read while it ran. */
    public double speed() {
      return job.bytes() / (end - begin);
    }
  }

  /** Bytes per second from a moment on. */
  public record Speed(double seconds, double bytesPerSecond) {}

  /** Takes over the jobs. */
  public Outcome {
    jobs = List.copyOf(jobs);
    speeds = List.copyOf(speeds);
  }

  /** Returns the seconds from the first arrival to the last end. */
  public double makespan() {
    double first = jobs.stream().mapToDouble(each -> each.job().arrival()).min().orElse(0);
    return jobs.stream().mapToDouble(Ended::end).max().orElse(0) - first;
  }

  /** Returns the bytes per second that all jobs together read until the last has ended. */
  public double throughput() {
    return jobs.stream().mapToDouble(each -> each.job().bytes()).sum() / makespan();
  }

  /** Returns the mean of the jobs' completion times. */
  public double meanCompletion() {
    return jobs.stream().mapToDouble(Ended::completion).average().orElse(0);
  }

  /** Returns the least completion time that 95 of 100 jobs do not exceed (nearest rank). */
  public double completion95() {
    double[] sorted = jobs.stream().mapToDouble(Ended::completion).sorted().toArray();
    return sorted[(95 * sorted.length + 99) / 100 - 1];
  }

  /** Returns how many jobs took more than a hundredth longer than in another outcome. */
  public long slowerThan(Outcome other) {
    long slower = 0;
    for (int i = 0; i < jobs.size(); i++) {
      slower += jobs.get(i).completion() > 1.01 * other.jobs.get(i).completion() ? 1 : 0;
    }
    return slower;
  }
}
