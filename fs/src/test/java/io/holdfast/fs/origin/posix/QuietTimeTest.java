package io.holdfast.fs.origin.posix;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class QuietTimeTest {
  private static final Instant NOW = Instant.parse("2026-11-21T12:00:00.5Z");

  /** Milliseconds; the quiet time is 100. */
  @ParameterizedTest(name = "written {0} ms ago: {1} ms left")
  @CsvSource({"0,100", "1,99", "99,1", "100,0", "101,0", "1000000,0", "-1,0", "-60000,0"})
  void left_writtenAWhileAgo_isTheRest(long age, long left) {
    QuietTime quietTime = new QuietTime(InstantSource.fixed(NOW));
    assertThat(quietTime.left(nanos(NOW.minusMillis(age))))
        .isEqualTo(Duration.ofMillis(left).toNanos());
  }

  @ParameterizedTest
  @ValueSource(longs = {Long.MIN_VALUE / 2, -1, 0, Long.MAX_VALUE})
  void left_timesFarAway_isNothing(long modified) {
    assertThat(new QuietTime(InstantSource.fixed(NOW)).left(modified)).isZero();
  }

  @Test
  void awaitAfter_writtenNow_returnsWhenTheQuietTimeIsOver() {
    InstantSource clock = InstantSource.system();
    long written = nanos(clock.instant());
    new QuietTime(clock).awaitAfter(written);
    assertThat(nanos(clock.instant()) - written)
        .isGreaterThanOrEqualTo(QuietTime.LENGTH.toNanos() - Duration.ofMillis(1).toNanos());
  }

  private static long nanos(Instant time) {
    return time.getEpochSecond() * 1_000_000_000L + time.getNano();
  }
}
