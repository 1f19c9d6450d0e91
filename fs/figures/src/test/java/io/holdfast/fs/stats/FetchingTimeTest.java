package io.holdfast.fs.stats;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.FakeClock;
import io.holdfast.fs.Seeds;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

final class FetchingTimeTest {
  private final FakeClock clock = new FakeClock();
  private final FetchingTime time = new FetchingTime(clock);

  private void after(long nanos) {
    clock.advance(Duration.ofNanos(nanos));
  }

  @Test
  void nanos_ofNoWait_areNone() {
    after(5);
    assertThat(time.nanos()).isZero();
    assertThat(time.isUnderWay()).isFalse();
  }

  @Test
  void nanos_ofWaitsThatOverlapOrContainOneAnother_countOnce() {
    time.begins();
    after(3);
    time.begins();
    after(2);
    time.ends();
    after(4);
    time.begins();
    time.ends();
    time.ends();
    after(100);
    assertThat(time.nanos()).isEqualTo(9);
  }

  @Test
  void nanos_ofWaitsOneAfterTheOther_areTheirSum() {
    time.begins();
    after(3);
    time.ends();
    time.begins();
    after(4);
    time.ends();
    after(50);
    time.begins();
    after(1);
    time.ends();
    assertThat(time.nanos()).isEqualTo(8);
  }

  @Test
  void nanos_whileAThreadWaits_areThoseUpToNow() {
    time.begins();
    after(3);
    assertThat(time.nanos()).isEqualTo(3);
    assertThat(time.isUnderWay()).isTrue();
    after(2);
    time.ends();
    assertThat(time.nanos()).isEqualTo(5);
    assertThat(time.isUnderWay()).isFalse();
  }

  /** At each moment, against the moments that some wait contains. */
  @Test
  void nanos_ofRandomWaits_areTheMomentsThatAnyContains() {
    Random random = new Random(Seeds.next("random waits"));
    for (int round = 0; round < 200; round++) {
      FetchingTime some = new FetchingTime(clock);
      int[] begins = new int[1 + random.nextInt(12)];
      int[] ends = new int[begins.length];
      for (int i = 0; i < begins.length; i++) {
        begins[i] = random.nextInt(100);
        ends[i] = begins[i] + random.nextInt(1 + random.nextInt(40));
      }
      long contained = 0;
      for (int now = 0; now < 140; now++) {
        boolean waits = false;
        for (int i = 0; i < begins.length; i++) {
          if (begins[i] == now) {
            some.begins();
          }
          if (ends[i] == now) {
            some.ends();
          }
          waits |= begins[i] <= now && now < ends[i];
        }
        assertThat(some.nanos()).isEqualTo(contained);
        assertThat(some.isUnderWay()).isEqualTo(waits);
        contained += waits ? 1 : 0;
        after(1);
      }
    }
  }

  @Test
  void nanos_ofManyThreadsAtOnce_loseNoWait() throws InterruptedException {
    int threads = 4;
    CountDownLatch begin = new CountDownLatch(threads);
    CountDownLatch done = new CountDownLatch(threads);
    time.begins();
    for (int i = 0; i < threads; i++) {
      new Thread(
              () -> {
                begin.countDown();
                await(begin);
                for (int k = 0; k < 100_000; k++) {
                  time.begins();
                  time.ends();
                }
                done.countDown();
              })
          .start();
    }
    begin.await();
    after(7);
    done.await();
    after(3);
    time.ends();
    after(20);
    assertThat(time.nanos()).isEqualTo(10);
    assertThat(time.isUnderWay()).isFalse();
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
