package io.holdfast.fs.transit;

import io.holdfast.fs.Await;
import io.holdfast.fs.origin.FakeOrigin;
import io.holdfast.fs.origin.OriginPath;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** Lets an origin deliver one step of a fetch at a time, each when the test says so. */
final class StepGate implements FakeOrigin.Gate {
  private final Semaphore steps = new Semaphore(0);
  private final Semaphore arrivals = new Semaphore(0);

  @Override
  public void read(OriginPath path, long offset, int length) {
    arrivals.release();
    acquire(steps);
  }

  /** Lets so many steps go on. */
  void allow(int count) {
    steps.release(count);
  }

  /** Waits until a fetch is about to read a step. */
  void awaitStep() {
    acquire(arrivals);
  }

  private static void acquire(Semaphore semaphore) {
    try {
      if (!semaphore.tryAcquire(Await.LONGEST.toSeconds(), TimeUnit.SECONDS)) {
        throw new AssertionError("no step");
      }
    } catch (InterruptedException e) {
      throw new AssertionError("interrupted", e);
    }
  }
}
