package io.holdfast.fs.units;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NearTest {
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
    assertThat(Near.of(word, OPTIONS)).contains(meant);
  }

  @ParameterizedTest
  @CsvSource({"--verbose", "-x", "--foreground", "--cache-size"})
  void of_somethingElse_isEmpty(String word) {
    assertThat(Near.of(word, OPTIONS)).isEmpty();
  }

  @Test
  void of_noWords_isEmpty() {
    assertThat(Near.of("a", List.of())).isEmpty();
  }

  @Property
  void distance_anyWords_isSymmetricAndZeroOnlyForTheSame(@ForAll String a, @ForAll String b) {
    assertThat(Near.distance(a, b)).isEqualTo(Near.distance(b, a));
    assertThat(Near.distance(a, b) == 0).isEqualTo(a.equals(b));
    assertThat(Near.distance(a, b)).isLessThanOrEqualTo(Math.max(a.length(), b.length()));
  }
}
