package io.holdfast.fs.tree;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class NameIndexTest {
  private static final int BLOCKS = 12;

  /**
   * Two blocks that have one hash where the factor is 31, as in Java: names of them all had one.
   */
  @Test
  void hash_ofNamesThatAUserHasChosen_isAnotherForNearlyEach() {
    Set<Integer> hashes = new HashSet<>();
    for (int i = 0; i < 1 << BLOCKS; i++) {
      StringBuilder name = new StringBuilder();
      for (int block = 0; block < BLOCKS; block++) {
        name.append((i >> block & 1) == 0 ? "Aa" : "BB");
      }
      hashes.add(NameIndex.hash(7, name.toString().getBytes(StandardCharsets.US_ASCII)));
    }
    assertThat(hashes).hasSizeGreaterThan((1 << BLOCKS) / 2);
  }
}
