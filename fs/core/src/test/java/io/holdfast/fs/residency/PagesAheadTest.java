package io.holdfast.fs.residency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.Await;
import io.holdfast.fs.PageStore;
import io.holdfast.fs.transit.Item;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Items that an order predicts, and for which there is no room: their pages go to the kernel ahead
 * of their readers, and no resident goes for them.
 */
final class PagesAheadTest extends ResidencyFixture {
  private static final int LENGTH = 3 * PAGE + 5;
  private static final int MIB = 1 << 20;
  private static final long MEMORY = 1L << 30;

  /** An item whose bytes are in memory; a test may take them away. */
  private static class Predicted extends Offered {
    final AtomicInteger holders = new AtomicInteger();
    volatile long memory = MEMORY;

    Predicted(Item item) {
      super(item, false);
      predicted = true;
    }

    @Override
    public long hold() {
      if (memory != 0) {
        holders.incrementAndGet();
      }
      return memory;
    }

    @Override
    public void release() {
      holders.decrementAndGet();
    }
  }

  private final List<PageStore.Source> asked = new CopyOnWriteArrayList<>();
  private final List<Long> nodesAsked = new CopyOnWriteArrayList<>();

  PagesAheadTest() {
    pages =
        (node, source) -> {
          nodesAsked.add(node);
          return asked.add(source);
        };
  }

  @AfterEach
  void answer() {
    List<PageStore.Source> left = new ArrayList<>(asked);
    asked.clear();
    left.forEach(each -> each.over(true));
  }

  private PageStore.Source next() {
    Await.until("the kernel is offered bytes", () -> !asked.isEmpty());
    return asked.remove(0);
  }

  private Predicted predicted(String name, int length) throws IOException {
    file(name, random(length));
    return new Predicted(item(name, length));
  }

  private static void assertPiece(PageStore.@Nullable Piece piece, int offset, int length) {
    assertThat(piece).isNotNull();
    assertThat(piece.offset()).isEqualTo(offset);
    assertThat(piece.bytes().address()).isEqualTo(MEMORY + offset);
    assertThat(piece.bytes().length()).isEqualTo(length);
  }

  private void assertOver(Predicted offered) {
    Await.latch(offered.done);
    assertThat(offered.calls).hasValue(1);
    assertThat(offered.holders).hasValue(0);
  }

  @Test
  void predicted_withoutRoom_isGivenToTheKernelPieceByPiece() throws IOException {
    start(PAGE);
    int length = 2 * MIB + 77;
    Predicted offered = predicted("f", length);
    assertThat(residency.offer(offered)).isTrue();
    PageStore.Source store = next();
    assertThat(nodesAsked).containsExactly(offered.item().node());
    assertPiece(store.next(), 0, MIB);
    assertThat(offered.calls).as("its memory is in use").hasValue(0);
    assertPiece(store.next(), MIB, MIB);
    assertPiece(store.next(), 2 * MIB, 77);
    assertThat(store.next()).isNull();
    assertThat(residency.figures().windowBytes()).isZero();
    store.over(true);
    assertOver(offered);
    assertThat(residency.figures().windowBytes()).isGreaterThanOrEqualTo(length);
    assertThat(residency.figures().residentItems()).isZero();
  }

  /** Policies that replace residents do so for readers, and not for what is only predicted. */
  @ParameterizedTest
  @ValueSource(strings = {"minio", "lru", "tinylfu"})
  void predicted_withoutRoom_evictsNoResident(String policy) throws IOException {
    start(policy, 2L * PAGE, true, 1000);
    List<Item> residents = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      file("r" + i, random(PAGE));
      residents.add(item("r" + i, PAGE));
      Offered read = new Offered(residents.get(i), false);
      assertThat(residency.offer(read)).isTrue();
      PageStore.Source store = next();
      assertThat(store.next()).as("there are no bytes to give").isNull();
      store.over(true);
      Await.latch(read.done);
    }
    for (int i = 0; i < 20; i++) {
      Predicted offered = predicted("f" + i, LENGTH);
      assertThat(residency.offer(offered)).isTrue();
      PageStore.Source store = next();
      assertPiece(store.next(), 0, LENGTH);
      store.over(true);
      assertOver(offered);
    }
    assertThat(residents).allSatisfy(each -> assertThat(residency.isPinned(each)).isTrue());
    assertThat(residency.figures().evictedItems()).isZero();
  }

  @Test
  void predicted_withRoom_becomesResident() throws IOException {
    start(MIB);
    Predicted offered = predicted("f", LENGTH);
    assertThat(residency.offer(offered)).isTrue();
    PageStore.Source store = next();
    store.over(true);
    assertOver(offered);
    assertThat(residency.isPinned(offered.item())).isTrue();
  }

  @Test
  void fileThatTheKernelDoesNotKnow_isLookedUpOnce() throws IOException {
    start(PAGE);
    Predicted offered = predicted("f", LENGTH);
    residency.offer(offered);
    PageStore.Source first = next();
    assertPiece(first.next(), 0, LENGTH);
    first.over(false);
    assertThat(offered.holders).as("while it is looked up").hasValue(0);
    PageStore.Source again = next();
    assertPiece(again.next(), 0, LENGTH);
    again.over(true);
    assertOver(offered);
    assertThat(residency.figures().windowBytes()).isGreaterThanOrEqualTo(LENGTH);
  }

  @Test
  void fileThatTheKernelWillNotKnow_isReadAsAnyOther() throws IOException {
    start(PAGE);
    Predicted offered = predicted("f", LENGTH);
    residency.offer(offered);
    for (int i = 0; i < 2; i++) {
      PageStore.Source store = next();
      assertPiece(store.next(), 0, LENGTH);
      store.over(false);
    }
    assertOver(offered);
    assertThat(asked).isEmpty();
    assertThat(residency.figures().windowBytes()).isZero();
  }

  @Test
  void versionThatIsGone_orBytesThatAre_areNotGiven() throws IOException {
    start(PAGE);
    Predicted outdated = predicted("a", LENGTH);
    residency.offer(outdated);
    outdated.outdated = true;
    PageStore.Source store = next();
    assertThat(store.next()).isNull();
    store.over(true);
    assertOver(outdated);

    Predicted freed = predicted("b", LENGTH);
    residency.offer(freed);
    freed.memory = 0;
    store = next();
    assertThat(store.next()).isNull();
    store.over(true);
    assertOver(freed);
    assertThat(residency.figures().windowBytes()).isZero();
  }

  @Test
  void bindingThatCannotStore_leavesTheItemInTransit() throws IOException {
    pages = PageStore.NONE;
    start(PAGE);
    Predicted offered = predicted("f", LENGTH);
    assertThat(residency.offer(offered)).isFalse();
    assertThat(offered.calls).hasValue(0);
  }

  /**
   * As without heap for a moment; the memory would stay taken for as long as the mount is there.
   */
  @Test
  void failure_whileTheFileIsLookedUp_givesTheMemoryBack() throws IOException {
    PageStore once = pages;
    pages =
        (node, source) -> {
          if (!nodesAsked.isEmpty()) {
            throw new OutOfMemoryError("test");
          }
          return once.store(node, source);
        };
    start(PAGE);
    Predicted offered = predicted("f", LENGTH);
    residency.offer(offered);
    PageStore.Source store = next();
    assertPiece(store.next(), 0, LENGTH);
    store.over(false);
    assertOver(offered);
  }

  @Test
  void failure_whenTheKernelHasThePages_givesTheMemoryBack() throws IOException {
    start(PAGE);
    file("f", random(LENGTH));
    Predicted offered =
        new Predicted(item("f", LENGTH)) {
          @Override
          public void release() {
            super.release();
            throw new OutOfMemoryError("test");
          }
        };
    residency.offer(offered);
    PageStore.Source store = next();
    assertPiece(store.next(), 0, LENGTH);
    assertThatThrownBy(() -> store.over(true)).hasMessage("test");
    assertOver(offered);
  }

  /** The mount is ending: nobody looks the file up, and the memory is given back. */
  @Test
  void close_beforeTheFileIsLookedUp_givesTheMemoryBack() throws IOException {
    start(PAGE);
    Predicted offered = predicted("f", LENGTH);
    residency.offer(offered);
    PageStore.Source store = next();
    assertPiece(store.next(), 0, LENGTH);
    droppers.close();
    store.over(false);
    assertOver(offered);
  }
}
