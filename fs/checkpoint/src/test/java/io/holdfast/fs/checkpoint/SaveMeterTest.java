package io.holdfast.fs.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class SaveMeterTest {
  private static final long SECOND = 1_000_000_000L;

  private final AtomicLong clock = new AtomicLong();
  private final AtomicLong work = new AtomicLong();
  private final SaveMeter meter = new SaveMeter(clock::get, work::get);
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
    assertThat(meter.seconds().total()).isCloseTo(9.6, within(1e-6));
    assertThat(meter.seconds().blocked()).isCloseTo(0.4, within(1e-6));
  }

  @Test
  void workOfTheDaemon_counts_untilTheSaveIsDurable_butNotWhileItsProgramIsBlocked() {
    for (double each : new double[] {0.4, 0.2}) {
      meter.begin();
      pass(0.5);
      work(0.3);
      meter.end(++sequence);
      work(each);
      pass(9);
      meter.durable(sequence);
      work(7);
      pass(2);
    }
    assertThat(meter.seconds().work()).isCloseTo(0.3, within(1e-6));
    assertThat(meter.advice(0.1, 0.035, 0).overhead()).isCloseTo(0.8 / 22.9, within(1e-6));
  }

  private void work(double seconds) {
    work.addAndGet((long) (seconds * SECOND));
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
    assertThat(meter.seconds().blocked()).isCloseTo(1, within(1e-6));
  }

  @Test
  void advice_followsTheStore_bothWays() {
    save(0.1, 2);
    long fast = meter.advice(0.5, 0.035, 0).intervalIterations();
    save(0.1, 20);
    save(0.1, 20);
    long slow = meter.advice(0.5, 0.035, 0).intervalIterations();
    for (int i = 0; i < 8; i++) {
      save(0.1, 2);
    }
    assertThat(slow).isGreaterThan(3 * fast);
    assertThat(meter.advice(0.5, 0.035, 0).intervalIterations()).isBetween(fast, fast + 1);
  }

  /**
   * The store has become slow: of 200 MB it has taken 50 after 10 s, and needs 30 s for the rest.
   */
  @Test
  void advice_followsTheStore_beforeItHasTheSave() {
    save(0.4, 10);
    long before = meter.advice(0.5, 0.035, 0).intervalIterations();
    meter.begin();
    pass(0.4);
    meter.end(++sequence);
    pass(9.6);
    assertThat(meter.advice(0.5, 0.035, 30).intervalSeconds()).isBetween(39.0, 40.0);
    assertThat(meter.advice(0.5, 0.035, 0).intervalIterations())
        .as("nothing is known of the rest")
        .isEqualTo(before);
    pass(20);
    assertThat(meter.advice(0.5, 0.035, 0).intervalSeconds()).isBetween(29.0, 30.0);
    meter.durable(sequence);
    pass(5);
    assertThat(meter.advice(0.5, 0.035, 0).intervalSeconds()).isBetween(19.0, 21.0);
  }

  /** The persister is quicker than the thread of the fsync that waits for it. */
  @Test
  void saveThatEndsWithAnFsync_isMeasured_andAnFsyncOfNothingIsNoSave() {
    meter.begin();
    pass(0.2);
    meter.end(5);
    meter.begin();
    pass(9.8);
    meter.durable(5);
    meter.end(5);
    pass(3600);
    assertThat(meter.seconds().total()).isCloseTo(10, within(1e-6));
    assertThat(meter.seconds().blocked()).isCloseTo(10, within(1e-6));
    long advised = meter.advice(0.5, 0.035, 0).intervalIterations();
    assertThat(advised).isPositive();

    meter.begin();
    meter.end(5);

    pass(3600);
    assertThat(meter.advice(0.5, 0.035, 0).intervalIterations()).isEqualTo(advised);
    assertThat(meter.seconds().total()).isCloseTo(10, within(1e-6));
  }

  /** A save of an earlier daemon is none of this one. */
  @Test
  void fsyncOfWhatAnEarlierDaemonHasMadeDurable_isNoSave() {
    meter.restart(7);
    meter.begin();
    meter.end(7);
    pass(5);
    assertThat(meter.seconds().total()).isZero();
    assertThat(meter.advice(0.5, 0.035, 30).intervalSeconds()).isZero();
  }

  /** After a crash of the machine its numbers begin again. */
  @Test
  void saveOfAFrontThatWasMadeAnew_isDurableWhenTheStoreHasIt() {
    meter.durable(1000);
    meter.restart(0);
    save(0.4, 9);
    assertThat(meter.seconds().total()).isCloseTo(9.6, within(1e-6));
  }

  @Test
  void save_thatIsNotDurable_isNotMeasuredYet() {
    meter.begin();
    pass(0.2);
    meter.end(1);
    pass(10);
    assertThat(meter.seconds().total()).isZero();
    assertThat(meter.advice(0.5, 0.035, 30).intervalSeconds()).isZero();
  }
}
