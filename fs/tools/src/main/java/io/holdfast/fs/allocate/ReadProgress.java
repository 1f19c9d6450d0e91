package io.holdfast.fs.allocate;

import io.holdfast.fs.figures.JobsFigures.Epoch;
import io.holdfast.fs.figures.JobsFigures.Job;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The speed of a mount's job over the last seconds, from figures that were looked at again and
 * again. Another job begins anew, and so does a daemon that counts from 0 again. Not thread-safe.
 */
public final class ReadProgress {
  private final double window;
  private final Deque<Point> points = new ArrayDeque<>();
  private String name = "";
  private long epoch;
  private long epochBytes;
  private double bytes;

  private record Point(double seconds, double bytes) {}

  /**
   * Begins.
   *
   * @param window seconds that the speed is of
   */
  public ReadProgress(double window) {
    this.window = window;
  }

  /**
   * Takes what a look has found.
   *
   * @param seconds of a clock
   */
  public void add(double seconds, Job job) {
    boolean other = !job.job().equals(name) || falls(job);
    long last = epoch;
    long lastBytes = epochBytes;
    if (other) {
      name = job.job();
      points.clear();
    }
    for (Epoch each : job.epochs()) {
      if (other || each.epoch() > last) {
        bytes += each.bytes();
      } else if (each.epoch() == last) {
        bytes += each.bytes() - lastBytes; // fewer where the next epoch had begun already
      }
      epoch = each.epoch();
      epochBytes = each.bytes();
    }
    points.addLast(new Point(seconds, bytes));
    while (points.size() > 2 && points.peekFirst().seconds() < seconds - window) {
      points.removeFirst();
    }
  }

  /** Tells whether the newest epoch, or its bytes so far, are fewer than they were. */
  private boolean falls(Job job) {
    if (job.epochs().isEmpty()) {
      return false;
    }
    Epoch newest = job.epochs().get(job.epochs().size() - 1);
    return newest.epoch() < epoch || (newest.epoch() == epoch && newest.bytes() < epochBytes);
  }

  /** Returns bytes per second; 0 before the second look. */
  public double speed() {
    Point first = points.peekFirst();
    Point last = points.peekLast();
    if (first == null || last == null || last.seconds() <= first.seconds()) {
      return 0;
    }
    return Math.max(0, (last.bytes() - first.bytes()) / (last.seconds() - first.seconds()));
  }
}
