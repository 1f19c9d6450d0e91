package io.holdfast.fs.orders;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.ControlInodes;
import io.holdfast.fs.FakeClock;
import io.holdfast.fs.figures.ConvoyFigures;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.origin.Version;
import io.holdfast.fs.stats.OpenBatch;
import io.holdfast.fs.transit.Content;
import io.holdfast.fs.transit.Item;
import io.holdfast.fs.transit.ItemLayout;
import io.holdfast.fs.transit.Reader;
import io.holdfast.fs.transit.SharedFetch;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.Test;

/** Jobs a and b, whose threads are 1 and 2. */
final class SharedOrdersTest {
  private static final int BYTES = 1000;
  private static final int BUDGET = 10 * BYTES;

  private final FakeClock clock = new FakeClock();
  private final Map<Integer, Character> states = new HashMap<>(Map.of(1, 'S', 2, 'S'));
  private final Map<Integer, Long> active = new HashMap<>();
  private final List<Fetch> letGo = new ArrayList<>();
  private final List<Fetch> goneOn = new ArrayList<>();
  private long inFlight;

  /** The inode number of a file by its node's. */
  private LongUnaryOperator inode = node -> node;

  private final SharedOrders shared = shared(Duration.ofSeconds(60));

  private SharedOrders shared(Duration patience) {
    return new SharedOrders(
        new SharedOrders.Parts(
            BUDGET,
            patience,
            thread -> thread == 1 ? "a" : "b",
            node -> inode.applyAsLong(node),
            () -> inFlight,
            new SharedOrders.Threads(
                thread -> states.getOrDefault(thread, '?'),
                thread -> active.getOrDefault(thread, 0L)),
            clock));
  }

  private final class Fetch implements SharedFetch {
    private Runnable fault = () -> {};

    @Override
    public void letGo() {
      letGo.add(this);
      fault.run();
    }

    @Override
    public void goOn() {
      goneOn.add(this);
      fault.run();
    }
  }

  private static Item item(int node) {
    Version version = new Version(BYTES, 1, node, "");
    return new ItemLayout(1 << 20)
        .item(new Content(node, () -> OriginPath.of("f" + node), version), 0);
  }

  private static Reader reader(int thread) {
    return new Reader(thread, Reader.Kind.APPLICATION, false);
  }

  private void opens(int thread, int from, int to) {
    OpenBatch batch = new OpenBatch();
    for (int file = from; file < to; file++) {
      batch.add(inode.applyAsLong(file), BYTES);
    }
    shared.opened(thread == 1 ? "a" : "b", thread, batch);
  }

  private Fetch fetches(int node, boolean goesOn) {
    Fetch fetch = new Fetch();
    assertThat(shared.begins(fetch, item(node), reader(1), false)).isEqualTo(goesOn);
    return fetch;
  }

  /** The jobs have read 32 files, and a 10 more, which fill the budget. */
  private List<Fetch> fill() {
    List<Fetch> kept = new ArrayList<>();
    opens(1, 0, 32);
    opens(2, 0, 32);
    for (int file = 32; file < 42; file++) {
      opens(1, file, file + 1);
      Fetch fetch = fetches(file, true);
      assertThat(shared.keeps(fetch)).isTrue();
      kept.add(fetch);
    }
    opens(1, 42, 43);
    assertThat(shared.heldBytes()).isEqualTo(BUDGET);
    return kept;
  }

  /** For so many ticks of 20 ms, fetches are on their way. */
  private void ticks(int count) {
    for (int i = 0; i < count; i++) {
      clock.advance(Duration.ofMillis(20));
      active.put(1, clock.getAsLong());
      active.put(2, states.get(2) == 'S' ? clock.getAsLong() : active.getOrDefault(2, 0L));
      shared.tick();
    }
  }

  @Test
  void figures_tellTheConvoy() {
    assertThat(shared.figures()).isEmpty();
    fill();
    assertThat(shared.figures()).containsExactly(new ConvoyFigures("a", 2, BUDGET, BUDGET, 0));
  }

  @Test
  void fullBudget_whileTheOriginIsIdle_delaysNothing() {
    fill();
    ticks(100);
    fetches(42, true);
    assertThat(letGo).as("b is left behind").hasSize(10);
  }

  @Test
  void fullBudget_whileTheOriginIsTheBottleneck_delaysForTwoSeconds() {
    fill();
    inFlight = 3;
    ticks(100);
    Fetch delayed = fetches(42, false);
    ticks(99);
    assertThat(goneOn).isEmpty();
    ticks(1);
    assertThat(goneOn).containsExactly(delayed);
    assertThat(shared.figures().get(0).delayedSeconds()).isEqualTo(2);
  }

  /** The readers of the others used to wait until they timed out. */
  @Test
  void stepsOfFetchesThatFail_keepNoOtherFetchBack() {
    List<Fetch> all = fill();
    inFlight = 3;
    ticks(100);
    for (int file = 42; file < 45; file++) {
      all.add(fetches(file, false));
    }
    for (Fetch each : all) {
      each.fault =
          () -> {
            throw new OutOfMemoryError("a test");
          };
    }
    states.put(2, 'T');
    clock.advance(Duration.ofMillis(250));
    for (int i = 0; i < all.size(); i++) {
      assertThatThrownBy(shared::tick).isInstanceOf(OutOfMemoryError.class);
    }
    shared.tick();
    assertThat(letGo).containsExactlyElementsOf(all.subList(0, 10));
    assertThat(goneOn).containsExactlyElementsOf(all.subList(10, 13));
  }

  /** The read would fail before the delay is over. */
  @Test
  void delays_areNotForReadersWithoutPatience() {
    SharedOrders impatient = shared(Duration.ofSeconds(2));
    OpenBatch batch = new OpenBatch();
    for (int file = 0; file < 32; file++) {
      batch.add(file, BYTES);
    }
    impatient.opened("a", 1, batch);
    impatient.opened("b", 2, batch);
    inFlight = 3;
    for (int i = 0; i < 100; i++) {
      impatient.tick();
    }
    for (int file = 32; file < 60; file++) {
      assertThat(impatient.begins(new Fetch(), item(file), reader(1), false)).isTrue();
    }
  }

  @Test
  void jobThatIsStopped_isDroppedAtTheNextLook() {
    fill();
    inFlight = 3;
    ticks(100);
    Fetch delayed = fetches(42, false);
    states.put(2, 'T');
    ticks(26);
    assertThat(goneOn).containsExactly(delayed);
    assertThat(letGo).hasSize(10);
    assertThat(shared.heldBytes()).isZero();
    assertThat(shared.figures()).isEmpty();
  }

  @Test
  void jobWhoseThreadsHaveEnded_isDroppedAfterASecond() {
    fill();
    states.put(2, '?');
    ticks(40);
    assertThat(letGo).as("workers end with their epoch").isEmpty();
    ticks(30);
    assertThat(letGo).hasSize(10);
  }

  @Test
  void jobThatOpensNothing_isDroppedAfterTwoSeconds_unlessItWaitsForARead() {
    fill();
    ticks(200);
    assertThat(letGo).as("its read waits").isEmpty();
    for (int i = 0; i < 120; i++) {
      clock.advance(Duration.ofMillis(20));
      active.put(1, clock.getAsLong());
      shared.tick();
    }
    assertThat(letGo).hasSize(10);
  }

  @Test
  void unknownThread_takesNoPart() {
    fill();
    assertThat(shared.begins(new Fetch(), item(42), reader(0), false)).isTrue();
    assertThat(letGo).isEmpty();
  }

  /** As overlayfs over two file systems gives, and GlusterFS: nothing was kept for the others. */
  @Test
  void files_whoseInodeNumbersHaveTheHighestBit_areKept() {
    inode = node -> Long.MIN_VALUE + node;
    fill();
    assertThat(shared.figures()).containsExactly(new ConvoyFigures("a", 2, BUDGET, BUDGET, 0));
  }

  @Test
  void file_thatHasGone_isNotKept() {
    fill();
    inode = node -> ControlInodes.NO_FILE;
    assertThat(shared.keeps(fetches(43, true))).isFalse();
  }

  @Test
  void announcedOrders_thatAreEqual_areOneConvoy() {
    FileSequence order = new FileSequence();
    order.add(5);
    order.add(7);
    FileSequence same = new FileSequence();
    same.add(5);
    same.add(7);
    FileSequence other = new FileSequence();
    other.add(7);
    other.add(5);
    shared.announced("a", order);
    shared.announced("b", same);
    shared.announced("c", other);
    assertThat(shared.figures()).extracting(ConvoyFigures::jobs).containsExactly(2L);
    assertThat(shared.keeps(fetches(5, true))).isTrue();
    clock.advance(Duration.ofSeconds(61));
    shared.tick();
    assertThat(letGo).as("nobody has begun").hasSize(1);
  }
}
