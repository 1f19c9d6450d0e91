package io.holdfast.fs.transit;

import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Runs fetches at once, for origins that cannot hang: a hand-over to another thread costs as much
 * as the fetch of a small file. Thread-safe.
 */
public final class PlainFetchers implements Fetchers {
  private final Executor awaited;
  private final Executor ahead;
  private final AtomicInteger inFlight = new AtomicInteger();

  /**
   * Creates fetchers.
   *
   * @param awaited runs fetches that a reader waits for
   * @param ahead runs fetches that nobody waits for yet; it may reject them
   */
  public PlainFetchers(Executor awaited, Executor ahead) {
    this.awaited = awaited;
    this.ahead = ahead;
  }

  @Override
  public void execute(FetchTask task) {
    (task.awaited ? awaited : ahead).execute(() -> run(task));
  }

  private void run(FetchTask task) {
    inFlight.incrementAndGet();
    try {
      task.run();
    } finally {
      inFlight.decrementAndGet();
    }
  }

  @Override
  public void promote(FetchTask task) {
    task.awaited = true;
  }

  @Override
  public boolean giveUp(FetchTask task) {
    return false;
  }

  @Override
  public void arrived(int bytes, long nanos) {}

  @Override
  public void failed() {}

  @Override
  public void startLeft() {}

  @Override
  public void close() {}

  @Override
  public Figures figures() {
    return new Figures(0, inFlight.get(), 0, 0);
  }
}
