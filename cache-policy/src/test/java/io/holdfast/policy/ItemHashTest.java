package io.holdfast.policy;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class ItemHashTest {

  /** Items that are placed and selected by the hash must stay so in the next release. */
  @Test
  void of_names_areThoseOfEveryRelease() {
    assertThat(ItemHash.of("train/n01440764/n01440764_10026.JPEG".getBytes(UTF_8), 0))
        .isEqualTo(GOLDEN_FILE);
    assertThat(ItemHash.of("train/n01440764/n01440764_10026.JPEG".getBytes(UTF_8), 8 << 20))
        .isEqualTo(GOLDEN_EXTENT);
    assertThat(ItemHash.of(7)).isEqualTo(GOLDEN_NUMBER);
  }

  private static final long GOLDEN_FILE = -1197963865773996046L;
  private static final long GOLDEN_EXTENT = 2637072045754299103L;
  private static final long GOLDEN_NUMBER = -2825521650910809854L;

  /** Also for names that differ in their last digits only, each of 64 bits is set half the time. */
  @Test
  void of_similarNames_everyBitIsEven() {
    int names = 10_000;
    int[] set = new int[64];
    Set<Long> distinct = new HashSet<>();
    for (int i = 0; i < names; i++) {
      long hash = ItemHash.of("img_%06d.jpg".formatted(i).getBytes(UTF_8), 0);
      distinct.add(hash);
      for (int bit = 0; bit < 64; bit++) {
        set[bit] += (int) (hash >>> bit & 1);
      }
    }
    assertThat(distinct).hasSize(names);
    for (int bit = 0; bit < 64; bit++) {
      // standard deviation 50: five of them
      assertThat(set[bit]).as("bit %d", bit).isBetween(names / 2 - 250, names / 2 + 250);
    }
  }
}
