package io.holdfast.fs.allocate.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.LocalTime;
import org.junit.jupiter.api.Test;

class AllocationWatchTest {
  @Test
  void stamped_wholeMinute_hasItsSeconds() {
    assertThat(AllocationWatch.stamped(LocalTime.of(8, 15), "ended")).isEqualTo("08:15:00 ended\n");
  }
}
