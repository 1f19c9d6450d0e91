package io.holdfast.fs.allocate;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** A mount that would not grow is asked again, but not at once. */
class GrowthLimitsTest {
  private static final long FREE = Long.MAX_VALUE;

  private final GrowthLimits limits = new GrowthLimits();

  @Test
  void mountThatNeverRefused_hasNone() {
    assertThat(limits.most("one", 1, 100, 0)).isEqualTo(FREE);
  }

  @Test
  void refusal_holdsForAWhile_andLongerTheNextTime() {
    limits.refused("one", 1, 100, 0);
    assertThat(limits.most("one", 1, 100, 599)).isEqualTo(100);
    assertThat(limits.most("two", 2, 100, 599)).isEqualTo(FREE);
    assertThat(limits.most("one", 1, 100, 600)).isEqualTo(FREE);

    limits.refused("one", 1, 100, 605);
    assertThat(limits.most("one", 1, 100, 1804)).isEqualTo(100);
    assertThat(limits.most("one", 1, 100, 1805)).isEqualTo(FREE);
    for (int again = 0; again < 100; again++) {
      limits.refused("one", 1, 100, 2000);
    }
    assertThat(limits.most("one", 1, 100, 2000 + 24 * 600.0)).isEqualTo(FREE);
  }

  /** It may have more --memory. */
  @Test
  void anotherDaemon_endsIt() {
    limits.refused("one", 1, 100, 0);
    assertThat(limits.most("one", 2, 100, 5)).isEqualTo(FREE);
    assertThat(limits.most("one", 1, 100, 10)).as("the same again").isEqualTo(FREE);
  }

  @Test
  void capacityThatSomebodyElseHasSet_endsIt() {
    limits.refused("one", 1, 100, 0);
    assertThat(limits.most("one", 1, 120, 5)).isEqualTo(FREE);
    limits.refused("one", 1, 120, 10);
    assertThat(limits.most("one", 1, 120, 10 + 599)).isEqualTo(120);
    assertThat(limits.most("one", 1, 120, 10 + 600)).as("it began anew").isEqualTo(FREE);
  }
}
