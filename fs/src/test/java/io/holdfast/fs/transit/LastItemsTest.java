package io.holdfast.fs.transit;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class LastItemsTest {
  private final LastItems last = new LastItems();

  @Test
  void exchange_thread_givesWhatItReadBefore() {
    FetchKey first = new FetchKey(1, FetchKey.WHOLE);
    FetchKey second = new FetchKey(1, 0);
    assertThat(last.exchange(7, first)).isNull();
    assertThat(last.exchange(7, new FetchKey(1, FetchKey.WHOLE))).isEqualTo(first);
    assertThat(last.exchange(8, second)).isNull();
    assertThat(last.exchange(7, second)).isEqualTo(first);
    assertThat(last.exchange(7, first)).isEqualTo(second);
  }

  @Test
  void exchange_anyThreadNumber_isTaken() {
    FetchKey key = new FetchKey(1, 2);
    for (int thread : new int[] {0, -1, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
      last.exchange(thread, key);
      assertThat(last.exchange(thread, key)).isEqualTo(key);
    }
  }
}
