package io.holdfast.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

final class ResidentTableTest {

  private final ResidentTable table = new ResidentTable();

  /** Ids from a small range collide and come back; the others are of every size and sign. */
  @Provide
  Arbitrary<List<Long>> ids() {
    return Arbitraries.oneOf(Arbitraries.longs().between(-40, 40), Arbitraries.longs())
        .list()
        .ofMaxSize(400);
  }

  /** An id that is in comes out, one that is not goes in: the same happens to a plain map. */
  @Property
  void table_anyIdsInAndOut_agreesWithPlainMap(@ForAll("ids") List<Long> ids) {
    ResidentTable table = new ResidentTable();
    Map<Long, Long> model = new HashMap<>();
    for (long id : ids) {
      long weight = 1 + (id & 0xfff);
      if (model.containsKey(id)) {
        assertThat(table.remove(id)).isEqualTo(model.remove(id));
      } else {
        assertThat(table.remove(id)).isEqualTo(ResidentTable.ABSENT);
        table.add(id, weight);
        model.put(id, weight);
      }
      assertThat(table.size()).isEqualTo(model.size());
    }
    model.forEach((id, weight) -> assertThat(table.weight(id)).isEqualTo(weight));
    assertThat(table.checkedTotalWeight())
        .isEqualTo(model.values().stream().mapToLong(Long::longValue).sum());
  }

  @Test
  void add_manyItems_takesAtMost43BytesEach() {
    for (long node = 0; node < 100_000; node++) {
      table.add(node << 20, 4096);
      if (table.size() > 12) {
        assertThat(table.slots() * 17.0 / table.size()).isBetween(21.0, 43.0);
      }
    }
    assertThat(table.checkedTotalWeight()).isEqualTo(100_000 * 4096L);
  }

  @Test
  void remove_nearlyAll_givesMemoryBack() {
    for (long id = 0; id < 100_000; id++) {
      table.add(id, 1);
    }
    for (long id = 5; id < 100_000; id++) {
      assertThat(table.remove(id)).isEqualTo(1);
    }
    assertThat(table.slots()).isLessThanOrEqualTo(64);
    assertThat(table.checkedTotalWeight()).isEqualTo(5);
  }

  @Test
  void add_itemThatIsThere_isRefused() {
    table.add(7, 1);
    assertThatIllegalArgumentException().isThrownBy(() -> table.add(7, 1));
    assertThatIllegalArgumentException().isThrownBy(() -> table.add(8, 0));
    assertThatIllegalArgumentException().isThrownBy(() -> table.add(8, -1));
    assertThat(table.size()).isEqualTo(1);
  }

  @Test
  void pick_manyTimes_isUniform() {
    int items = 50;
    int picks = 100_000;
    for (long id = 0; id < items; id++) {
      table.add(id, 1);
    }
    int[] picked = new int[items];
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < picks; i++) {
      picked[(int) table.pick(random)]++;
    }
    // 2,000 each, standard deviation 44: five of them.
    assertThat(IntStream.of(picked).boxed()).allSatisfy(n -> assertThat(n).isBetween(1_780, 2_220));
  }

  @Test
  void pick_emptyTable_fails() {
    assertThatIllegalStateException().isThrownBy(() -> table.pick(new SplittableRandom(1)));
  }
}
