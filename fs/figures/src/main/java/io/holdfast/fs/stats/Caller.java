package io.holdfast.fs.stats;

import io.holdfast.fs.ReadSource;
import org.jspecify.annotations.Nullable;

/**
 * A thread that opens and reads files. Thread-safe; the monitor guards the reads and opens.
 *
 * <p>The kernel may send several READs at once for one thread, which is blocked only once. So the
 * time counts during which at least one of its reads was not answered.
 */
public final class Caller {
  /** The kernel's id of it, or 0 if it is unknown. */
  final int thread;

  private final ProcessActivity process;
  private int reading;

  /** The job that was told that this thread waits for a read; null if it does not wait. */
  private @Nullable JobFigures told;

  /** When a read last began or was answered. */
  private long since;

  private long lastOpen;
  private long bytes;

  /** Whether the thread has ended; its number may be another one's now. */
  volatile boolean hasEnded;

  // guarded by the ReaderClock's monitor: the reader at the last look that counted

  /** When the thread was first seen. */
  long firstSeen;

  /** The time up to which its time is counted. */
  long counted;

  /** The last look that found it active. */
  long seenActive;

  /** Whether a look has found it active before. */
  boolean goesOn;

  /** Its CPU time by then. */
  long cpu;

  /** The time that it had waited for a processor by then. */
  long runDelay;

  /** Its {@link #bytes()} at the last look. */
  long seenBytes;

  /** Whether it is a reader: it goes on, and takes as much as a reader does. */
  boolean counts;

  Caller(int thread, ProcessActivity process, long now) {
    this.thread = thread;
    this.process = process;
    this.since = now;
    this.lastOpen = now;
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
      told = process.job; // it may be of another one when the read ends
      told.readBegins();
    }
    reading++;
  }

  /**
   * Notes that a read has been answered, or has failed.
   *
   * @param source the tier that answered
   * @param length bytes of the answer
   * @return how long the thread was blocked, beyond what was returned before
   */
  public long answered(long now, ReadSource source, long length) {
    long nanos;
    JobFigures waited = null;
    synchronized (this) {
      nanos = Math.max(0, now - since);
      since = Math.max(since, now);
      reading--;
      bytes += length;
      if (reading == 0) {
        waited = told;
        told = null;
      }
    }
    try {
      process.stallNanos.add(nanos);
      process.job.stalled(source).add(nanos);
      process.job.active();
    } finally {
      // a counter may find no heap
      if (waited != null) {
        waited.readEnds(); // last: until here the job did not rest
      }
    }
    return nanos;
  }

  /** Notes opens. */
  synchronized void opened(OpenBatch batch, long now) {
    lastOpen = now;
    bytes += batch.bytes();
  }

  /** Returns the bytes of the files that it has opened, and those that the daemon answered. */
  synchronized long bytes() {
    return bytes;
  }

  /** Tells whether a read of it is not answered yet. */
  synchronized boolean isReading() {
    return reading > 0;
  }

  /** Returns when it last opened or read something. */
  synchronized long lastActive(long now) {
    if (reading > 0) {
      return now;
    }
    return since - lastOpen > 0 ? since : lastOpen;
  }
}
