package io.holdfast.fs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigInteger;
import java.util.Random;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Tests of {@link CheckedBytes}: memory that does not hold the requested range gives no bytes. */
final class CheckedBytesTest {
  private static final long MEMORY = 1L << 40;

  private record Range(ItemKey key, Object version, long offset, int length) implements ItemRange {}

  private static Range range(long node, long extent, long offset, int length) {
    return new Range(new ItemKey(node, extent), "v1", offset, length);
  }

  private static void assertRefused(ThrowingCallable handover) {
    assertThatThrownBy(handover)
        .isInstanceOf(FsException.class)
        .satisfies(e -> assertThat(((FsException) e).code()).isEqualTo(FsError.IO))
        .hasMessageContaining("not handed over");
  }

  @Test
  void of_partOfWhatIsHeld_isAtItsPlace() throws FsException {
    Range item = range(7, 2, 2000, 1000);
    CheckedBytes bytes = CheckedBytes.of(item, 100, 50, item, MEMORY);
    assertThat(bytes.address()).isEqualTo(MEMORY + 100);
    assertThat(bytes.length()).isEqualTo(50);
    CheckedBytes ofPart = CheckedBytes.of(item, 100, 50, range(7, 2, 2080, 70), MEMORY);
    assertThat(ofPart.address()).isEqualTo(MEMORY + 20);
    assertThat(CheckedBytes.of(item, 1000, 0, item, MEMORY).length()).isZero();
  }

  @Test
  void of_anotherItemsMemory_isRefused() {
    Range item = range(7, 2, 2000, 1000);
    assertRefused(() -> CheckedBytes.of(item, 0, 10, range(8, 2, 2000, 1000), MEMORY));
    assertRefused(() -> CheckedBytes.of(item, 0, 10, range(7, 3, 2000, 1000), MEMORY));
    Range otherVersion = new Range(item.key(), "v2", 2000, 1000);
    assertRefused(() -> CheckedBytes.of(item, 0, 10, otherVersion, MEMORY));
    assertRefused(() -> CheckedBytes.of(item, 0, 10, item, 0));
  }

  /** The test computes the allowed ranges with numbers without bounds. */
  @Test
  void place_ofAnyNumbers_isWhereWhatIsAskedForIsHeld() {
    Random random = new Random(Seeds.next("CheckedBytes"));
    int given = 0;
    for (int i = 0; i < 1_000_000; i++) {
      Range asked = range(1, 0, number(random), (int) number(random));
      Range held = range(1, 0, number(random), (int) number(random));
      int from = (int) number(random);
      int length = (int) number(random);
      long place = CheckedBytes.place(asked, from, length, held);
      boolean isHeld = isHeld(asked, from, length, held);
      if (place != (isHeld ? asked.offset() + from - held.offset() : -1)) {
        throw new AssertionError(
            "%d: %d bytes from %d on of %s, in %s".formatted(place, length, from, asked, held));
      }
      given += isHeld ? 1 : 0;
    }
    assertThat(given).as("how many of a million are held").isGreaterThan(1000);
  }

  private static boolean isHeld(Range asked, int from, int length, Range held) {
    BigInteger first = BigInteger.valueOf(asked.offset()).add(BigInteger.valueOf(from));
    BigInteger end = first.add(BigInteger.valueOf(length));
    BigInteger heldEnd = BigInteger.valueOf(held.offset()).add(BigInteger.valueOf(held.length()));
    return asked.offset() >= 0
        && held.offset() >= 0
        && from >= 0
        && length >= 0
        && (long) from + length <= asked.length()
        && first.compareTo(BigInteger.valueOf(held.offset())) >= 0
        && end.compareTo(heldEnd) <= 0;
  }

  /** Small ones, powers of two, and their neighbours. */
  private static long number(Random random) {
    return switch (random.nextInt(4)) {
      case 0 -> random.nextInt(5);
      case 1 -> random.nextInt(5) - 2L + (1L << random.nextInt(64));
      case 2 -> random.nextInt(5000);
      default -> random.nextLong();
    };
  }
}
