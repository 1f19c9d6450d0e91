package io.holdfast.fs.residency;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.FakeClock;
import io.holdfast.fs.ItemKey;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.origin.Version;
import io.holdfast.fs.transit.Item;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

final class WindowTest {
  private static final Duration AGE = Duration.ofSeconds(2);
  private static final Duration MOMENT = Duration.ofMillis(1);

  private final FakeClock clock = new FakeClock();

  private Window window(long size, Duration age) {
    return new Window(size, age, clock);
  }

  private static Item item(long node, int length) {
    OriginPath path = OriginPath.of("f" + node);
    return new Item(new ItemKey(node, 0), () -> path, new Version(length, 1, node, ""), 0, length);
  }

  private static List<Item> items(List<Window.Entry> entries) {
    return entries.stream().map(Window.Entry::item).toList();
  }

  @Test
  void completeItem_youngerThanTheAge_lingers() {
    Window window = window(1000, AGE);
    Item item = item(1, 100);
    assertThat(window.delivered(item, 100, true)).isEmpty();
    clock.advance(AGE.minus(MOMENT));
    assertThat(window.aged()).isEmpty();
    assertThat(window.bytes()).isEqualTo(100);
    clock.advance(MOMENT);
    assertThat(items(window.aged())).containsExactly(item);
    assertThat(window.aged()).as("given out once").isEmpty();
  }

  @Test
  void item_isThere_onceAllOfItWasDelivered_untilItIsDropped() {
    Window window = window(1000, AGE);
    Item item = item(1, 100);
    assertThat(window.has(item)).isFalse();
    window.delivered(item, 60, false);
    assertThat(window.has(item)).isFalse();
    window.delivered(item, 40, true);
    assertThat(window.has(item)).isTrue();
    clock.advance(AGE);
    assertThat(window.aged()).hasSize(1);
    assertThat(window.has(item)).isFalse();
  }

  @Test
  void item_readAgain_isYoungAgain() {
    Window window = window(1000, AGE);
    Item item = item(1, 100);
    window.delivered(item, 60, false);
    window.delivered(item, 40, true);
    clock.advance(AGE.minus(MOMENT));
    window.delivered(item, 0, true);
    clock.advance(AGE.minus(MOMENT));
    assertThat(window.aged()).isEmpty();
    clock.advance(MOMENT);
    assertThat(window.aged()).hasSize(1);
  }

  @Test
  void partlyReadItem_lingersLongerButNotForEver() {
    Window window = window(1000, AGE);
    Item part = item(1, 100);
    window.delivered(part, 50, false);
    clock.advance(AGE.multipliedBy(2));
    assertThat(window.aged()).isEmpty();
    clock.advance(Duration.ofMinutes(1));
    assertThat(items(window.aged())).containsExactly(part);
  }

  /** The longest age that may be set. */
  @Test
  void longestAge_anyItem_lingers() {
    Window window = window(1000, Duration.ofDays(68 * 365));
    window.delivered(item(1, 100), 50, false);
    window.delivered(item(2, 100), 100, true);
    clock.advance(Duration.ofDays(1));
    assertThat(window.aged()).isEmpty();
  }

  @Test
  void bytes_untilTheDrop_areCounted() {
    Window window = window(1000, AGE);
    window.delivered(item(1, 100), 100, true);
    clock.advance(AGE);
    Window.Entry entry = window.aged().get(0);
    assertThat(window.bytes()).as("still in the page cache").isEqualTo(100);
    window.dropped(entry, true);
    assertThat(window.bytes()).isZero();
    assertThat(window.droppedBytes()).isEqualTo(100);
  }

  @Test
  void fullWindow_givesTheOldestOut() {
    Window window = window(1000, AGE);
    List<Item> out = new ArrayList<>();
    for (int i = 1; i <= 20; i++) {
      clock.advance(MOMENT);
      for (Window.Entry entry : window.delivered(item(i, 100), 100, true)) {
        out.add(entry.item());
        window.dropped(entry, true);
      }
      assertThat(window.bytes()).isLessThanOrEqualTo(1000);
    }
    assertThat(out).isNotEmpty();
    assertThat(out).extracting(Item::node).isSorted();
    assertThat(out.get(0).key()).isEqualTo(new ItemKey(1, 0));
    assertThat(window.bytes() + window.droppedBytes()).isEqualTo(2000);
  }

  /** A drop takes its time; younger ones went too while the oldest was on its way. */
  @Test
  void fullWindow_oldestIsStillOnItsWayOut_nothingElseGoes() {
    Window window = window(1000, AGE);
    List<Item> out = new ArrayList<>();
    for (int i = 1; i <= 7; i++) {
      out.addAll(items(window.delivered(item(i, 100), 100, true)));
    }
    assertThat(out).extracting(Item::key).containsExactly(new ItemKey(1, 0));
    assertThat(window.delivered(item(7, 100), 0, true)).isEmpty();
    assertThat(items(window.delivered(item(8, 100), 100, true)))
        .extracting(Item::key)
        .containsExactly(new ItemKey(2, 0));
  }

  @Test
  void fullWindow_completeItemsGoBeforePartlyReadOnes() {
    Window window = window(1000, AGE);
    Item part = item(1, 600);
    window.delivered(part, 300, false);
    Item complete = item(2, 250);
    assertThat(window.delivered(complete, 250, true)).isEmpty();
    assertThat(items(window.delivered(item(3, 200), 200, true))).contains(complete);
    assertThat(items(window.delivered(item(4, 9000), 9000, false))).contains(part);
  }

  @Test
  void noAge_completeItem_goesAtOnce() {
    Window window = window(1000, Duration.ZERO);
    Item item = item(1, 100);
    assertThat(window.delivered(item, 60, false)).as("still being read").isEmpty();
    assertThat(items(window.delivered(item, 40, true))).containsExactly(item);
    assertThat(window.aged()).isEmpty();
  }

  @Test
  void noSize_completeItem_goesAtOnce() {
    Window window = window(0, AGE);
    Item item = item(1, 100);
    assertThat(window.delivered(item, 60, false)).isEmpty();
    assertThat(items(window.delivered(item, 40, true))).containsExactly(item);
  }

  @Test
  void noSize_partlyReadItems_areBoundedAllTheSame() {
    Window window = window(0, AGE);
    int length = 8 << 20;
    long out = 0;
    for (int i = 1; i <= 10; i++) {
      out += window.delivered(item(i, length), length / 2, false).size();
    }
    assertThat(out).isPositive();
  }

  @Test
  void mappedItem_isTriedAgainMoreAndMoreSeldom() {
    Window window = window(1000, AGE);
    window.delivered(item(1, 100), 100, true);
    clock.advance(AGE);
    List<Duration> waits = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      window.dropped(window.aged().get(0), false);
      assertThat(window.bytes()).isEqualTo(100);
      Duration waited = Duration.ZERO;
      Duration step = Duration.ofMillis(50);
      while (true) {
        clock.advance(step);
        waited = waited.plus(step);
        List<Window.Entry> again = window.aged();
        if (!again.isEmpty()) {
          window.dropped(again.get(0), i == 11);
          break;
        }
        assertThat(waited).isLessThan(Duration.ofMinutes(2));
      }
      waits.add(waited);
      if (i < 11) {
        // it was given out by the loop above, and put back: let the next round begin
        clock.advance(Duration.ofMinutes(1));
      }
    }
    assertThat(waits).isSorted();
    assertThat(waits.get(0)).isLessThanOrEqualTo(Duration.ofMillis(200));
    assertThat(waits.get(11)).isBetween(Duration.ofSeconds(10), Duration.ofMinutes(1));
    assertThat(window.bytes()).isZero();
  }

  /** Twenty drops of small items were taken for the longest wait. */
  @Test
  void awaitRoom_manyDropsThatMakeNoRoomYet_waits() throws Exception {
    Window window = window(1000, AGE);
    List<Window.Entry> leaving = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      leaving.addAll(window.delivered(item(i, 4), 4, true));
    }
    CompletableFuture<Void> waiting = CompletableFuture.runAsync(window::awaitRoom);
    while (window.bytes() > 752) {
      window.dropped(leaving.remove(0), true);
      Thread.onSpinWait();
      assertThat(waiting).isNotDone();
    }
    window.dropped(leaving.remove(0), true);
    waiting.get(1, TimeUnit.MINUTES);
  }

  @Test
  void awaitRoom_noDropForAWhile_goesOn() throws Exception {
    Window window = window(1000, AGE);
    window.delivered(item(1, 900), 900, true);
    CompletableFuture<Void> waiting = CompletableFuture.runAsync(window::awaitRoom);
    while (!waiting.isDone()) {
      clock.advance(Duration.ofMillis(50));
      Thread.onSpinWait();
    }
    waiting.get();
  }

  /** A drop that fails now is not tried again at every read of another item. */
  @Test
  void mappedItem_fullWindow_waitsForItsTime() {
    Window window = window(1000, AGE);
    Item mapped = item(1, 900);
    clock.advance(AGE);
    Window.Entry entry = window.delivered(mapped, 900, true).get(0);
    window.dropped(entry, false);
    assertThat(items(window.delivered(item(2, 100), 100, true))).doesNotContain(mapped);
    assertThat(items(window.delivered(item(3, 100), 100, true))).doesNotContain(mapped);
  }

  /**
   * A program maps a large file and reads it from one end to the other. The pages that it has read
   * cannot be dropped, and once the pages ahead of it went instead, again and again.
   */
  @Test
  void mappedItems_moreThanTheWindow_doNotPushOutWhatIsBeingRead() {
    Window window = window(1000, AGE);
    for (int i = 1; i <= 5; i++) {
      for (Window.Entry entry : window.delivered(item(i, 900), 900, true)) {
        window.dropped(entry, false);
      }
    }
    assertThat(window.bytes()).isEqualTo(4500);
    Item read = item(6, 900);
    assertThat(window.delivered(read, 500, false)).isEmpty();
    assertThat(items(window.delivered(read, 400, true))).containsExactly(read);
  }

  /** A page that is just being copied to a program cannot be dropped, and is no mapped one. */
  @Test
  void busyItem_isTriedAgainSoon_andReadersWaitForIt() throws Exception {
    Window window = window(1000, AGE);
    Item busy = item(1, 900);
    window.dropped(window.delivered(busy, 900, true).get(0), false);
    CompletableFuture<Void> waiting = CompletableFuture.runAsync(window::awaitRoom);
    clock.advance(Duration.ofMillis(19));
    assertThat(window.aged()).isEmpty();
    clock.advance(Duration.ofMillis(1));
    Window.Entry again = window.aged().get(0);
    assertThat(again.item()).isEqualTo(busy);
    assertThat(waiting).isNotDone();

    window.dropped(again, false);

    waiting.get(); // it is mapped, so nobody waits for it
    clock.advance(Duration.ofMillis(199));
    assertThat(window.aged()).isEmpty();
    clock.advance(Duration.ofMillis(1));
    window.dropped(window.aged().get(0), true);
    assertThat(window.bytes()).isZero();
  }

  /** Each try to drop mapped pages takes long, and readers wait for it. */
  @Test
  void mappedFile_whatIsReadNext_isNotTriedAtOnce() {
    Window window = window(1000, AGE);
    Item first = extent(0);
    for (Window.Entry entry : window.delivered(first, 900, true)) {
      window.dropped(entry, false);
    }
    Item next = extent(1);
    assertThat(window.delivered(next, 900, true)).isEmpty();
    assertThat(items(window.delivered(item(2, 900), 900, true))).doesNotContain(next);
    clock.advance(Duration.ofMillis(100));
    assertThat(items(window.aged())).contains(next);
  }

  private static Item extent(int number) {
    OriginPath path = OriginPath.of("f");
    return new Item(
        new ItemKey(1, number), () -> path, new Version(1800, 1, 1, ""), 900L * number, 900);
  }

  @Test
  void mappedItem_readMeanwhile_isOneEntry() {
    Window window = window(1000, AGE);
    Item item = item(1, 100);
    window.delivered(item, 100, true);
    clock.advance(AGE);
    Window.Entry entry = window.aged().get(0);
    window.delivered(item, 100, true);
    window.dropped(entry, false);
    clock.advance(AGE);
    List<Window.Entry> again = window.aged();
    assertThat(items(again)).containsExactly(item);
    window.dropped(again.get(0), true);
    assertThat(window.bytes()).isZero();
  }

  @Test
  void forget_file_removesItsItemsOnly() {
    Window window = window(10_000, AGE);
    window.delivered(item(1, 100), 100, true);
    window.delivered(item(2, 200), 200, true);
    window.forget(1);
    assertThat(window.bytes()).isEqualTo(200);
    clock.advance(AGE);
    assertThat(window.aged()).hasSize(1);
  }

  /**
   * A file that has another version by now: its path leads to the new version, whose pages may well
   * stay, so an old entry that came back would be tried for ever.
   */
  @Test
  void forget_whileItIsBeingDropped_doesNotComeBack() {
    Window window = window(10_000, AGE);
    window.delivered(item(1, 100), 100, true);
    clock.advance(AGE);
    Window.Entry entry = window.aged().get(0);
    window.forget(1);
    window.dropped(entry, false);
    assertThat(window.bytes()).isZero();
    clock.advance(Duration.ofMinutes(5));
    assertThat(window.aged()).isEmpty();
  }

  /** Against a plain model: the window's bytes are those that were delivered and not dropped. */
  @Property(tries = 300)
  void operations_inAnyOrder_keepTheBooks(@ForAll long seed) {
    Random random = new Random(seed);
    Window window =
        window(random.nextInt(4) == 0 ? 0 : 2000, random.nextBoolean() ? AGE : Duration.ZERO);
    Map<Long, Long> model = new HashMap<>();
    List<Window.Entry> out = new ArrayList<>();
    long dropped = 0;
    for (int step = 0; step < 300; step++) {
      switch (random.nextInt(6)) {
        case 0 -> clock.advance(Duration.ofMillis(random.nextInt(3000)));
        case 1 -> out.addAll(window.aged());
        case 2 -> {
          if (!out.isEmpty()) {
            Window.Entry entry = out.remove(random.nextInt(out.size()));
            boolean gone = random.nextInt(3) > 0;
            long before = window.bytes();
            window.dropped(entry, gone);
            long freed = before - window.bytes();
            assertThat(freed).isGreaterThanOrEqualTo(0);
            assertThat(gone || freed == 0).isTrue();
            dropped += freed;
            model.merge(entry.item().node(), -freed, Long::sum);
          }
        }
        case 3 -> {
          long node = 1L + random.nextInt(20);
          window.forget(node);
          model.remove(node);
        }
        default -> {
          long node = 1L + random.nextInt(20);
          int count = random.nextInt(100);
          boolean whole = random.nextInt(3) == 0;
          out.addAll(window.delivered(item(node, 1000), count, whole));
          model.merge(node, (long) count, Long::sum);
        }
      }
      assertThat(window.bytes()).isEqualTo(model.values().stream().mapToLong(b -> b).sum());
      assertThat(window.droppedBytes()).isEqualTo(dropped);
      assertThat(window.mayGo()).isBetween(0L, window.bytes());
    }
    clock.advance(Duration.ofHours(1));
    out.addAll(window.aged());
    out.forEach(entry -> window.dropped(entry, true));
    clock.advance(Duration.ofHours(1));
    window.aged().forEach(entry -> window.dropped(entry, true));
    assertThat(window.bytes()).isZero();
    assertThat(window.mayGo()).isZero();
  }
}
