package io.holdfast.peer.membership;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * A single thread that could not be started, or a heap that was full for a moment, ended the thread
 * of JGroups that accepts connections: no node could join by this one any more.
 */
final class MembershipThreadsTest {
  static {
    KnownTypes.install();
  }

  private static final long STACK_THAT_CANNOT_BE = 1L << 60;

  @Test
  void start_noThreadLeft_isAnException() {
    Thread thread = new MembershipThreads(STACK_THAT_CANNOT_BE).newThread(() -> {}, "a receiver");
    assertThat(thread.isDaemon()).isTrue();
    assertThatIllegalStateException()
        .isThrownBy(thread::start)
        .withMessageContaining("no thread for a receiver")
        .withCauseInstanceOf(OutOfMemoryError.class);
  }

  @Test
  void acceptor_heapFullForAMoment_goesOn() throws Exception {
    AtomicInteger runs = new AtomicInteger();
    Thread acceptor =
        new MembershipThreads()
            .newThread(
                () -> {
                  if (runs.incrementAndGet() == 1) {
                    throw new OutOfMemoryError("Java heap space, for the test");
                  }
                },
                MembershipThreads.ACCEPTOR + "[7071]");
    acceptor.start();
    acceptor.join(Duration.ofSeconds(60).toMillis());
    assertThat(runs).hasValue(2);
  }
}
