package io.holdfast.fs.page;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Tests of {@link Recent}. */
final class RecentTest {
  private long now = Long.MAX_VALUE - 10;
  private int made;
  private final Recent recent = new Recent(() -> ("" + ++made).getBytes(UTF_8), () -> now);

  @Test
  void get_withinAWhile_isMadeOnce() {
    assertThat(recent.get()).asString(UTF_8).isEqualTo("1");
    now += Recent.OLDEST_NANOS - 1;
    assertThat(recent.get()).asString(UTF_8).isEqualTo("1");
    now += 1;
    assertThat(recent.get()).asString(UTF_8).isEqualTo("2");
  }
}
