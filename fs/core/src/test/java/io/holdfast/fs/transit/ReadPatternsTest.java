package io.holdfast.fs.transit;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.Seeds;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class ReadPatternsTest {
  private static final int READ = 128 << 10;
  private static final int MIB = 1 << 20;
  private static final long FAR = 100L << 20;
  private static final int ME = 7;
  private static final int YOU = 8;

  private final ReadPatterns patterns = new ReadPatterns();
  private long now;

  private ReadStream read(long node, long offset, int length, int thread) {
    ReadStream stream = patterns.read(node, offset, length, thread, ++now).stream();
    assertThat(stream).isNotNull();
    return stream;
  }

  private boolean isSequential(long node, long offset) {
    return read(node, offset, READ, ME).isSequential();
  }

  @Test
  void beginning_ofAnyFile_isSequential() {
    assertThat(isSequential(5, 0)).isTrue();
    assertThat(isSequential(6, READ)).isFalse();
  }

  @Test
  void farOffset_unknownFile_isRandom() {
    assertThat(isSequential(5, FAR)).isFalse();
  }

  @Test
  void readsInOrder_anywhere_areSequentialFromTheFourthOn() {
    for (int i = 0; i < 100; i++) {
      assertThat(isSequential(5, FAR + (long) i * READ)).isEqualTo(i >= 3);
    }
  }

  /** A random reader goes on where it was before by chance. */
  @Test
  void readThatGoesOn_onceOrTwice_isRandom() {
    isSequential(5, FAR);
    assertThat(isSequential(5, FAR + READ)).isFalse();
    assertThat(isSequential(5, FAR + 2L * READ)).isFalse();
    assertThat(isSequential(5, 3 * FAR)).isFalse();
    assertThat(isSequential(5, 3 * FAR + READ)).isFalse();
  }

  /** Readahead sends several reads at once. */
  @Test
  void readsOfOneReadahead_inAnotherOrder_areSequential() {
    isSequential(5, FAR);
    isSequential(5, FAR + 2L * READ);
    isSequential(5, FAR + READ);
    for (int i : new int[] {4, 3, 6, 5}) {
      assertThat(isSequential(5, FAR + (long) i * READ)).isTrue();
    }
  }

  /** The reads are near to each other, but most bytes between them are not read. */
  @Test
  void reads_withHolesBetween_areRandom() {
    for (int i = 0; i < 50; i++) {
      assertThat(isSequential(5, FAR + 3L * i * READ)).isFalse();
    }
  }

  @Test
  void jump_withinAFile_isRandom() {
    isSequential(5, 0);
    assertThat(isSequential(5, FAR)).isFalse();
    assertThat(isSequential(5, 3 * FAR)).isFalse();
    assertThat(isSequential(5, 2 * FAR)).isFalse();
  }

  @Test
  void files_readInTurns_areToldApart() {
    for (int i = 0; i < 10; i++) {
      boolean sequential = i >= 3;
      assertThat(isSequential(5, FAR + (long) i * READ)).isEqualTo(sequential);
      assertThat(isSequential(6, 3 * FAR + (long) i * READ)).isEqualTo(sequential);
    }
  }

  @Test
  void readers_ofOneFile_areToldApart() {
    for (int i = 0; i < 10; i++) {
      for (int thread = 1; thread <= 40; thread++) {
        ReadStream stream = read(5, thread * FAR + (long) i * READ, READ, thread);
        assertThat(stream.isSequential()).isEqualTo(i >= 3);
        // bytes were fetched around each of the first three already
        assertThat(stream.run()).isEqualTo(Math.max(0, i - 2L) * READ);
      }
    }
  }

  /** The kernel does not tell which thread reads, as for a process of another container. */
  @Test
  void readers_thatAreUnknown_areToldApartByPlace() {
    for (int i = 0; i < 10; i++) {
      for (int place = 1; place <= 20; place++) {
        ReadStream stream = read(5, place * FAR + (long) i * READ, READ, 0);
        assertThat(stream.isSequential()).isEqualTo(i >= 3);
      }
    }
  }

  /** A pool of threads that take the next piece in turn is one reader. */
  @Test
  void threads_thatShareAWay_areOneReader() {
    ReadStream stream = read(5, FAR, MIB, ME);
    for (int i = 1; i < 20; i++) {
      assertThat(read(5, FAR + (long) i * MIB, MIB, i % 2 == 0 ? ME : YOU)).isSameAs(stream);
    }
    assertThat(stream.run()).isEqualTo(17L * MIB);
  }

  /** Two arrays of one file, an element of each in turn. */
  @Test
  void thread_thatAlternates_isSequentialInBothPlaces() {
    for (int i = 0; i < 10; i++) {
      boolean sequential = i >= 4;
      assertThat(isSequential(5, FAR + (long) i * READ)).isEqualTo(sequential);
      assertThat(isSequential(5, 3 * FAR + (long) i * READ)).isEqualTo(i >= 3);
    }
  }

  @Test
  void window_ofAReader_growsWithItsRunAndIsGoneWithASeek() {
    for (int i = 0; i < 64; i++) {
      isSequential(5, FAR + (long) i * READ);
    }
    assertThat(read(5, FAR + 64L * READ, READ, ME).run()).isEqualTo(62L * READ);
    ReadStream before = read(5, FAR + 65L * READ, READ, ME);
    isSequential(5, 3 * FAR);
    assertThat(before.isGone(now, Long.MAX_VALUE)).isTrue();
    ReadStream again = read(5, FAR + 66L * READ, READ, ME);
    assertThat(again).isSameAs(before);
    assertThat(again.isGone(now, Long.MAX_VALUE)).isFalse();
    assertThat(again.run()).isZero();
    assertThat(again.isSequential()).isFalse();
  }

  @Test
  void reader_thatRests_isGoneAfterAWhile() {
    ReadStream stream = read(5, FAR, READ, ME);
    assertThat(stream.isGone(now + 10, 10)).isFalse();
    assertThat(stream.isGone(now + 11, 10)).isTrue();
  }

  /** By chance some of its reads follow each other; what that costs is bounded elsewhere. */
  @Test
  void randomReader_ofADenseFile_isHardlyEverSequential() {
    long seed = Seeds.next("randomReader_ofADenseFile");
    Random random = new Random(seed);
    int sequential = 0;
    for (int i = 0; i < 10_000; i++) {
      sequential += isSequential(5, (1 + random.nextInt(2000)) * (long) READ) ? 1 : 0;
    }
    assertThat(sequential).as("seed %d", seed).isLessThan(200);
  }

  @Test
  void files_moreThanAreRemembered_neverFail() {
    for (long node = 1; node < 1L << 39; node = node * 3 + 1) {
      assertThat(isSequential(node, FAR)).isFalse();
    }
  }
}
