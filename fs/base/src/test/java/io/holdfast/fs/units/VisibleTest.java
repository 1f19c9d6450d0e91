package io.holdfast.fs.units;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.Seeds;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class VisibleTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "plain name.jpg       | plain name.jpg",
        "Grüße 图像 😀        | Grüße 图像 😀",
        "a\u001b]0;title\u0007b | a\\x1b]0;title\\x07b",
        "a\u009b31mb          | a\\x9b31mb",
        "a\u007fb             | a\\x7fb",
        "jpg.\u202egpj        | jpg.\\u202egpj",
        "a\u2066b\u2069       | a\\u2066b\\u2069",
        "a\u200bb\ufeff       | a\\u200bb\\ufeff",
        "a\u2028b\u2029       | a\\u2028b\\u2029",
        "a\udb40\udc41b       | a\\U000e0041b",
        "a\ud800b             | a\\ud800b",
        "back\\slash          | back\\slash"
      })
  void text_withWhatIsNotSeen_showsEscapes(String text, String shown) {
    assertThat(Visible.of(text)).isEqualTo(shown);
    assertThat(Visible.of(shown)).as("once more").isEqualTo(shown);
  }

  @Test
  void text_withLineEnds_isOneLine() {
    assertThat(Visible.of("a\nb\r\nc\td\0")).isEqualTo("a\\nb\\r\\nc\\td\\x00");
  }

  @Test
  void anything_isOnOneLineOfWhatIsSeen() {
    Random random = new Random(Seeds.next("VisibleTest"));
    for (int i = 0; i < 20_000; i++) {
      byte[] bytes = new byte[random.nextInt(20)];
      random.nextBytes(bytes);
      StringBuilder text = new StringBuilder(new String(bytes, StandardCharsets.ISO_8859_1));
      text.append((char) random.nextInt(Character.MAX_VALUE));
      String shown = Visible.of(text.toString());
      assertThat(shown).matches("[^\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}]*");
      assertThat(Visible.of(shown)).isEqualTo(shown);
    }
  }

  @Test
  void json_ofAnything_saysTheSame() throws IOException {
    String name = "\u001b]0;a\u009bb\u007f\u202ec\n\udb40\udc41\"\\";
    String json = JSON.std.with(JSON.Feature.PRETTY_PRINT_OUTPUT).asString(Map.of("name", name));
    String shown = Visible.json(json);
    assertThat(shown.replace("\n", "")).matches("\\P{C}*");
    assertThat(JSON.std.mapFrom(shown)).isEqualTo(Map.of("name", name));
  }
}
