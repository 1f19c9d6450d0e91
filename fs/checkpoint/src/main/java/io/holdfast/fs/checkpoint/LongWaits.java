package io.holdfast.fs.checkpoint;

import java.util.concurrent.atomic.AtomicInteger;
import jnr.constants.platform.Errno;

/**
 * Bounds how many requests wait at once for room in the front, or for a file that only the store
 * has. Each keeps its thread, for as long as the store likes, and other requests need some threads,
 * too: also those that end a wait. Thread-safe.
 */
public final class LongWaits {
  /** The most that wait at once. */
  public static final int MOST = 448;

  private final AtomicInteger now = new AtomicInteger();
  private volatile int most = MOST;

  /**
   * A request begins to wait.
   *
   * @param refusal the error of one too many
   */
  void begin(Errno refusal, String path) throws ErrnoException {
    int bound = most;
    if (now.getAndUpdate(waits -> Math.min(waits + 1, bound)) >= bound) {
      throw ErrnoException.because(refusal, path, "too many programs wait for the store");
    }
  }

  /** It does not wait any more. */
  void end() {
    now.decrementAndGet();
  }

  /** Lets fewer wait, for tests. */
  void allow(int fewer) {
    most = fewer;
  }
}
