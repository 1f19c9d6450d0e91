package io.holdfast.fs.transit;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.ItemKey;
import org.junit.jupiter.api.Test;

final class LastItemsTest {
  private static final ItemKey ONE = new ItemKey(1, 0);
  private static final ItemKey OTHER = new ItemKey(2, 0);

  private final LastItems last = new LastItems();

  @Test
  void exchange_thread_givesWhatItReadBefore() {
    assertThat(last.exchange(7, ONE)).isNull();
    assertThat(last.exchange(7, ONE)).isEqualTo(ONE);
    assertThat(last.exchange(8, OTHER)).isNull();
    assertThat(last.exchange(7, OTHER)).isEqualTo(ONE);
    assertThat(last.exchange(7, ONE)).isEqualTo(OTHER);
  }

  @Test
  void exchange_anyThreadNumber_isTaken() {
    for (int thread : new int[] {0, -1, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
      last.exchange(thread, ONE);
      assertThat(last.exchange(thread, ONE)).isEqualTo(ONE);
    }
  }
}
