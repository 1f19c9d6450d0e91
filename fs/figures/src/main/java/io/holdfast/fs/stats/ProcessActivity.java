package io.holdfast.fs.stats;

import io.holdfast.fs.linux.Procfs.ProcessStat;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** The opens and waits of a process since the mount. Thread-safe. */
final class ProcessActivity {
  final int pid;
  final String command;

  /** When it started; 0 if nothing is known of it. */
  final long started;

  /** The process that has started it; null if that starts jobs, or is not known. */
  final @Nullable ProcessStat parent;

  final LongAdder opens = new LongAdder();
  final LongAdder items = new LongAdder();
  final LongAdder misses = new LongAdder();
  final LongAdder fetchedBytes = new LongAdder();
  final LongAdder stallNanos = new LongAdder();

  /** Its job; written under {@link Activity}'s lock. */
  volatile JobFigures job;

  /** Whether the process has no row any more. If it is active again, it gets a new object. */
  volatile boolean forgotten;

  /** Its CPU time up to the last look that counted; guarded by {@link ReaderClock}'s monitor. */
  private long cpu;

  /** When one of its threads was last looked up; guarded by {@link Activity}'s lock. */
  long lastSeen;

  /**
   * Creates a process that has done nothing.
   *
   * @param process null if nothing is known of it
   */
  ProcessActivity(
      int pid, @Nullable ProcessStat process, @Nullable ProcessStat parent, JobFigures job) {
    this.pid = pid;
    this.command = process == null ? "" : process.command();
    this.started = process == null ? 0 : process.started();
    this.cpu = process == null ? 0 : process.cpuNanos();
    this.parent = parent;
    this.job = job;
  }

  /** Tells whether {@code /proc} showed nothing of it. */
  boolean isHidden() {
    return started == 0;
  }

  /**
   * Returns the CPU time since the last look that counted.
   *
   * @param now the CPU time by now, in nanoseconds
   * @param counts whether this look counts
   */
  long cpuUntil(long now, boolean counts) {
    long nanos = Math.max(0, now - cpu);
    if (counts) {
      cpu = now;
    }
    return nanos;
  }
}
