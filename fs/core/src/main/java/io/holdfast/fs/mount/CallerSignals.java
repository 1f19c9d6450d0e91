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

  private static final Executor LATER =
      CompletableFuture.delayedExecutor(50, TimeUnit.MILLISECONDS, Runnable::run);

  private CallerSignals() {}

  private static long bit(int signal) {
    return 1L << (signal - 1);
  }

  /**
   * Tells whether a thread is being ended, or was asked to end. True if nothing can be known of the
   * thread.
   *
   * @param thread its number as the kernel gave it with a request; 0 if the thread is in a
   *     namespace that this process does not see
   */
  public static boolean end(int thread) {
    if (thread == 0) {
      return true;
    }
    return ends(Procfs.host(), thread);
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
