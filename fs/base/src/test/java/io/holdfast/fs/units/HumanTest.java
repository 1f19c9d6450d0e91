package io.holdfast.fs.units;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Locale;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Scale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HumanTest {
  @ParameterizedTest
  @CsvSource({
    "0, 0 B",
    "842, 842 B",
    "999, 999 B",
    "1000, 0.98 KiB",
    "1024, 1.00 KiB",
    "105000, 103 KiB",
    "1023487, 999 KiB",
    "1023488, 0.98 MiB",
    "68719476736, 64.0 GiB",
    "450971566080, 420 GiB",
    "645000000000, 601 GiB",
    "1230000000000, 1.12 TiB",
    "9223372036854775807, 8.00 EiB"
  })
  void bytes_number_hasThreeDigitsAndAUnit(long bytes, String text) {
    assertThat(Human.bytes(bytes)).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "0|0 files",
        "1|1 file",
        "842|842 files",
        "20000|20,000 files",
        "99999|99,999 files",
        "300000|300 k files",
        "999600|1.0 M files",
        "1200000|1.2 M files",
        "12345678|12 M files"
      })
  void count_files_isShort(long count, String text) {
    assertThat(Human.count(count, "file")).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource({"0, 0.00", "0.65, 0.65", "0.5, 0.50", "0.996, 0.99", "0.99999, 0.99", "1, 1.00"})
  void ratio_belowOne_isNeverShownAsOne(double ratio, String text) {
    assertThat(Human.ratio(ratio)).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0 s",
    "59, 59 s",
    "60, 1 min 0 s",
    "3599, 59 min 59 s",
    "3600, 1 h 0 min",
    "97200, 1 d 3 h"
  })
  void seconds_span_hasItsTwoLargestUnits(long seconds, String text) {
    assertThat(Human.seconds(seconds)).isEqualTo(text);
  }

  @Test
  void figures_germanLocale_lookTheSame() {
    Locale before = Locale.getDefault();
    try {
      Locale.setDefault(Locale.GERMANY);
      assertThat(Human.bytes(1_500_000)).isEqualTo("1.43 MiB");
      assertThat(Human.grouped(1_234_567)).isEqualTo("1,234,567");
    } finally {
      Locale.setDefault(before);
    }
  }

  @Property
  void bytes_anyNumber_isShort(@ForAll @LongRange(min = 0) long bytes) {
    assertThat(Human.bytes(bytes)).matches("(\\d{1,3}|\\d\\.\\d\\d|\\d\\d\\.\\d) ([KMGTPE]i)?B");
  }

  @Property
  void ratio_anyBelowOne_isBelowOne(
      @ForAll @DoubleRange(min = 0, max = 1, maxIncluded = false) @Scale(7) double ratio) {
    assertThat(Double.parseDouble(Human.ratio(ratio))).isLessThan(1);
  }
}
