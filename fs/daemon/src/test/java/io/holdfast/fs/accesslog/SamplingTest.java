package io.holdfast.fs.accesslog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.FakeClock;
import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of {@link Sampling}. */
final class SamplingTest {
  private final FakeClock clock = new FakeClock();

  @Test
  void oneOfN_takesExactlyThat() {
    Sampling.Chooser chooser = Sampling.parse("1/100").chooser(clock);
    assertThat(chosen(chooser, 1000)).isEqualTo(10);
  }

  @Test
  void oneOfOne_takesAll() {
    assertThat(chosen(Sampling.parse("1/1").chooser(clock), 5000)).isEqualTo(5000);
  }

  @Test
  void perSecond_takesThatManyInEachSecond() {
    Sampling.Chooser chooser = Sampling.parse("50/s").chooser(clock);
    assertThat(chosen(chooser, 1000)).isEqualTo(50);
    clock.advance(Duration.ofMillis(999));
    assertThat(chosen(chooser, 1000)).isZero();
    clock.advance(Duration.ofMillis(2));
    assertThat(chosen(chooser, 30)).isEqualTo(30);
    assertThat(chosen(chooser, 30)).isEqualTo(20);
  }

  @ParameterizedTest
  @ValueSource(strings = {"1/100", "50/s", "1/1"})
  void text_isWhatIsRead(String text) {
    assertThat(Sampling.parse(text)).hasToString(text);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "0/s", "1/0", "2/3", "-1/s", "100", "1/s/s", "1/9999999999", "all"})
  void text_thatIsNone_isRefusedWithBothForms(String text) {
    assertThatThrownBy(() -> Sampling.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'" + text + "'")
        .hasMessageContaining("1/N")
        .hasMessageContaining("N/s");
  }

  private static long chosen(Sampling.Chooser chooser, int events) {
    return IntStream.range(0, events).filter(each -> chooser.next()).count();
  }
}
