package io.holdfast.fs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class ControlInodesTest {
  @ParameterizedTest
  @ValueSource(longs = {0, 1, 64, 1L << 38, (1L << 40) - 1})
  void number_ofAControlFile_isKnownAsOne(long node) {
    assertThat(ControlInodes.has(ControlInodes.of(node))).isTrue();
  }

  /** The second is overlayfs's of a file of its second file system. */
  @ParameterizedTest
  @ValueSource(longs = {0, (1L << 63) + 2, 2, Long.MAX_VALUE, Long.MIN_VALUE, -(1L << 40) - 1})
  void number_ofAFile_isNoControlFiles(long inode) {
    assertThat(ControlInodes.has(inode)).isFalse();
  }

  @Test
  void noFile_isTheControlDirectory() {
    assertThat(ControlInodes.of(0)).isEqualTo(ControlInodes.NO_FILE);
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 1L << 40})
  void nodes_thatControlFilesDoNotHave_areRefused(long node) {
    assertThatIllegalArgumentException().isThrownBy(() -> ControlInodes.of(node));
  }
}
