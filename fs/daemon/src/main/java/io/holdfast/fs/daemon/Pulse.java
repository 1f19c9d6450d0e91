package io.holdfast.fs.daemon;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Watches tasks that run again and again, and should never take long. A task that takes long, or is
 * not run any more, means that the daemon is stuck. Thread-safe.
 */
final class Pulse {
  private final LongSupplier nanoTime;
  private final List<Beat> beats = new CopyOnWriteArrayList<>();

  Pulse(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /** Returns a task that does the same; the pulse watches it from now on. */
  Runnable of(String name, Runnable task) {
    Beat beat = new Beat(name, task, nanoTime.getAsLong());
    beats.add(beat);
    return beat;
  }

  /**
   * Looks for a task whose last end is too long ago.
   *
   * @return the task's name, or null if all is well
   */
  @Nullable String stuck(Duration longest) {
    long now = nanoTime.getAsLong();
    for (Beat beat : beats) {
      if (now - beat.ended > longest.toNanos()) {
        return beat.name;
      }
    }
    return null;
  }

  private final class Beat implements Runnable {
    private final String name;
    private final Runnable task;
    private volatile long ended;

    Beat(String name, Runnable task, long now) {
      this.name = name;
      this.task = task;
      this.ended = now;
    }

    @Override
    public void run() {
      try {
        task.run();
      } finally {
        ended = nanoTime.getAsLong();
      }
    }
  }
}
