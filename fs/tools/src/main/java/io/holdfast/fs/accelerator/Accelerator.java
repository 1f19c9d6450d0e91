package io.holdfast.fs.accelerator;

/**
 * An accelerator that computes nothing: it takes a batch, and is busy for a fixed time.
 *
 * <p>AU (accelerator utilization) as MLPerf Storage defines it: the time that it computes, divided
 * by the whole time, both without the first step, which waits for a loader that has just begun.
 *
 * <p>A step begins when the step before has ended and its batch is there, and not when the thread
 * wakes up. So a thread that the machine wakes late costs no AU, unless it is late at the end of
 * the run. The whole time ends with the window, and not with the last step: a run in which the last
 * batch never comes counts the time that was spent waiting for it.
 *
 * <p>One thread runs it; others may ask for results when that thread has ended.
 */
final class Accelerator {
  private final long computeNanos;
  private final Clock clock;

  /** Begin of the time that counts: the end of the first step. */
  private long start;

  /** The end of the last step that began. */
  private long free;

  /** All steps that began, the first one included. */
  private long steps;

  private long bytes;
  private long lastBytes;

  Accelerator(long computeNanos, Clock clock) {
    this.computeNanos = computeNanos;
    this.clock = clock;
  }

  /** Takes batches until the window is over or the thread is interrupted. */
  void run(Batches batches, Window window) throws InterruptedException {
    while (true) {
      Batch batch = batches.next();
      long begin = steps > 0 && free - batch.readyNanos() > 0 ? free : batch.readyNanos();
      if (begin - window.end() >= 0) {
        return;
      }
      free = begin + computeNanos;
      if (steps == 0) {
        start = free;
      } else {
        bytes += batch.bytes();
        lastBytes = batch.bytes();
      }
      steps++;
      clock.sleepUntil(free);
    }
  }

  /**
   * Returns what it did until the end of the window. A step that was not over then counts with the
   * part before the end.
   */
  Usage usage(long end) {
    long counted = Math.max(0, steps - 1);
    if (counted == 0 || end - start <= 0) {
      return new Usage(0, 0, 0, 0, 0);
    }
    long left = Math.max(0, free - end);
    long busy = counted * computeNanos - left;
    double computed = bytes - (double) lastBytes * left / computeNanos;
    return new Usage(counted, bytes, computed, busy / 1e9, (end - start) / 1e9);
  }

  /**
   * The work of an accelerator, without its first step.
   *
   * @param steps the steps that began
   * @param bytes the bytes of their batches
   * @param computedBytes the same, but of a step that was not over only its part
   * @param busySeconds the time that it computed
   * @param seconds the whole time; 0 if there was no step
   */
  record Usage(long steps, long bytes, double computedBytes, double busySeconds, double seconds) {
    /** Returns the AU, from 0 to 1; NaN if there was no step. */
    double utilization() {
      return seconds == 0 ? Double.NaN : busySeconds / seconds;
    }

    /** Returns bytes a second; NaN if there was no step. */
    double bytesPerSecond() {
      return seconds == 0 ? Double.NaN : computedBytes / seconds;
    }
  }
}
