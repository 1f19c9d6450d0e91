package io.holdfast.fs.orders;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.FakeClock;
import io.holdfast.fs.ItemKey;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.origin.Version;
import io.holdfast.fs.transit.Item;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Residents are spread for a job that reads alone. */
final class SpreadingTest {
  private static final Item ITEM =
      new Item(new ItemKey(1, 0), () -> OriginPath.ROOT, new Version(1, 1, 1, ""), 0, 1);

  private final FakeClock clock = new FakeClock();
  private final List<String> asked = new ArrayList<>();
  private final Spreading spreading =
      new Spreading(
          job -> {
            asked.add(job);
            return null;
          },
          clock);

  /** Returns the job whose order is asked; empty if none is. */
  private List<String> reader() {
    asked.clear();
    assertThat(spreading.wants(ITEM)).isFalse();
    return asked;
  }

  @Test
  void order_ofTheOnlyJob_isAskedAtOnce() {
    assertThat(reader()).isEmpty();
    spreading.opened("a");
    assertThat(reader()).containsExactly("a");
    assertThat(spreading.victim(ITEM, 0, 0)).isNull();
    spreading.asked(ITEM);
    spreading.swapped(ITEM);
    assertThat(asked).containsOnly("a").hasSize(4);
  }

  @Test
  void order_ofAJobThatHasCompany_isAskedOnceTheOtherHasBeenQuiet() {
    spreading.opened("a");
    spreading.opened("b");
    assertThat(reader()).isEmpty();
    spreading.opened("a");
    clock.advance(Spreading.ALONE.minusSeconds(1));
    spreading.opened("a");
    assertThat(reader()).isEmpty();
    clock.advance(Duration.ofSeconds(1));
    assertThat(reader()).containsExactly("a");
    spreading.opened("b");
    assertThat(reader()).isEmpty();
  }

  /** The only job of the new daemon may be one of two: the other is in a checkpoint. */
  @Test
  void order_ofTheFirstJobAfterARestart_isAskedOnceNoOtherHasComeForAWhile() {
    spreading.goesOn();
    clock.advance(Duration.ofSeconds(1));
    spreading.opened("a");
    assertThat(reader()).isEmpty();
    clock.advance(Spreading.ALONE.minusSeconds(2));
    spreading.opened("a");
    assertThat(reader()).isEmpty();
    clock.advance(Duration.ofSeconds(1));
    assertThat(reader()).containsExactly("a");
  }
}
