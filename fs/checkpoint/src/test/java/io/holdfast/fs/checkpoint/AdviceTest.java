package io.holdfast.fs.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class AdviceTest {
  private static final double BOUND = 0.035;

  @Test
  void interval_isThatOfCheckFreq_whereThePersistDecides() {
    // 10 s until durable, 0.1 s of it blocked, 0.25 s an iteration: ceil(9.9 / 0.25)
    Advice advice = Advice.of(10, 0.1, 0, 0.25, BOUND);
    assertThat(advice.intervalIterations()).isEqualTo(40);
    assertThat(advice.intervalSeconds()).isEqualTo(10);
    assertThat(advice.overhead()).isCloseTo(0.01, within(1e-9));
  }

  @Test
  void interval_keepsTheBound_whereBlockingDecides() {
    Advice advice = Advice.of(2, 1, 0, 0.5, BOUND);
    assertThat(advice.intervalIterations()).isEqualTo(58); // ceil(1 / 0.035 / 0.5)
    assertThat(advice.overhead()).isLessThanOrEqualTo(BOUND);
    assertThat(Advice.of(2, 1, 0, 0.5, 1.0 / 28).intervalIterations()).isEqualTo(56);
  }

  @Test
  void interval_keepsTheBound_withWhatTheDaemonTakesOfTheProcessors() {
    Advice advice = Advice.of(10, 0.3, 0.1, 0.1, BOUND);
    assertThat(advice.intervalIterations()).isEqualTo(115); // ceil(0.4 / 0.035 / 0.1); 97 without
    assertThat(advice.overhead()).isLessThanOrEqualTo(BOUND);
  }

  @Test
  void interval_isAtLeastOneIteration() {
    assertThat(Advice.of(0.001, 0.0001, 0, 5, BOUND).intervalIterations()).isEqualTo(1);
  }

  @Test
  void interval_withoutIterations_isInSeconds() {
    assertThat(Advice.of(10, 0.1, 0, 0, BOUND)).isEqualTo(new Advice(0, 9.9, 0.1 / 9.9));
    assertThat(Advice.of(0, 0, 0, 0.25, BOUND)).isEqualTo(new Advice(0, 0, 0));
  }
}
