package io.holdfast.fs.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.ItemKey;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.origin.Version;
import io.holdfast.fs.transit.Item;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

final class StraysTest {
  private static final Item ITEM =
      new Item(new ItemKey(1, 0), () -> OriginPath.ROOT, new Version(10, 1, 1, ""), 0, 10);

  /** One resident; the first look at it fails. */
  private static final class Failing implements PlanParts.Residents {
    private int looks;

    @Override
    public long weight(Item item) {
      return item.length();
    }

    @Override
    public long capacity() {
      return 100;
    }

    @Override
    public long bytes() {
      return ITEM.length();
    }

    @Override
    public void forEach(Consumer<Item> taker) {
      if (looks++ == 0) {
        throw new OutOfMemoryError("for the test");
      }
      taker.accept(ITEM);
    }

    @Override
    public boolean has(Item item) {
      return true;
    }

    @Override
    public void release(Item item) {}
  }

  /** None was known then, so that the plan was forgotten, and they kept the room. */
  @Test
  void find_failsOnce_looksAgain() {
    Strays strays = new Strays(null);
    strays.ended(null);
    Failing residents = new Failing();
    assertThatThrownBy(() -> strays.find(residents, item -> false))
        .isInstanceOf(OutOfMemoryError.class);
    strays.forgetIfDrained(2);
    assertThat(strays.areAfterPlan()).isTrue();
    strays.find(residents, item -> false);
    assertThat(strays.poll(residents, item -> false)).isEqualTo(ITEM);
  }
}
