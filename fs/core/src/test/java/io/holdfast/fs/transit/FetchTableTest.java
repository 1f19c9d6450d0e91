package io.holdfast.fs.transit;

import static io.holdfast.fs.transit.TransitFixture.MIB;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.ItemKey;
import io.holdfast.fs.Seeds;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class FetchTableTest {
  private static final int LENGTH = 200;

  private final FetchTable table = new FetchTable();

  @Test
  void parts_addedAndRemovedInAnyOrder_neverOverlapAndAreFound() {
    long seed = Seeds.next("parts_addedAndRemoved");
    Random random = new Random(seed);
    try (TransitFixture t = TransitFixture.direct(MIB, 2L * MIB)) {
      Item item = new ItemLayout(MIB).itemAt(t.file("f", LENGTH, 1).content(), 0);
      Fetch[] model = new Fetch[LENGTH];
      List<Fetch> there = new ArrayList<>();
      for (int step = 0; step < 5000; step++) {
        if (random.nextInt(3) == 0 && !there.isEmpty()) {
          Fetch fetch = there.remove(random.nextInt(there.size()));
          table.remove(fetch);
          fill(model, fetch, null);
        } else {
          int from = random.nextInt(LENGTH - 1);
          int to = from + 1 + random.nextInt(Math.min(20, LENGTH - 1 - from));
          Fetch fetch = new Fetch(item, item.part(from, to), 0, false);
          boolean free = true;
          for (int at = from; at < to; at++) {
            free &= model[at] == null;
          }
          assertThat(table.add(fetch, false)).as("seed %d", seed).isEqualTo(free);
          if (free) {
            there.add(fetch);
            fill(model, fetch, fetch);
          }
        }
        assertLike(model, item.key(), random.nextInt(LENGTH));
        assertThat(table.of(item.key())).hasSize(there.size());
      }
    }
  }

  /**
   * The missing range may be a whole item, of which another thread may have added a part meanwhile.
   */
  @Test
  void missing_thatIsAllOfAnItem_isRefusedWhereThereIsAPart() {
    try (TransitFixture t = TransitFixture.direct(MIB, 2L * MIB)) {
      Item item = new ItemLayout(MIB).itemAt(t.file("f", LENGTH, 1).content(), 0);
      Fetch part = new Fetch(item, item.part(20, 40), 0, false);
      Fetch all = new Fetch(item, item.part(0, LENGTH), 0, false);

      assertThat(table.add(part, false)).isTrue();
      assertThat(table.add(all, false)).isFalse();
      assertThat(table.at(item.key(), 0)).isNull();
      assertThat(table.add(all, true)).as("wanted whatever there is").isTrue();
      table.remove(part);
      assertThat(table.add(part, false)).as("the whole has its bytes").isFalse();
      assertThat(table.at(item.key(), 20)).isSameAs(all);
      table.remove(all);
      assertThat(table.add(all, false)).isTrue();
    }
  }

  private static void fill(Fetch[] model, Fetch range, @Nullable Fetch with) {
    for (int at = range.from(); at < range.upTo(); at++) {
      model[at] = with;
    }
  }

  private void assertLike(Fetch[] model, ItemKey item, int at) {
    assertThat(table.at(item, at)).isSameAs(model[at]);
    if (model[at] == null) {
      int end = at;
      while (end < LENGTH && model[end] == null) {
        end++;
      }
      assertThat(table.gapEnd(item, at, LENGTH)).isEqualTo(end);
      assertThat(table.gapEnd(item, at, at + 1)).isEqualTo(at + 1);
    } else {
      assertThat(table.gapEnd(item, at, LENGTH)).isEqualTo(at);
    }
  }

  @Test
  void whole_addedOverParts_isFoundFirst() {
    try (TransitFixture t = TransitFixture.direct(MIB, 2L * MIB)) {
      Item item = new ItemLayout(MIB).itemAt(t.file("f", LENGTH, 1).content(), 0);
      Fetch part = new Fetch(item, item.part(10, 20), 0, false);
      Fetch whole = new Fetch(item, item, 0, false);
      assertThat(table.add(part, false)).isTrue();
      assertThat(table.add(whole, true)).isTrue();
      assertThat(table.add(new Fetch(item, item, 0, false), true)).isFalse();
      assertThat(table.at(item.key(), 15)).isSameAs(whole);
      List<Fetch> all = new ArrayList<>();
      table.forEach(all::add);
      assertThat(all).containsExactlyInAnyOrder(part, whole);
      table.remove(whole);
      assertThat(table.at(item.key(), 15)).isSameAs(part);
      assertThat(table.at(item.key(), 20)).isNull();
      table.remove(part);
      assertThat(table.of(item.key())).isEmpty();
    }
  }
}
