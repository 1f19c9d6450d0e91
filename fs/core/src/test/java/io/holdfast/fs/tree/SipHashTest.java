package io.holdfast.fs.tree;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class SipHashTest {
  private static final long KEY0 = 0x0706050403020100L;
  private static final long KEY1 = 0x0f0e0d0c0b0a0908L;

  /** The authors' reference code gives these for the bytes 0, 1, 2 and so on. */
  @ParameterizedTest
  @CsvSource({
    "0, abac0158050fc4dc",
    "1, c9f49bf37d57ca93",
    "2, 82cb9b024dc7d44d",
    "3, 8bf80ab8e7ddf7fb",
    "4, cf75576088d38328",
    "5, def9d52f49533b67",
    "6, c50d2b50c59f22a7",
    "7, d3927d989bb11140",
    "8, 369095118d299a8e",
    "9, 25a48eb36c063de4",
    "15, d320d86d2a519956",
    "16, cc4fdd1a7d908b66",
    "17, 9cf2689063dbd80c",
    "63, 9d199062b7bbb3a8"
  })
  void hash_ofTheFirstNumbers_isAsPublished(int length, String expected) {
    SipHash hash = new SipHash(KEY0, KEY1);
    for (int i = 0; i < length; i++) {
      hash.add(i);
    }
    assertThat(hash.end()).isEqualTo(Long.parseUnsignedLong(expected, 16));
  }
}
