package io.holdfast.fs.stats;

import io.holdfast.fs.ReadSource;

/**
 * A thread that opens and reads files. Thread-safe; the monitor guards the reads under way.
 *
 * <p>The kernel may send several READs at once for one thread, which is blocked only once. So the
 * time counts during which at least one of its reads was not answered.
 */
public final class Caller {
  private final ProcessActivity process;
  private int reading;
  private long since;

  Caller(ProcessActivity process) {
    this.process = process;
  }

  ProcessActivity process() {
    return process;
  }

  /** Returns the thread's process. */
  public int pid() {
    return process.pid;
  }

  /** Returns the job that it belongs to. */
  public String job() {
    return process.job.name;
  }

  /** Notes that a read begins. */
  public synchronized void reads(long now) {
    if (reading == 0) {
      since = now;
    }
    reading++;
  }

  /**
   * Notes that a read has been answered, or has failed.
   *
   * @param source the tier that answered
   * @return how long the thread was blocked, beyond what was returned before
   */
  public long answered(long now, ReadSource source) {
    long nanos;
    synchronized (this) {
      nanos = Math.max(0, now - since);
      since = Math.max(since, now);
      reading--;
    }
    process.stallNanos.add(nanos);
    process.job.stalled(source).add(nanos);
    process.job.active();
    return nanos;
  }
}
