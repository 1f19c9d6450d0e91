package io.holdfast.peer.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.Random;
import org.junit.jupiter.api.Test;

final class ItemUriTest {
  private static final int ROUNDS = 20_000;
  private static final String ALPHABET = "/.%2eEfF0a~?#&= \\\u00e4";
  private static final String START = "/v1/datasets/d/items/";

  private final long seed = System.nanoTime();
  private final Random random = new Random(seed);

  @Test
  void parse_whatWasWritten_isTheSame() throws BadRequestException {
    for (int i = 0; i < ROUNDS; i++) {
      byte[] bytes = new byte[1 + random.nextInt(60)];
      random.nextBytes(bytes);
      ItemPath path;
      try {
        path = ItemPath.of(bytes);
      } catch (IllegalArgumentException e) {
        // these bytes are no path
        continue;
      }
      ItemUri uri = new ItemUri("d", path, random.nextInt(1000));
      assertThat(uri.toString()).as("seed %d", seed).matches("[!-~]+");
      assertThat(ItemUri.parse(uri.toString())).as("seed %d", seed).isEqualTo(uri);
    }
  }

  @Test
  void parse_anything_isWithinTheDatasetOrRefused() {
    for (int i = 0; i < ROUNDS; i++) {
      StringBuilder text = new StringBuilder(START);
      for (int length = random.nextInt(12); length > 0; length--) {
        text.append(ALPHABET.charAt(random.nextInt(ALPHABET.length())));
      }
      text.append("?extent=1");
      try {
        String path = ItemUri.parse(text.toString()).path().toString();
        assertThat(("/" + path + "/"))
            .as("seed %d: %s", seed, text)
            .doesNotContain("//", "/./", "/../", "\u0000");
      } catch (BadRequestException e) {
        assertThat(e.status()).as("seed %d: %s", seed, text).isEqualTo(400);
      }
    }
  }

  @Test
  void parse_longestPath_andOneMore() throws BadRequestException {
    assertThat(ItemUri.parse(START + "a".repeat(4096) + "?extent=0").path().bytes()).hasSize(4096);
    assertThatExceptionOfType(BadRequestException.class)
        .isThrownBy(() -> ItemUri.parse(START + "a".repeat(4097) + "?extent=0"));
  }
}
