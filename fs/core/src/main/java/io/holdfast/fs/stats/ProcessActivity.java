package io.holdfast.fs.stats;

import java.util.concurrent.atomic.LongAdder;

/** The opens and waits of a process since the mount. Thread-safe. */
final class ProcessActivity {
  final int pid;
  final String command;
  final long started;
  final JobFigures job;
  final LongAdder opens = new LongAdder();
  final LongAdder misses = new LongAdder();
  final LongAdder fetchedBytes = new LongAdder();
  final LongAdder stallNanos = new LongAdder();

  /** Whether the process has no row any more. If it is active again, it gets a new object. */
  volatile boolean forgotten;

  /** When one of its threads was last looked up; guarded by {@link Activity}'s lock. */
  long lastSeen;

  ProcessActivity(int pid, String command, long started, JobFigures job) {
    this.pid = pid;
    this.command = command;
    this.started = started;
    this.job = job;
  }
}
