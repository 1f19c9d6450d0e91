package io.holdfast.fs.mount;

import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Counts tasks under way. A caller can wait until all tasks that began before have ended, while
 * more tasks begin. Thread-safe.
 */
public final class UnderWay {
  /** How long a wait lasts at most. */
  static final Duration LONGEST = Duration.ofSeconds(2);

  private final Duration longest;
  private Begun current = new Begun(null);

  /** The tasks that began between two calls of {@link #earlier}, as one of them knows them. */
  public static final class Begun {
    private int tasks;

    /** The last one before this that had tasks under way when somebody looked. */
    private @Nullable Begun before;

    private Begun(@Nullable Begun before) {
      this.before = before;
    }

    private boolean hasEnded() {
      while (before != null && before.tasks == 0) {
        before = before.before;
      }
      return tasks == 0 && before == null;
    }
  }

  UnderWay() {
    this(LONGEST);
  }

  /**
   * Creates one without tasks.
   *
   * @param longest how long a wait lasts at most
   */
  UnderWay(Duration longest) {
    this.longest = longest;
  }

  /**
   * Notes that a task begins.
   *
   * @return to be passed to {@link #end}
   */
  synchronized Begun begin() {
    current.tasks++;
    return current;
  }

  /** Notes that a task has ended. */
  synchronized void end(Begun begun) {
    if (--begun.tasks == 0) {
      notifyAll();
    }
  }

  /** Returns a wait for all tasks that are under way now. */
  synchronized KernelView.Earlier earlier() {
    if (current.hasEnded()) {
      return () -> true;
    }
    Begun last = current;
    current = new Begun(last);
    return () -> await(last);
  }

  private synchronized boolean await(Begun last) {
    return await(this, longest, last::hasEnded);
  }

  /**
   * Waits until a condition holds.
   *
   * @param monitor held by the caller, and notified whenever the condition may have changed
   * @param longest how long the wait lasts at most
   * @return whether the condition holds
   */
  static boolean await(Object monitor, Duration longest, BooleanSupplier condition) {
    long end = System.nanoTime() + longest.toNanos();
    while (!condition.getAsBoolean()) {
      long left = (end - System.nanoTime()) / 1_000_000;
      if (left <= 0) {
        return false;
      }
      try {
        monitor.wait(left);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return false;
      }
    }
    return true;
  }
}
