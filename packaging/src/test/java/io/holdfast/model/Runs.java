package io.holdfast.model;

import java.time.Duration;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.state.ActionChain;
import org.jspecify.annotations.Nullable;

/** Runs chains of operations, one after the other, on one system. Not thread-safe. */
final class Runs implements AutoCloseable {
  /** No chain begins after so many seconds; for scripts that ask for more tries than there are. */
  private static final Duration LONGEST =
      Duration.ofSeconds(Long.getLong("holdfast.model-seconds", 3600));

  private final SystemUnderTest system;
  private final long start = System.nanoTime();
  private @Nullable Session session;
  private long done;

  Runs(SystemUnderTest system) {
    this.system = system;
  }

  Arbitrary<ActionChain<Session>> chains(int longest) {
    return Operations.chains(system.itemSize(), longest, this::begin);
  }

  private Session begin() {
    Session begun = new Session(system, Operations.NAMES);
    session = begun;
    return begun;
  }

  void run(ActionChain<Session> chain) {
    if (System.nanoTime() - start > LONGEST.toNanos()) {
      return;
    }
    try {
      chain.run();
      done++;
    } finally {
      if (session != null) {
        session.close();
        session = null;
      }
    }
  }

  /** Ends the system, which must hold nothing any more. */
  @Override
  public void close() throws Refused {
    System.out.printf(
        "%s: %d chains of operations in %d s%n",
        system, done, Duration.ofNanos(System.nanoTime() - start).toSeconds());
    try {
      system.awaitNothingHeld();
    } finally {
      system.close();
    }
  }
}
