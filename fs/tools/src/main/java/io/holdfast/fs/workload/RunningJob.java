package io.holdfast.fs.workload;

import io.holdfast.fs.allocate.PlannedMount;

/**
 * A job while it runs. The files of a pass are read once each, in any order. So a hit is a file
 * that was resident when the pass began, and what is admitted during a pass counts from the next
 * one on. Not thread-safe.
 */
final class RunningJob {
  /** A part of the dataset that is lost in rounding. */
  private static final double NOTHING = 1e-9;

  private final Job job;
  private final int node;
  private final double begin;
  private long capacity;
  private double left;
  private double resident;
  private double admitted;
  private double speed;

  RunningJob(Job job, int node, double begin) {
    this.job = job;
    this.node = node;
    this.begin = begin;
    this.left = job.bytes();
  }

  Job job() {
    return job;
  }

  PlannedMount mount() {
    return job.mount();
  }

  /** Returns the number of the node that it runs on, from 0. */
  int node() {
    return node;
  }

  /** Returns the second at which it began. */
  double begin() {
    return begin;
  }

  long capacity() {
    return capacity;
  }

  /** Returns the bytes that were resident when this pass began, and still are. */
  double resident() {
    return resident;
  }

  /** Returns the share of its reads that are not answered from memory. */
  double missShare() {
    return Math.max(0, 1 - resident / dataset());
  }

  double speed() {
    return speed;
  }

  void setSpeed(double bytesPerSecond) {
    speed = bytesPerSecond;
  }

  /** Sets its capacity. A smaller one evicts any files. */
  void setCapacity(long bytes) {
    capacity = bytes;
    if (admitted > bytes) {
      resident *= bytes / admitted;
      admitted = bytes;
    }
  }

  /** Returns the seconds until its hits change, or it ends. */
  double untilNext() {
    return (isSettled() ? left : leftOfPass()) / speed;
  }

  /** Reads on. */
  void run(double seconds) {
    double read = Math.min(left, speed * seconds);
    admitted = Math.min(most(), admitted + read * missShare());
    left -= read;
    if (leftOfPass() == dataset()) {
      resident = admitted;
    }
  }

  boolean hasEnded() {
    return left <= NOTHING * dataset();
  }

  private boolean isSettled() {
    return resident >= most() * (1 - NOTHING);
  }

  /** Returns the bytes of this pass that are still to be read; all of them where it begins. */
  private double leftOfPass() {
    double passes = left / dataset();
    double part = passes - Math.floor(passes);
    return part < NOTHING || part > 1 - NOTHING ? dataset() : part * dataset();
  }

  private double dataset() {
    return (double) mount().dataset();
  }

  /** Returns the bytes that can be resident. */
  private double most() {
    return Math.min((double) capacity, dataset());
  }
}
