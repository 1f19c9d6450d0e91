package io.holdfast.fs.units;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DurationsTest {
  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "0s, 0",
    "500ms, 500",
    "60s, 60000",
    "1.5s, 1500",
    "5m, 300000",
    "5min, 300000",
    "1h, 3600000",
    "2d, 172800000"
  })
  void parse_duration_givesMilliseconds(String text, long millis) {
    assertThat(Durations.parse(text)).isEqualTo(Duration.ofMillis(millis));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "h", "-1s", "1y", "1H", "1 h 5 m", "indefinite", "s5"})
  void parse_noDuration_saysWhatADurationIs(String text) {
    assertThatThrownBy(() -> Durations.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "'" + text + "' is not a duration: write a number with ms, s, m or h, such as 60s");
  }

  @ParameterizedTest
  @ValueSource(strings = {"60", "1", "0.5"})
  void parse_bareNumber_asksForTheUnit(String text) {
    assertThatThrownBy(() -> Durations.parse(text))
        .hasMessage(
            "'" + text + "' has no unit: write ms, s, m or h behind it, such as " + text + "s");
  }

  @ParameterizedTest
  @ValueSource(strings = {"2147483648s", "100000000000000000000d"})
  void parse_longerThanTheLongest_fails(String text) {
    assertThatThrownBy(() -> Durations.parse(text))
        .hasMessage("'" + text + "' is too long: at most 68 years");
  }

  @Property
  void exact_anyMilliseconds_isReadBackTheSame(
      @ForAll @LongRange(min = 0, max = Integer.MAX_VALUE * 1000L) long millis) {
    Duration duration = Duration.ofMillis(millis);
    assertThat(Durations.parse(Durations.exact(duration))).isEqualTo(duration);
  }
}
