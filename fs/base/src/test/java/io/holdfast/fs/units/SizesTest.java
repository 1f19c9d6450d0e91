package io.holdfast.fs.units;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SizesTest {
  @ParameterizedTest
  @CsvSource({
    "0, 0",
    "123, 123",
    "123B, 123",
    "4K, 4096",
    "4k, 4096",
    "4KB, 4000",
    "4kB, 4000",
    "0.05GB, 50000000",
    "420GB, 420000000000",
    "9EB, 9000000000000000000",
    "0.05GiB, 53687091",
    "4KiB, 4096",
    "512M, 536870912",
    "64G, 68719476736",
    "64 G, 68719476736",
    "1.5T, 1649267441664",
    "0.5K, 512",
    "1P, 1125899906842624",
    "7E, 8070450532247928832"
  })
  void parse_size_givesBytes(String text, long bytes) {
    assertThat(Sizes.parse(text)).isEqualTo(bytes);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "", " ", "10Q", "-5", "+5", "G", "64GG", "64iB", "6 4G", "1,5G", "1.G", ".5G", "0x10",
        "50%", "1e3", "NaN"
      })
  void parse_noSize_saysWhatASizeIs(String text) {
    assertThatThrownBy(() -> Sizes.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("'" + text + "' is not a size: write a number with K, M, G or T, such as 64G");
  }

  @ParameterizedTest
  @ValueSource(strings = {"8E", "10EB", "9223372036854775808", "99999999999999999999G"})
  void parse_moreThanALong_fails(String text) {
    assertThatThrownBy(() -> Sizes.parse(text))
        .hasMessage("'" + text + "' is more than any machine can hold");
  }

  @ParameterizedTest
  @ValueSource(ints = {31, 1000, 1_000_000})
  void parse_endlessDigits_failsAtOnce(int digits) {
    assertThatThrownBy(() -> Sizes.parse("9".repeat(digits)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @ParameterizedTest
  @CsvSource({"50%, 500", "0%, 0", "100%, 1000", "12.5%, 125", "0.05%, 0", "64K, 65536"})
  void parse_shareOfAThousand_givesBytes(String text, long bytes) {
    assertThat(Sizes.parse(text, 1000)).isEqualTo(bytes);
  }

  @ParameterizedTest
  @ValueSource(strings = {"%", "-1%", "x%", "5 0%", "50%%"})
  void parse_noPercentage_saysWhatOneIs(String text) {
    assertThatThrownBy(() -> Sizes.parse(text, 1000))
        .hasMessage(
            "'" + text + "' is not a percentage: write a number from 0 to 100, such as 50%");
  }

  @ParameterizedTest
  @ValueSource(strings = {"101%", "100.01%"})
  void parse_moreThanAll_fails(String text) {
    assertThatThrownBy(() -> Sizes.parse(text, 1000))
        .hasMessageStartingWith("'" + text + "' is more than the whole");
  }

  @Property
  void exact_anyNumber_isReadBackTheSame(@ForAll @LongRange(min = 0) long bytes) {
    assertThat(Sizes.parse(Sizes.exact(bytes))).isEqualTo(bytes);
  }

  @Property
  void exact_wholeUnits_isShort(
      @ForAll @LongRange(min = 1, max = 7) long number,
      @ForAll @IntRange(min = 0, max = 6) int power) {
    String text = Sizes.exact(number << (10 * power));
    assertThat(text).hasSizeLessThanOrEqualTo(2);
    assertThat(Sizes.parse(text)).isEqualTo(number << (10 * power));
  }

  @Property
  void parse_anyPercentage_isWithinTheWhole(
      @ForAll @IntRange(min = 0, max = 100) int percent, @ForAll @LongRange(min = 0) long whole) {
    assertThat(Sizes.parse(percent + "%", whole)).isBetween(0L, whole);
  }
}
