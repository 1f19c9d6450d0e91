package io.holdfast.fs.transit;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.origin.Version;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests of {@link ItemLayout} and of the ids of items. */
final class ItemLayoutTest {
  private static final long MOST_NODES = 1L << 39;

  private static Content content(long node, long size) {
    return new Content(node, () -> OriginPath.of("f"), new Version(size, 1, 1, ""));
  }

  @Property
  void id_ofAnyNodeAndExtent_unpacks(
      @ForAll @LongRange(min = 1, max = MOST_NODES - 1) long node,
      @ForAll @IntRange(min = 0, max = (1 << Item.EXTENT_BITS) - 1) int extent) {
    long id = Item.id(node, extent);
    assertThat(Item.node(id)).isEqualTo(node);
    assertThat(id & ((1 << Item.EXTENT_BITS) - 1)).isEqualTo(extent);
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
      assertThat(item.id()).isEqualTo(Item.id(7, count));
      assertThat(layout.itemAt(content, at + item.length() - 1)).isEqualTo(item);
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

  @Test
  void part_ofAnItem_keepsItsName() {
    Item item = new ItemLayout(1 << 20).itemAt(content(3, 5 << 20), 2 << 20);
    Item part = item.part(100, 300);
    assertThat(part.id()).isEqualTo(item.id());
    assertThat(part.offset()).isEqualTo((2 << 20) + 100);
    assertThat(part.length()).isEqualTo(200);
    assertThat(part).hasToString("f[2097252,+200]");
  }
}
