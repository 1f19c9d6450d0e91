package io.holdfast.peer.membership;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

final class RejectedConnectionsTest {
  @Test
  void add_many_allAreCountedAndOneAMinuteIsLogged() {
    AtomicLong time = new AtomicLong(Long.MAX_VALUE - 5);
    RejectedConnections refusals = new RejectedConnections(time::get);
    assertThat(refusals.add("a test", "the first")).isTrue();
    assertThat(refusals.add("a test", "at once")).isFalse();
    time.addAndGet(TimeUnit.SECONDS.toNanos(60) - 1);
    assertThat(refusals.add("a test", "just before a minute is over")).isFalse();
    time.incrementAndGet();
    assertThat(refusals.add("a test", "a minute later")).isTrue();
    assertThat(refusals.add("a test", "at once")).isFalse();
    assertThat(refusals.count()).isEqualTo(5);
  }
}
