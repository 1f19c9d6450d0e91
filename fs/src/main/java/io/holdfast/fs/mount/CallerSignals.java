package io.holdfast.fs.mount;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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

  private static final int HEX = 16;

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
    try {
      return ends(Files.readAllLines(Path.of("/proc/" + thread + "/status")));
    } catch (IOException e) {
      return true; // it has ended
    }
  }

  /** Has somebody look again, a moment later, at a caller that has gone on after a signal. */
  public static void later(Runnable look) {
    LATER.execute(look);
  }

  /** Tells that of a thread's {@code status}, as proc(5) has it. */
  static boolean ends(List<String> status) {
    long pending = mask(status, "SigPnd:") | mask(status, "ShdPnd:");
    return (pending & ENDING & ~mask(status, "SigBlk:")) != 0;
  }

  private static long mask(List<String> status, String key) {
    for (String line : status) {
      if (line.startsWith(key)) {
        return Long.parseUnsignedLong(line.substring(key.length()).strip(), HEX);
      }
    }
    return 0;
  }
}
