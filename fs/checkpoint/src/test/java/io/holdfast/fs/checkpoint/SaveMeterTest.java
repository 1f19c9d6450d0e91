package io.holdfast.fs.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class SaveMeterTest {
  private static final long SECOND = 1_000_000_000L;

  private final AtomicLong clock = new AtomicLong();
  private final SaveMeter meter = new SaveMeter(clock::get);
  private long sequence;

  /** A save with two changes, each of which takes so long, and then the store. */
  private void save(double blocked, double persist) {
    for (int i = 0; i < 2; i++) {
      meter.begin();
      pass(blocked / 2);
      meter.end(++sequence);
      pass(0.1);
    }
    pass(persist);
    meter.durable(sequence);
    pass(5);
  }

  private void pass(double seconds) {
    clock.addAndGet((long) (seconds * SECOND));
  }

  @Test
  void save_isMeasured_fromItsFirstChangeUntilItIsDurable() {
    save(0.4, 9);
    assertThat(meter.seconds()[0]).isCloseTo(9.6, within(1e-6));
    assertThat(meter.seconds()[1]).isCloseTo(0.4, within(1e-6));
  }

  @Test
  void changesAtTheSameTime_countOnce() {
    meter.begin();
    meter.begin();
    pass(1);
    meter.end(1);
    meter.end(2);
    meter.durable(2);
    pass(2);
    assertThat(meter.seconds()[1]).isCloseTo(1, within(1e-6));
  }

  @Test
  void advice_followsTheStore_bothWays() {
    save(0.1, 2);
    long fast = meter.advice(0.5, 0.035).intervalIterations();
    save(0.1, 20);
    save(0.1, 20);
    long slow = meter.advice(0.5, 0.035).intervalIterations();
    for (int i = 0; i < 8; i++) {
      save(0.1, 2);
    }
    assertThat(slow).isGreaterThan(3 * fast);
    assertThat(meter.advice(0.5, 0.035).intervalIterations()).isBetween(fast, fast + 1);
  }

  @Test
  void save_thatIsNotDurable_isNotMeasuredYet() {
    meter.begin();
    pass(0.2);
    meter.end(1);
    pass(10);
    assertThat(meter.seconds()[0]).isZero();
  }
}
