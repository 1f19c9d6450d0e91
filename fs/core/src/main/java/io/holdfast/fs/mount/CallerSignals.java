package io.holdfast.fs.mount;

import io.holdfast.fs.linux.Procfs;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * Finds out, from /proc, whether a caller that got a signal ends. The kernel sends the same
 * INTERRUPT for every signal. After a timer's or a profiler's signal, a program goes on and expects
 * no EINTR, as from any other filesystem. Thread-safe.
 */
public final class CallerSignals {
  private static final int SIGHUP = 1;
  private static final int SIGINT = 2;
  private static final int SIGQUIT = 3;
  private static final int SIGKILL = 9;
  private static final int SIGTERM = 15;

  /**
   * The signals that end a program. A program that ends by any other signal has a pending SIGKILL.
   */
  private static final long ENDING =
      bit(SIGHUP) | bit(SIGINT) | bit(SIGQUIT) | bit(SIGKILL) | bit(SIGTERM);

  /** How long a thread waits before any signal ends the wait, if the signal cannot be known. */
  private static final long UNKNOWN_WAITS = TimeUnit.SECONDS.toNanos(1);

  private static final Executor LATER =
      CompletableFuture.delayedExecutor(50, TimeUnit.MILLISECONDS, Runnable::run);

  private CallerSignals() {}

  private static long bit(int signal) {
    return 1L << (signal - 1);
  }

  /**
   * Tells whether a thread is being ended, or was asked to end. Nothing can be known of a thread in
   * a namespace that this process does not see: it counts as ending once it has waited for a
   * second. So a timer's signal breaks no short request off, and a user can end a long one.
   *
   * @param thread its number as the kernel gave it with a request; 0 if the thread is in a
   *     namespace that this process does not see
   * @param since when the request came, by {@link System#nanoTime()}
   */
  public static boolean end(int thread, long since) {
    return thread == 0 ? System.nanoTime() - since > UNKNOWN_WAITS : ends(Procfs.host(), thread);
  }

  /** Runs a task a moment later: for a second look at a caller that has gone on after a signal. */
  public static void later(Runnable look) {
    LATER.execute(look);
  }

  /**
   * Tells the same of a thread in a namespace that this process sees. A thread without a status has
   * ended.
   */
  static boolean ends(Procfs procfs, int thread) {
    Procfs.Fields status = procfs.status(Integer.toString(thread));
    OptionalLong ofThread = status.mask("SigPnd");
    if (ofThread.isEmpty()) {
      return true;
    }
    long pending = ofThread.getAsLong() | status.mask("ShdPnd").orElse(0);
    return (pending & ENDING & ~status.mask("SigBlk").orElse(0)) != 0;
  }
}
