package io.holdfast.fs.origin.posix;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class QuietTimeTest {
  private static final Instant NOW = Instant.parse("2026-11-21T12:00:00.5Z");

  /** Milliseconds; the quiet time is 100, and of a clock that is ahead all of it is left. */
  @ParameterizedTest(name = "changed {0} ms ago: {1} ms left")
  @CsvSource({"0,100", "1,99", "99,1", "100,0", "101,0", "1000000,0", "-1,100", "-60000,100"})
  void left_changedAWhileAgo_isTheRest(long age, long left) {
    QuietTime quietTime = new QuietTime(InstantSource.fixed(NOW));
    assertThat(quietTime.left(nanos(NOW.minusMillis(age))))
        .isEqualTo(Duration.ofMillis(left).toNanos());
  }

  /** Even seconds may be of a clock with ticks of two. */
  @ParameterizedTest(name = "changed {0} ms ago, in a whole second: {1} ms left")
  @CsvSource({"500,1600", "1500,0", "2500,0", "-500,1100", "-1500,2100"})
  void left_changedInAWholeSecond_isTheRestOfTheTickAsWell(long age, long left) {
    QuietTime quietTime = new QuietTime(InstantSource.fixed(NOW));
    assertThat(quietTime.left(nanos(NOW.minusMillis(age))))
        .isEqualTo(Duration.ofMillis(left).toNanos());
  }

  @ParameterizedTest
  @ValueSource(longs = {Long.MIN_VALUE / 2, -1, 0})
  void left_changedLongAgo_isNothing(long changed) {
    assertThat(new QuietTime(InstantSource.fixed(NOW)).left(changed)).isZero();
  }

  /**
   * A file is written at random times on a store with a clock of its own, and read whenever that is
   * allowed: two reads of one version give the same bytes.
   */
  @ParameterizedTest
  @ValueSource(longs = {1, 1_000_000, 4_000_000, 10_000_000, 1_000_000_000, 2_000_000_000})
  void reads_ofAVersion_giveTheSameBytesWhateverTheTick(long tick) {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int round = 0; round < 200; round++) {
      long ahead = random.nextBoolean() ? 0 : random.nextLong(Duration.ofMinutes(2).toNanos());
      long now = nanos(NOW) + random.nextLong(Duration.ofSeconds(3).toNanos());
      long changed;
      Map<Long, Integer> read = new HashMap<>();
      for (int content = 0; content < 400; content++) {
        now += random.nextLong(Duration.ofMillis(random.nextBoolean() ? 20 : 700).toNanos());
        changed = (now + ahead) / tick * tick;
        now += random.nextLong(Duration.ofMillis(random.nextBoolean() ? 20 : 700).toNanos());
        long seen = changed;
        long end = now + left(now, changed);
        if (end > now && random.nextBoolean()) {
          // written again while who reads waits
          changed = (now + random.nextLong(end - now) + ahead) / tick * tick;
          content++;
        }
        now = end;
        if (changed == seen) {
          assertThat(read.merge(changed, content, (before, after) -> before))
              .as("tick %d, ahead by %d, seed %d", tick, ahead, seed)
              .isEqualTo(content);
        }
      }
      assertThat(read).as("seed %d", seed).isNotEmpty();
    }
  }

  private static long left(long now, long changed) {
    return new QuietTime(InstantSource.fixed(Instant.EPOCH.plusNanos(now))).left(changed);
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
