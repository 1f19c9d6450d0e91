package io.holdfast.fs.residency;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.Await;
import io.holdfast.fs.PageStore;
import io.holdfast.fs.transit.Item;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** If the binding can, residency gives the kernel an item's bytes before it pins the item. */
final class StoredPagesTest extends ResidencyFixture {
  private static final int LENGTH = 5 * PAGE + 7;
  private static final long MEMORY = 1 << 30;

  /** The pages that a binding was asked to store. */
  private record Stored(long node, PageStore.Source source) {
    PageStore.Piece next() {
      return source.next();
    }

    void over(boolean known) {
      source.over(known);
    }
  }

  /** The bytes, and how many of the first have been read. */
  private static final class Arrived extends Offered {
    private volatile int delivered;
    private final int elsewhere;
    private final AtomicInteger holders = new AtomicInteger();

    Arrived(Item item, int delivered, int elsewhere) {
      super(item, false);
      this.delivered = delivered;
      this.elsewhere = elsewhere;
    }

    @Override
    public long hold() {
      holders.incrementAndGet();
      return MEMORY;
    }

    @Override
    public void release() {
      holders.decrementAndGet();
    }

    @Override
    public int firstUndelivered() {
      return delivered;
    }

    @Override
    public int readsFromElsewhere() {
      return elsewhere;
    }
  }

  private final List<Stored> asked = new CopyOnWriteArrayList<>();

  StoredPagesTest() {
    pages = (node, source) -> asked.add(new Stored(node, source));
  }

  /** Answers everything that is still unanswered. */
  @AfterEach
  void answer() {
    List<Stored> left = new ArrayList<>(asked);
    asked.clear();
    left.forEach(each -> each.over(true));
  }

  private static void assertStored(
      PageStore.@Nullable Piece piece, long offset, long address, int length) {
    assertThat(piece).isNotNull();
    assertThat(piece.offset()).isEqualTo(offset);
    assertThat(piece.bytes().address()).isEqualTo(address);
    assertThat(piece.bytes().length()).isEqualTo(length);
  }

  private Stored next() {
    Await.until("bytes are given to the kernel", () -> !asked.isEmpty());
    return asked.remove(0);
  }

  @Test
  void offer_itemThatNobodyHasRead_isStoredWholeAndThenPinned() throws IOException {
    start(1 << 20);
    file("f", random(LENGTH));
    Item item = item("f", LENGTH);
    Arrived arrived = new Arrived(item, 0, 0);
    assertThat(residency.offer(arrived)).isTrue();

    Stored stored = next();
    assertThat(stored.node()).isEqualTo(item.node());
    assertStored(stored.next(), 0, MEMORY, LENGTH);
    assertThat(residency.isPinned(item)).isFalse();
    assertThat(arrived.calls).as("its memory is in use").hasValue(0);
    assertThat(arrived.holders).hasValue(1);
    assertThat(stored.next()).isNull();
    stored.over(true);
    assertThat(arrived.holders).hasValue(0);

    Await.latch(arrived.done);
    assertThat(residency.isPinned(item)).isTrue();
    assertThat(asked).isEmpty();
  }

  @Test
  void offer_itemOfWhichTheBeginningWasRead_storesTheRest() throws IOException {
    start(1 << 20);
    file("f", random(LENGTH));
    Item item = item("f", LENGTH);
    Arrived arrived = new Arrived(item, 2 * PAGE, 0);
    residency.offer(arrived);

    Stored stored = next();
    assertStored(stored.next(), 2L * PAGE, MEMORY + 2L * PAGE, LENGTH - 2 * PAGE);
    stored.over(true);
    Await.latch(arrived.done);
    assertThat(residency.isPinned(item)).isTrue();
  }

  @Test
  void offer_largeItem_isStoredFromItsEndUntilItMeetsTheReader() throws IOException {
    int mib = 1 << 20;
    int length = 2 * mib + LENGTH;
    start(4L * mib);
    file("f", random(length));
    Item item = item("f", length);
    Arrived arrived = new Arrived(item, 0, 0);
    residency.offer(arrived);

    Stored stored = next();
    assertStored(stored.next(), 2L * mib, MEMORY + 2L * mib, LENGTH);
    arrived.delivered = mib + PAGE;
    assertStored(stored.next(), mib + PAGE, MEMORY + mib + PAGE, mib - PAGE);
    assertThat(stored.next()).isNull();
    stored.over(true);

    Await.latch(arrived.done);
    assertThat(residency.isPinned(item)).isTrue();
    assertThat(asked).isEmpty();
  }

  @Test
  void offer_itemThatWasReadWhole_storesNothing() throws IOException {
    start(1 << 20);
    file("f", random(LENGTH));
    Item item = item("f", LENGTH);
    Arrived arrived = new Arrived(item, LENGTH, 0);
    residency.offer(arrived);
    Await.latch(arrived.done);
    assertThat(residency.isPinned(item)).isTrue();
    assertThat(asked).isEmpty();
  }

  @Test
  void offer_fileThatTheKernelDoesNotKnow_isLookedUpOnce() throws IOException {
    start(1 << 20);
    file("f", random(LENGTH));
    Item item = item("f", LENGTH);
    Arrived arrived = new Arrived(item, 0, 0);
    residency.offer(arrived);
    for (int i = 0; i < 2; i++) {
      Stored stored = next();
      assertStored(stored.next(), 0, MEMORY, LENGTH);
      stored.over(false);
    }
    Await.latch(arrived.done);
    assertThat(residency.isPinned(item)).as("read in through the mount").isTrue();
    assertThat(asked).isEmpty();
  }

  @Test
  void offer_itemReadFromElsewhere_isDroppedAndStoredWhole() throws IOException {
    start(1 << 20);
    Path path = file("f", random(LENGTH));
    try (MappedFile application = application(path)) {
      application.read();
      Item item = item("f", LENGTH);
      Arrived arrived = new Arrived(item, LENGTH, 1);
      residency.offer(arrived);

      Stored stored = next();
      assertThat(application.cachedPages()).isZero();
      assertStored(stored.next(), 0, MEMORY, LENGTH);
      application.read();
      stored.over(true);
      Await.latch(arrived.done);
      assertThat(residency.isPinned(item)).isTrue();
    }
  }

  @Test
  void giveUp_whileItIsStored_isNotPinnedAndItsPagesGo() throws IOException {
    start(1 << 20);
    Path path = file("f", random(LENGTH));
    Item item = item("f", LENGTH);
    Arrived arrived = new Arrived(item, 0, 0);
    try (MappedFile application = application(path)) {
      residency.offer(arrived);
      Stored stored = next();
      assertThat(residency.giveUp(item, true)).isTrue();
      Await.until("it has left", () -> residency.figures().windowBytes() == 0);
      assertThat(stored.next()).isNull();
      application.read();
      stored.over(true);
      Await.latch(arrived.done);

      assertThat(mappings()).isZero();
      clock.advance(AGE);
      residency.tick();
      Await.until("it is dropped", () -> residency.figures().windowBytes() == 0);
      assertThat(application.cachedPages()).isZero();
    }
  }

  @Test
  void close_whileItIsStored_givesTheMemoryBack() throws IOException {
    start(1 << 20);
    file("f", random(LENGTH));
    Arrived arrived = new Arrived(item("f", LENGTH), 0, 0);
    residency.offer(arrived);
    Stored stored = next();
    residency.close();
    stored.over(true);
    Await.latch(arrived.done);
    assertThat(arrived.calls).hasValue(1);
    assertThat(mappings()).isZero();
  }

  @Test
  void version_goneBeforeItIsStored_isNotStored() throws IOException {
    start(1 << 20);
    file("f", random(LENGTH));
    Arrived arrived = new Arrived(item("f", LENGTH), 0, 0);
    residency.offer(arrived);
    arrived.outdated = true;
    Stored stored = next();
    assertThat(stored.next()).isNull();
    assertThat(arrived.holders).hasValue(0);
    stored.over(true);
    Await.latch(arrived.done);
  }
}
