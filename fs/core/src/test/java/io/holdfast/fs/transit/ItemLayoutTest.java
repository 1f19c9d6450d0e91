package io.holdfast.fs.transit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.ItemKey;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.origin.Version;
import java.math.BigInteger;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of {@link ItemLayout} and of the keys of items. */
final class ItemLayoutTest {
  private static Content content(long node, long size) {
    return new Content(node, () -> OriginPath.of("f"), new Version(size, 1, 1, ""));
  }

  /** Packed into 64 bits, an extent beyond 2^24 was that of another node. */
  @Property
  void key_ofAnyNodeAndExtent_isThatOfNoOther(
      @ForAll @LongRange(min = 0) long node,
      @ForAll @LongRange(min = 0) long extent,
      @ForAll @LongRange(min = 0) long otherNode,
      @ForAll @LongRange(min = 0) long otherExtent) {
    ItemKey key = new ItemKey(node, extent);
    boolean same = node == otherNode && extent == otherExtent;
    assertThat(key.equals(new ItemKey(otherNode, otherExtent))).isEqualTo(same);
    assertThat(key).isEqualTo(new ItemKey(node, extent));
    assertThat(key).hasSameHashCodeAs(new ItemKey(node, extent));
    assertThat(key.node()).isEqualTo(node);
    assertThat(key.extent()).isEqualTo(extent);
  }

  @Test
  void key_extentBeyondTwentyFourBits_isNotThatOfAnotherNode() {
    assertThat(new ItemKey(7, 9L << 24)).isNotEqualTo(new ItemKey(7 | 9, 0));
    assertThat(new ItemKey(1L << 40, 0)).isNotEqualTo(new ItemKey(0, 1L << 40));
  }

  @Property
  void items_ofAnyFile_coverItOnce(
      @ForAll @IntRange(min = 20, max = 26) int sizeBits,
      @ForAll @LongRange(min = 1, max = 1L << 32) long size) {
    ItemLayout layout = new ItemLayout(1 << sizeBits);
    Content content = content(7, size);
    long at = 0;
    long count = 0;
    while (at < size) {
      Item item = layout.itemAt(content, at);
      assertThat(item.offset()).isEqualTo(at);
      assertThat(item.length()).isBetween(1, layout.itemSize());
      assertThat(item.key()).isEqualTo(new ItemKey(7, count));
      assertThat(layout.itemAt(content, at + item.length() - 1)).isEqualTo(item);
      assertThat(layout.item(content, count)).isEqualTo(item);
      at += item.length();
      count++;
    }
    assertThat(at).isEqualTo(size);
    assertThat(layout.count(size)).isEqualTo(count);
  }

  @ParameterizedTest
  @CsvSource({"0,0", "1,1", "1048576,1", "1048577,2", "17592186044416,16777216"})
  void count_ofASize_isRoundedUp(long size, long items) {
    assertThat(new ItemLayout(1 << 20).count(size)).isEqualTo(items);
  }

  /** Rounding up went beyond 64 bits, and a file of nearly 2^63 bytes had less than no items. */
  @Property
  void count_ofAnySize_isExact(
      @ForAll @IntRange(min = 0, max = 30) int sizeBits, @ForAll long size) {
    BigInteger itemSize = BigInteger.ONE.shiftLeft(sizeBits);
    BigInteger exact =
        BigInteger.valueOf(Math.max(0, size))
            .add(itemSize.subtract(BigInteger.ONE))
            .divide(itemSize);
    assertThat(new ItemLayout(1 << sizeBits).count(size)).isEqualTo(exact.longValueExact());
  }

  @ParameterizedTest
  @ValueSource(
      longs = {
        Long.MAX_VALUE,
        1L << 62,
        (1L << 53) + 1,
        (1L << 53) - 1,
        (1L << 47) + 1,
        (1L << 47) - 1
      })
  void lastByte_ofAHugeFile_isInItsLastItem(long size) {
    ItemLayout layout = new ItemLayout(8 << 20);
    Item last = layout.itemAt(content(7, size), size - 1);
    assertThat(last.key()).isEqualTo(new ItemKey(7, layout.count(size) - 1));
    assertThat(last.offset() + last.length()).isEqualTo(size);
  }

  @ParameterizedTest
  @CsvSource({
    "100,100",
    "100,-1",
    "0,0",
    "-5,0",
    "9223372036854775807,9223372036854775807",
    "-9223372036854775808,-9223372036854775808"
  })
  void itemAt_whereThereIsNoByte_isRefused(long size, long offset) {
    ItemLayout layout = new ItemLayout(1 << 20);
    Content content = content(7, size);
    assertThatThrownBy(() -> layout.itemAt(content, offset))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> layout.item(content, layout.count(size)))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void part_ofAnItem_keepsItsName() {
    Item item = new ItemLayout(1 << 20).itemAt(content(3, 5 << 20), 2 << 20);
    Item part = item.part(100, 300);
    assertThat(part.key()).isEqualTo(item.key());
    assertThat(part.offset()).isEqualTo((2 << 20) + 100);
    assertThat(part.length()).isEqualTo(200);
    assertThat(part).hasToString("f[2097252,+200]");
  }
}
