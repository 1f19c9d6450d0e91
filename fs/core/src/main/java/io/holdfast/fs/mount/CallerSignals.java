package io.holdfast.fs.mount;

import io.holdfast.fs.linux.Procfs;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * What a caller that got a signal is about to do, from /proc. The kernel tells of any signal by the
 * same INTERRUPT, also of a timer's or a profiler's, after which a program goes on and expects what
 * it would get of any other filesystem: no EINTR. Thread-safe.
 */
public final class CallerSignals {
  private static final int SIGHUP = 1;
  private static final int SIGINT = 2;
  private static final int SIGQUIT = 3;
  private static final int SIGKILL = 9;
  private static final int SIGTERM = 15;

  /** What ends a program; one that ends by any other signal has a pending SIGKILL. */
  private static final long ENDING =
      bit(SIGHUP) | bit(SIGINT) | bit(SIGQUIT) | bit(SIGKILL) | bit(SIGTERM);

  private static final Executor LATER =
      CompletableFuture.delayedExecutor(50, TimeUnit.MILLISECONDS, Runnable::run);

  private CallerSignals() {}

  private static long bit(int signal) {
    return 1L << (signal - 1);
  }

  /**
   * Tells whether a thread is being ended, or was asked to end; also where nothing can be known of
   * it.
   *
   * @param thread its number as the kernel gave it with a request; 0 where it is of a namespace
   *     that this process does not see
   */
  public static boolean end(int thread) {
    if (thread == 0) {
      return true;
    }
    return ends(Procfs.host(), thread);
  }

  /** Has somebody look again, a moment later, at a caller that has gone on after a signal. */
  public static void later(Runnable look) {
    LATER.execute(look);
  }

  /** The same of a thread that can be seen; one without a status has ended. */
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
