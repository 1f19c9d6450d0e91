package io.holdfast.fs.transit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.function.IntUnaryOperator;
import org.junit.jupiter.api.Test;

class AdaptiveLimitTest {
  private static final int SMALL = 100_000;
  private static final int LARGE = 8 << 20;
  private static final int MILLISECOND = 1_000_000;

  private final AdaptiveLimit limit = new AdaptiveLimit();

  /** Answers requests, as many at once as the limit allows, or as there are readers. */
  private void answer(int count, int readers, int bytes, IntUnaryOperator millis) {
    for (int i = 0; i < count; i++) {
      int inFlight = Math.min(readers, limit.get());
      limit.arrived(bytes, (long) millis.applyAsInt(inFlight) * MILLISECOND, inFlight);
    }
  }

  @Test
  void limit_originTakesNoLongerForMore_grows() {
    assertThat(limit.get()).isEqualTo(AdaptiveLimit.FIRST);

    // the first four answers have nothing to be compared with
    for (int most = 2 * AdaptiveLimit.FIRST, left = 4; most <= AdaptiveLimit.MOST; most *= 2) {
      answer(left + most / 2, 1000, SMALL, inFlight -> 20);
      left = 0;

      assertThat(limit.get()).isEqualTo(most);
    }
    answer(20_000, 1000, SMALL, inFlight -> 20);

    assertThat(limit.get()).isEqualTo(AdaptiveLimit.MOST);
  }

  /** With 32 at once a request takes a third longer, and no longer with more. */
  @Test
  void limit_moreHasCostTime_growsByOneARound() {
    answer(20, 1000, SMALL, inFlight -> inFlight < 32 ? 30 : 40);
    assertThat(limit.get()).isEqualTo(32);

    answer(32, 1000, SMALL, inFlight -> inFlight < 32 ? 30 : 40);
    assertThat(limit.get()).isEqualTo(33);

    answer(33 + 34, 1000, SMALL, inFlight -> inFlight < 32 ? 30 : 40);
    assertThat(limit.get()).isEqualTo(35);
  }

  @Test
  void limit_errorAtTheBeginning_growsByOneARoundFromThenOn() {
    answer(20, 1000, SMALL, inFlight -> 20);
    limit.failed(limit.get());
    int after = limit.get();
    assertThat(after).isEqualTo((int) (32 * 0.7));

    answer(after, 1000, SMALL, inFlight -> 20);

    assertThat(limit.get()).isEqualTo(after + 1);
  }

  /** It refuses what is beyond 30 at once. */
  @Test
  void limit_originRefusesMore_isRefusedSeldom() {
    Random random = new Random(42);
    int refused = 0;
    for (int i = 0; i < 20_000; i++) {
      int inFlight = limit.get();
      if (random.nextInt(inFlight) >= 30) {
        limit.failed(inFlight);
        refused++;
      } else {
        limit.arrived(SMALL, 20L * MILLISECOND, inFlight);
      }
    }
    assertThat(refused).isLessThan(20_000 * 2 / 100);
  }

  @Test
  void limit_fewReaders_growsNoFurtherThanTheyNeed() {
    answer(50_000, 16, SMALL, inFlight -> 20);

    assertThat(limit.get()).isBetween(32, 33);
  }

  /** Beyond 24 at once a request waits for others. */
  @Test
  void limit_originHasItsFill_staysNearWhatItGives() {
    answer(2000, 1000, SMALL, inFlight -> 5 * Math.max(24, inFlight) / 24);
    int lowest = limit.get();
    int highest = limit.get();
    for (int i = 0; i < 5000; i++) {
      answer(1, 1000, SMALL, inFlight -> 5 * Math.max(24, inFlight) / 24);
      lowest = Math.min(lowest, limit.get());
      highest = Math.max(highest, limit.get());
    }
    assertThat(lowest).isGreaterThanOrEqualTo(24);
    assertThat(highest).isLessThanOrEqualTo(80);
  }

  @Test
  void limit_errors_getsSmallerOnceARound() {
    answer(5000, 1000, SMALL, inFlight -> 20);
    int before = limit.get();

    for (int i = 0; i < before; i++) {
      limit.failed(before);
    }

    assertThat(limit.get()).isEqualTo((int) (before * 0.7));
    answer(before, 1000, SMALL, inFlight -> 20);
    limit.failed(limit.get());
    assertThat(limit.get()).isLessThan((int) (before * 0.7));
  }

  @Test
  void limit_nothingButErrors_staysAtTheLeast() {
    for (int i = 0; i < 100; i++) {
      answer(limit.get(), 1000, SMALL, inFlight -> 20);
      limit.failed(limit.get());
      limit.failed(limit.get());
    }
    for (int i = 0; i < 1000; i++) {
      limit.failed(limit.get());
    }
    assertThat(limit.get()).isBetween(AdaptiveLimit.LEAST, AdaptiveLimit.FIRST);
  }

  @Test
  void limit_latencyGrows_getsSmaller() {
    answer(5000, 1000, SMALL, inFlight -> 20);
    int before = limit.get();

    answer(2 * before, 1000, SMALL, inFlight -> 45);

    assertThat(limit.get()).isLessThan(before * 3 / 4);
  }

  /** An origin may become slower without being asked for too much. */
  @Test
  void limit_latencyHasGrownForGood_growsAgain() {
    answer(20_000, 1000, SMALL, inFlight -> 2);
    answer(2000, 1000, SMALL, inFlight -> 200);
    answer(10_000, 1000, SMALL, inFlight -> 200);

    assertThat(limit.get()).isGreaterThan(64);
  }

  @Test
  void limit_largeAmongSmall_isNotTakenForLatency() {
    Random random = new Random(42);
    for (int i = 0; i < 20_000; i++) {
      boolean large = random.nextInt(4) == 0;
      answer(1, 1000, large ? LARGE : SMALL, inFlight -> large ? 200 : 20);
    }
    assertThat(limit.get()).isEqualTo(AdaptiveLimit.MOST);
  }

  @Test
  void limit_largeAfterSmall_isNotTakenForLatency() {
    answer(20_000, 1000, SMALL, inFlight -> 20);
    answer(2000, 1000, LARGE, inFlight -> 200);

    assertThat(limit.get()).isEqualTo(AdaptiveLimit.MOST);
  }

  @Test
  void limit_stragglers_areNotTakenForLoad() {
    Random random = new Random(42);
    answer(20_000, 1000, SMALL, inFlight -> random.nextInt(10) == 0 ? 400 : 15 + random.nextInt(9));

    assertThat(limit.get()).isEqualTo(AdaptiveLimit.MOST);
  }

  @Test
  void sizes_ofAllKinds_areTaken() {
    for (int bytes : new int[] {1, 64 << 10, (64 << 10) + 1, 1 << 30, Integer.MAX_VALUE}) {
      answer(200, 1000, bytes, inFlight -> 20);
    }
    assertThat(limit.get()).isGreaterThan(AdaptiveLimit.FIRST);
  }
}
