package io.holdfast.fs.plan;

import io.holdfast.fs.OutOfMemory;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Works on the thread that may compute: ten times a second at most, and never twice at once.
 * Thread-safe.
 */
final class PlanThread {
  private static final long PAUSE = Duration.ofMillis(100).toNanos();

  private static final Logger log = LoggerFactory.getLogger(PlanThread.class);

  private final PlanParts parts;
  private final Runnable work;
  private final Consumer<Throwable> failed;
  private final AtomicBoolean working = new AtomicBoolean();
  private volatile long lastWork;

  /**
   * Begins without work.
   *
   * @param failed learns that the work has failed
   */
  PlanThread(PlanParts parts, Runnable work, Consumer<Throwable> failed) {
    this.parts = parts;
    this.work = work;
    this.failed = failed;
    lastWork = parts.nanoTime().getAsLong();
  }

  /** Has the work done, if that is due. Waits for nothing. */
  void look() {
    long now = parts.nanoTime().getAsLong();
    if (now - lastWork < PAUSE || working.getAndSet(true)) {
      return;
    }
    lastWork = now;
    try {
      parts.thread().execute(this::work);
    } catch (RejectedExecutionException e) {
      working.set(false); // the mount is ending
    } catch (OutOfMemoryError e) {
      OutOfMemory.tell(e); // no room for the work, or no thread: the next look tries again
      working.set(false);
    }
  }

  private void work() {
    try {
      work.run();
    } catch (RuntimeException | OutOfMemoryError e) {
      log.error("no plan can be made", e);
      failed.accept(e);
    } finally {
      working.set(false);
    }
  }
}
