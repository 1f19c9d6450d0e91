package io.holdfast.fs.settings;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.NotBlank;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MountNamesTest {
  @ParameterizedTest
  @CsvSource({"/data/imagenet, data-imagenet", "/d, d", "/a_b/c.d, a_b-c.d", "/data/-x, data--x"})
  void of_plainPath_joinsItsParts(String path, String name) {
    assertThat(MountNames.of(Path.of(path))).isEqualTo(name);
  }

  @Test
  void of_otherCharacters_becomeUnderscoresAndAChecksum() {
    String name = MountNames.of(Path.of("/data/büro 1"));
    assertThat(name).matches("data-b_ro_1-[0-9a-f]+");
    assertThat(name).isNotEqualTo(MountNames.of(Path.of("/data/b_ro 1")));
  }

  @Test
  void of_longPath_keepsTheEndAndStaysUnique() {
    Path path = Path.of("/data/" + "x".repeat(100) + "/imagenet");
    assertThat(MountNames.of(path)).hasSizeLessThanOrEqualTo(64).contains("-imagenet-");
    assertThat(MountNames.of(path)).isNotEqualTo(MountNames.of(Path.of("/other" + path)));
  }

  @Property
  void of_anyPath_isAName(@ForAll @NotBlank String text) {
    Path path = Path.of("/" + text.replace("\0", "").replace("\ud800", ""));
    assertThat(MountNames.isName(MountNames.of(path))).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ".hidden", "-option", "a/b", "a b", "ä", "..", "a\n"})
  void isName_unfitText_isFalse(String text) {
    assertThat(MountNames.isName(text)).isFalse();
  }
}
