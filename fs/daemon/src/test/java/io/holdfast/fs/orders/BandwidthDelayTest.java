package io.holdfast.fs.orders;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Tests of {@link BandwidthDelay}: a job reads a byte each microsecond. */
final class BandwidthDelayTest {
  private static final long MICRO = 1000;
  private static final long MILLI = 1_000_000;

  private long now;
  private final BandwidthDelay ahead = new BandwidthDelay(now);

  private long read(long millis) {
    now += millis * MILLI;
    ahead.read(millis * MILLI / MICRO);
    return ahead.bytes(now, true);
  }

  @Test
  void bytes_beforeAnythingIsKnown_areNone() {
    assertThat(ahead.bytes(now, false)).isZero();
    assertThat(read(1000)).as("no fetch has ended").isZero();
    ahead.fetched(50 * MILLI);
    assertThat(new BandwidthDelay(now).bytes(now + 1000 * MILLI, true)).isZero();
  }

  @Test
  void bytes_ofSteadyFetches_areThoseOfTwiceTheirTime() {
    for (int i = 0; i < 20; i++) {
      ahead.fetched(50 * MILLI);
    }
    assertThat(read(49)).as("the first rate").isZero();
    assertThat(read(1)).isEqualTo(100_000);
    assertThat(read(200)).isEqualTo(100_000);
  }

  @Test
  void bytes_ofFetchesThatVary_areMore() {
    for (int i = 0; i < 100; i++) {
      ahead.fetched((i % 4 == 0 ? 140 : 20) * MILLI); // 50 ms on average
    }
    assertThat(read(200)).isBetween(200_000L, 400_000L);
  }

  @Test
  void rate_risesAtOnce_andFallsSlowly() {
    ahead.fetched(100 * MILLI);
    assertThat(read(200)).isEqualTo(200_000);
    now += 200 * MILLI;
    assertThat(ahead.bytes(now, true)).as("a pause").isEqualTo(150_000);
    assertThat(read(200)).isEqualTo(200_000);
  }

  @Test
  void time_beforeTheJobReads_doesNotCount() {
    ahead.fetched(100 * MILLI);
    now += 60_000 * MILLI;
    assertThat(ahead.bytes(now, false)).isZero();
    now += 60_000 * MILLI;
    ahead.begin();
    assertThat(ahead.bytes(now, true)).isZero();
    assertThat(read(50)).isEqualTo(200_000);
  }

  @Test
  void follow_takesOverWhatWasMeasured() {
    ahead.fetched(100 * MILLI);
    read(200);
    BandwidthDelay next = new BandwidthDelay(now);
    next.follow(ahead.copy());
    assertThat(next.bytes(now, false)).isEqualTo(200_000);
  }
}
