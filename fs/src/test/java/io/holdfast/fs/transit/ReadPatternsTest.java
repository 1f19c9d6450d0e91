package io.holdfast.fs.transit;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class ReadPatternsTest {
  private static final int READ = 128 << 10;
  private static final long FAR = 100L << 20;

  private final ReadPatterns patterns = new ReadPatterns();

  @Test
  void beginning_ofAnyFile_isSequential() {
    assertThat(patterns.isSequential(5, 0, READ)).isTrue();
    assertThat(patterns.isSequential(6, READ, READ)).isTrue();
  }

  @Test
  void farOffset_unknownFile_isRandom() {
    assertThat(patterns.isSequential(5, FAR, READ)).isFalse();
  }

  @Test
  void readsInOrder_anywhere_areSequentialFromTheFourthOn() {
    for (int i = 0; i < 100; i++) {
      assertThat(patterns.isSequential(5, FAR + (long) i * READ, READ)).isEqualTo(i >= 3);
    }
  }

  /** A random reader goes on where it was before by chance. */
  @Test
  void readThatGoesOn_onceOrTwice_isRandom() {
    patterns.isSequential(5, FAR, READ);
    assertThat(patterns.isSequential(5, FAR + READ, READ)).isFalse();
    assertThat(patterns.isSequential(5, FAR + 2L * READ, READ)).isFalse();
    assertThat(patterns.isSequential(5, 3 * FAR, READ)).isFalse();
    assertThat(patterns.isSequential(5, 3 * FAR + READ, READ)).isFalse();
  }

  /** Readahead sends several reads at once. */
  @Test
  void readsOfOneReadahead_inAnotherOrder_areSequential() {
    patterns.isSequential(5, FAR, READ);
    patterns.isSequential(5, FAR + 2L * READ, READ);
    patterns.isSequential(5, FAR + READ, READ);
    for (int i : new int[] {4, 3, 6, 5}) {
      assertThat(patterns.isSequential(5, FAR + (long) i * READ, READ)).isTrue();
    }
  }

  @Test
  void jump_withinAFile_isRandom() {
    patterns.isSequential(5, 0, READ);
    assertThat(patterns.isSequential(5, FAR, READ)).isFalse();
    assertThat(patterns.isSequential(5, 3 * FAR, READ)).isFalse();
    assertThat(patterns.isSequential(5, 2 * FAR, READ)).isFalse();
  }

  @Test
  void files_readInTurns_areToldApart() {
    for (int i = 0; i < 10; i++) {
      boolean sequential = i >= 3;
      assertThat(patterns.isSequential(5, FAR + (long) i * READ, READ)).isEqualTo(sequential);
      assertThat(patterns.isSequential(6, 3 * FAR + (long) i * READ, READ)).isEqualTo(sequential);
    }
  }

  @Test
  void files_moreThanAreRemembered_neverFail() {
    for (long node = 1; node < 1L << 39; node = node * 3 + 1) {
      assertThat(patterns.isSequential(node, FAR, READ)).isFalse();
    }
  }
}
