package io.holdfast.fs.units;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NearestWordTest {
  private static final List<String> OPTIONS =
      List.of("--capacity", "--memory", "--window", "--window-age", "--pin", "--policy", "--name");

  @ParameterizedTest
  @CsvSource({
    "--capcity, --capacity",
    "--cpaacity, --capacity",
    "--Capacity, --capacity",
    "--cap, --capacity",
    "--window-ag, --window-age",
    "--windwo, --window",
    "--pni, --pin",
    "--names, --name"
  })
  void of_mistypedOption_isTheMeantOne(String word, String meant) {
    assertThat(NearestWord.of(word, OPTIONS)).contains(meant);
  }

  @ParameterizedTest
  @CsvSource({"--verbose", "-x", "--foreground", "--cache-size"})
  void of_somethingElse_isEmpty(String word) {
    assertThat(NearestWord.of(word, OPTIONS)).isEmpty();
  }

  @Test
  void of_noWords_isEmpty() {
    assertThat(NearestWord.of("a", List.of())).isEmpty();
  }

  @Property
  void distance_anyWords_isSymmetricAndZeroOnlyForTheSame(@ForAll String a, @ForAll String b) {
    assertThat(NearestWord.distance(a, b)).isEqualTo(NearestWord.distance(b, a));
    assertThat(NearestWord.distance(a, b) == 0).isEqualTo(a.equals(b));
    assertThat(NearestWord.distance(a, b)).isLessThanOrEqualTo(Math.max(a.length(), b.length()));
  }
}
