package io.holdfast.fs.transit;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class LastItemsTest {
  private final LastItems last = new LastItems();

  @Test
  void exchange_thread_givesWhatItReadBefore() {
    assertThat(last.exchange(7, 1)).isEqualTo(LastItems.NONE);
    assertThat(last.exchange(7, 1)).isEqualTo(1);
    assertThat(last.exchange(8, 2)).isEqualTo(LastItems.NONE);
    assertThat(last.exchange(7, 2)).isEqualTo(1);
    assertThat(last.exchange(7, 1)).isEqualTo(2);
  }

  @Test
  void exchange_anyThreadNumber_isTaken() {
    for (int thread : new int[] {0, -1, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
      last.exchange(thread, 12);
      assertThat(last.exchange(thread, 12)).isEqualTo(12);
    }
  }
}
