package io.holdfast.fs;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says which bound of the process was met (its heap, the threads that it may start, or the memory
 * outside the heap), and how to raise it. Thread-safe. Its only state is the time of the last line
 * in the log.
 */
public final class OutOfMemory {
  private static final Logger log = LoggerFactory.getLogger(OutOfMemory.class);

  /** The failure of a request that meets a bound. Made once: later there may be no room for it. */
  @SuppressWarnings("StaticAssignmentOfThrowable")
  public static final FsException FAILURE =
      new FsException(FsError.NO_MEMORY, "the heap is full, or no thread can be started");

  private static final String OUTSIDE_HEAP = "no memory outside the heap for ";

  private static final Duration PAUSE = Duration.ofMinutes(1);

  /**
   * When the next line is due. Begins with {@link System#nanoTime}, because that may be any number.
   */
  private static final AtomicLong NEXT = new AtomicLong(System.nanoTime());

  private OutOfMemory() {}

  /**
   * Returns the error of code that finds no memory outside the heap.
   *
   * @param what what needs it
   */
  public static OutOfMemoryError outsideHeap(String what) {
    return new OutOfMemoryError(OUTSIDE_HEAP + what);
  }

  /**
   * Logs the bound, at most once a minute. Never fails: if there is no memory for the line either,
   * the next call logs it.
   */
  public static void tell(OutOfMemoryError met) {
    long due = NEXT.get();
    long now = System.nanoTime();
    if (now - due < 0 || !NEXT.compareAndSet(due, now + PAUSE.toNanos())) {
      return;
    }
    try {
      log.error("{}", describe(met), met);
    } catch (OutOfMemoryError e) {
      NEXT.set(now);
    }
  }

  /**
   * Logs a failure that a thread outlives, for want of memory or of another kind. Never fails, so a
   * thread that ends its turns with this call goes on to the next one.
   *
   * @param log the log of the caller
   * @param failed the line for a failure of another kind
   */
  public static void tell(Logger log, String failed, Throwable failure) {
    try {
      if (failure instanceof OutOfMemoryError met) {
        tell(met);
      } else {
        log.error(failed, failure);
      }
    } catch (OutOfMemoryError e) {
      tell(e);
    }
  }

  /** Returns the bound and its fix, in one line. */
  public static String describe(OutOfMemoryError met) {
    String reason = String.valueOf(met.getMessage());
    if (reason.startsWith(OUTSIDE_HEAP)) {
      return reason
          + ": what needs more fails with an error; fix: raise 'ulimit -v', the cgroup's memory.max,"
          + " or MemoryMax= of the unit, and 'holdfast restart'";
    }
    return reason.contains("native thread")
        ? "no thread can be started: what needs one fails with an error; fix: raise 'ulimit -u', the"
            + " cgroup's pids.max, or TasksMax= of the unit, and 'holdfast restart'"
        : "the heap of "
            + Runtime.getRuntime().maxMemory()
            + " bytes is full ("
            + reason
            + "): what needs more fails with an error; fix: mount with a larger HOLDFAST_HEAP";
  }
}
