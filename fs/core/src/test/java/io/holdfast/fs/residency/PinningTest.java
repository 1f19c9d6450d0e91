package io.holdfast.fs.residency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.Await;
import io.holdfast.fs.CheckedBytes;
import io.holdfast.fs.FsException;
import io.holdfast.fs.RecordingReply;
import io.holdfast.fs.origin.Version;
import io.holdfast.fs.transit.Borrower;
import io.holdfast.fs.transit.Item;
import io.holdfast.fs.transit.Loan;
import io.holdfast.policy.CachePolicy;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** The pin, the reads and the release of an admitted item. */
final class PinningTest extends ResidencyFixture {
  @Test
  void offer_thatIsAdmitted_locksEveryPage() throws IOException {
    start(1 << 20);
    file("f", random(3 * PAGE + 17));
    Item item = item("f", 3 * PAGE + 17);
    pin(item);
    long node = item.node();
    assertThat(ProcessStatus.lockedBytes() - lockedBefore).isEqualTo(4L * PAGE);
    assertThat(residency.pinnedItems(node)).isEqualTo(1);
    assertThat(residency.pinnedBytes(node)).isEqualTo(3 * PAGE + 17);
    assertThat(residency.residentNodes()).containsExactly(node);
    Residency.Figures figures = residency.figures();
    assertThat(figures.residentBytes()).as("in whole pages").isEqualTo(4L * PAGE);
    assertThat(figures.residentItems()).isEqualTo(1);
    assertThat(figures.admittedItems()).isEqualTo(1);
    assertThat(figures.refusedItems()).isZero();
    assertThat(figures.pinFailures()).isZero();
    assertThat(figures.capacityBytes()).isEqualTo(1 << 20);
    assertThat(figures.windowBytes()).as("residents do not linger").isZero();
  }

  /**
   * A peer's request before the mount made a pin thread open the directory below the mount, and
   * keep it: no item was pinned any more.
   */
  @Test
  void offer_beforeTheMountIsThere_isRefusedAndPinnedLater() throws IOException {
    CachePolicy unused = prepare("minio", 1 << 20, true, 1000);
    Item early = item("f", PAGE);
    assertThat(residency.wouldAdmit(early)).isFalse();
    assertThat(residency.hasRoom(early, 0)).isFalse();
    assertThat(residency.offer(new Offered(early, false))).isFalse();
    assertThat(residency.isResident(early)).isFalse();

    file("f", random(PAGE));
    residency.mounted();

    Item item = item("f", PAGE);
    assertThat(residency.wouldAdmit(item)).isTrue();
    pin(item);
    assertThat(residency.isPinned(item)).isTrue();
    assertThat(residency.figures().pinFailures()).isZero();
  }

  @Test
  void pinnedFile_askedToBeDropped_stays() throws IOException {
    start(1 << 20);
    Path path = file("f", random(5 * PAGE));
    pin(item("f", 5 * PAGE));
    try (MappedFile application = application(path)) {
      application.drop();
      assertThat(application.cachedPages()).isEqualTo(5);
    }
  }

  @Test
  void offer_readFromElsewhere_isPinnedWithItsPagesReadInAnew() throws IOException {
    start(1 << 20);
    Path path = file("f", random(5 * PAGE));
    try (MappedFile application = new MappedFile(path)) {
      application.read();
      Offered offered = new Offered(item("f", 5 * PAGE), true);
      assertThat(residency.offer(offered)).isTrue();
      Await.latch(offered.done);
      assertThat(application.cachedPages()).isIn(5L, -1L);
      assertThat(ProcessStatus.lockedBytes() - lockedBefore).isEqualTo(5L * PAGE);
    }
  }

  @Test
  void offer_extentsOfALargeFile_arePinnedByRange() throws IOException {
    start(1 << 20);
    file("f", random(8 * PAGE));
    pin(item("f", 5, 1, 2L * PAGE, 2 * PAGE));
    pin(item("f", 5, 3, 6L * PAGE, 2 * PAGE));
    assertThat(ProcessStatus.lockedBytes() - lockedBefore).isEqualTo(4L * PAGE);
    assertThat(residency.pinnedItems(5)).isEqualTo(2);
    assertThat(residency.pinnedBytes(5)).isEqualTo(4L * PAGE);
    assertThat(residency.release(5)).isEqualTo(4L * PAGE);
    assertThat(ProcessStatus.lockedBytes()).isEqualTo(lockedBefore);
  }

  @Test
  void offer_softPin_mapsAndLocksNothing() throws IOException {
    start("minio", 1 << 20, false, 1000);
    file("f", random(5 * PAGE));
    Item item = item("f", 5 * PAGE);
    pin(item);
    assertThat(ProcessStatus.lockedBytes()).isEqualTo(lockedBefore);
    assertThat(mappings()).isEqualTo(1);
    assertThat(residency.serve(item, 0, 1, Borrower.passingOn(new RecordingReply()))).isFalse();
    assertThat(residency.isHard()).isFalse();
  }

  @Test
  void release_pinnedFile_unmapsAndFreesTheCapacity() throws IOException {
    CachePolicy policy = start(4L * PAGE);
    file("f", random(4 * PAGE));
    file("g", random(4 * PAGE));
    Item first = item("f", 4 * PAGE);
    Item second = item("g", 4 * PAGE);
    pin(first);
    assertThat(residency.wouldAdmit(second)).isFalse();
    assertThat(residency.offer(new Offered(second, false))).isFalse();
    assertThat(residency.release(first.node())).isEqualTo(4L * PAGE);
    assertThat(ProcessStatus.lockedBytes()).isEqualTo(lockedBefore);
    assertThat(mappings()).isZero();
    assertThat(residency.figures().residentBytes()).isZero();
    assertThat(residency.wouldAdmit(second)).isTrue();
    pin(second);
    assertThat(residency.figures().refusedItems()).isEqualTo(1);
    policy.check();
  }

  /**
   * An item that had to make way in the moment between its admission and its pin was pinned all the
   * same, beyond the capacity and for ever.
   */
  @Test
  void offers_thatMakeOthersGiveWay_pinNoMoreThanTheCapacity() throws Exception {
    int capacity = 4;
    CachePolicy policy = start("random", (long) capacity * PAGE, true, 1000);
    List<Offered> offers = new ArrayList<>();
    for (int i = 0; i < 400; i++) {
      file("f" + i, random(PAGE));
      offers.add(new Offered(item("f" + i, PAGE), false));
    }
    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < 4; t++) {
      int first = t;
      Thread thread =
          new Thread(
              () -> {
                for (int i = first; i < offers.size(); i += 4) {
                  residency.offer(offers.get(i));
                }
              });
      thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) {
      thread.join();
    }
    Await.until("the pins are made and undone", () -> mappings() == capacity);
    assertThat(policy.residentItems()).isEqualTo(capacity);
    for (Offered offer : offers) {
      boolean resident = residency.isResident(offer.item());
      assertThat(residency.pinnedItems(offer.item().node())).isEqualTo(resident ? 1 : 0);
    }
  }

  @Test
  void pin_fileGone_leavesTheBooksStraight() throws IOException {
    CachePolicy policy = start(1 << 20);
    Item item = item("missing", 3 * PAGE);
    pin(item);
    Await.until("the failure is counted", () -> residency.figures().pinFailures() == 1);
    Residency.Figures figures = residency.figures();
    assertThat(figures.residentBytes()).isZero();
    assertThat(figures.residentItems()).isZero();
    assertThat(residency.pinnedItems(item.node())).isZero();
    assertThat(residency.residentNodes()).isEmpty();
    assertThat(ProcessStatus.lockedBytes()).isEqualTo(lockedBefore);
    residency.tick();
    policy.check();
    // what could not be dropped because it is gone does not linger
    clock.advance(AGE);
    residency.tick();
    Await.until("the window is empty", () -> residency.figures().windowBytes() == 0);
  }

  @Test
  void pin_fileShorterThanTheItem_fails() throws IOException {
    start(1 << 20);
    file("f", random(PAGE));
    pin(item("f", 4 * PAGE));
    assertThat(residency.figures().pinFailures()).isEqualTo(1);
    assertThat(residency.figures().residentBytes()).isZero();
    assertThat(mappings()).isZero();
  }

  /** A second mapping would be in no book, and stay for ever. */
  @Test
  void resume_itemThatWasFetchedMeanwhile_hasOneMapping() throws IOException {
    start(1 << 20);
    file("f", random(3 * PAGE));
    Item item = item("f", 3 * PAGE);
    pin(item);
    residency.resume(item);
    assertThat(residency.figures().residentItems()).isEqualTo(1);
    assertThat(residency.isPinned(item)).as("the one that was there").isTrue();
    residency.release(item.node());
    assertThat(mappings()).isZero();
  }

  /** Nobody would ever let go of it: what there was of its file has been let go of. */
  @Test
  void offer_versionGoneMeanwhile_isNotAdmitted() throws IOException {
    start(1 << 20);
    file("f", random(3 * PAGE));
    Offered offered = new Offered(item("f", 3 * PAGE), false);
    offered.outdated = true;
    assertThat(residency.offer(offered)).isFalse();
    assertThat(offered.calls).hasValue(0);
    assertThat(residency.isResident(offered.item())).isFalse();
    assertThat(residency.figures().residentBytes()).isZero();
    assertThat(mappings()).isZero();
  }

  /** As long as the kernel believes a name, the name leads to the old version, with its pages. */
  @Test
  void pin_nameStillLeadsToAnotherVersion_fails() throws IOException {
    start(1 << 20);
    Path path = file("f", random(3 * PAGE));
    try (MappedFile application = new MappedFile(path)) {
      application.read();
      Item item = item("f", 3 * PAGE);
      Version now = item.version();
      Version modified =
          new Version(now.size(), now.modified() + 1, now.changed(), now.inode(), 0, "");
      Version changed =
          new Version(now.size(), now.modified(), now.changed() + 1, now.inode(), 0, "");
      Version shorter =
          new Version(now.size() - 1, now.modified(), now.changed(), now.inode(), 0, "");
      Version swapped =
          new Version(now.size(), now.modified(), now.changed(), now.inode() + 1, 0, "");
      for (Version other : List.of(modified, changed, shorter, swapped)) {
        pin(new Item(item.key(), item.path(), other, 0, (int) other.size()));
        assertThat(residency.isPinned(item)).as("%s", other).isFalse();
      }
      assertThat(residency.figures().pinFailures()).isEqualTo(4);
      assertThat(mappings()).isZero();
      pin(item);
      assertThat(residency.isPinned(item)).isTrue();
    }
  }

  /**
   * An object in S3 that was replaced within a second by one of the same size: the bytes of the old
   * one were pinned, and served as the new one's.
   */
  @Test
  void pin_nameLeadsToAnotherVersionOfTheSameAttributes_fails() throws IOException {
    start(1 << 20);
    file("f", random(3 * PAGE));
    Item item = item("f", 3 * PAGE);
    shownNode = item.node() + 1;
    pin(item);
    assertThat(residency.isPinned(item)).isFalse();
    assertThat(residency.figures().pinFailures()).isEqualTo(1);
    assertThat(mappings()).isZero();
    shownNode = item.node();
    pin(item);
    assertThat(residency.isPinned(item)).isTrue();
  }

  @Test
  void pin_symlinkInPlaceOfTheFile_fails() throws IOException {
    start(1 << 20);
    file("target", random(PAGE));
    java.nio.file.Files.createSymbolicLink(sandbox.path("f"), sandbox.path("target"));
    pin(item("f", PAGE));
    assertThat(residency.figures().pinFailures()).isEqualTo(1);
    assertThat(mappings()).isZero();
  }

  @Test
  void serve_pinnedItem_givesItsBytes() throws IOException {
    start(1 << 20);
    byte[] content = random(3 * PAGE + 17);
    file("f", content);
    Item item = item("f", content.length);
    RecordingReply early = new RecordingReply();
    assertThat(residency.serve(item, 0, 10, Borrower.passingOn(early))).isFalse();
    assertThat(early.isAnswered()).isFalse();
    pin(item);
    RecordingReply reply = new RecordingReply();
    assertThat(residency.serve(item, PAGE - 5, 2 * PAGE, Borrower.passingOn(reply))).isTrue();
    assertThat(reply.bytes()).isEqualTo(Arrays.copyOfRange(content, PAGE - 5, 3 * PAGE - 5));
    residency.release(item.node());
    assertThat(residency.serve(item, 0, 10, Borrower.passingOn(early))).isFalse();
  }

  @Test
  void serve_releasedMeanwhile_keepsTheMappingUntilTheEnd() throws IOException {
    start(1 << 20);
    file("f", random(2 * PAGE));
    Item item = item("f", 2 * PAGE);
    pin(item);
    long[] during = new long[1];
    boolean served =
        residency.serve(
            item,
            0,
            PAGE,
            Borrower.passingOn(
                new io.holdfast.fs.ReadReply() {
                  @Override
                  public void data(CheckedBytes bytes) {
                    residency.release(item.node());
                    during[0] = mappings();
                  }

                  @Override
                  public void failed(io.holdfast.fs.FsException cause) {
                    throw new AssertionError(cause);
                  }
                }));
    assertThat(served).isTrue();
    assertThat(during[0]).isEqualTo(1);
    assertThat(mappings()).isZero();
  }

  @Test
  void giveUp_ofAnItemThatIsBeingRead_isLeavingUntilItsReaderIsDone() throws IOException {
    start(1 << 20);
    file("f", random(PAGE));
    file("g", random(PAGE));
    Item read = item("f", PAGE);
    Item unread = item("g", PAGE);
    pin(read);
    pin(unread);
    List<Loan> loans = new ArrayList<>();
    Borrower keeps =
        new Borrower() {
          @Override
          public void lent(Loan loan) {
            loans.add(loan);
          }

          @Override
          public void failed(FsException cause) {
            throw new AssertionError(cause);
          }
        };
    assertThat(residency.serve(read, 0, 1, keeps)).isTrue();
    assertThat(residency.resize(0, 1000)).isEqualTo(2);
    assertThat(residency.leaving()).isEqualTo(1);
    loans.forEach(Loan::release);
    residency.tick();
    assertThat(residency.leaving()).isZero();
    assertThat(mappings()).isZero();
  }

  /** A file that is cut short loses pages that are locked as well. */
  @Test
  void serve_pagesOfAPinnedItemAreGone_letsGoOfItAndTouchesNone() throws IOException {
    start(1 << 20);
    Path path = file("f", random(4 * PAGE));
    Item item = item("f", 4 * PAGE);
    pin(item);
    try (RandomAccessFile cut = new RandomAccessFile(path.toFile(), "rw")) {
      cut.setLength(PAGE);
      cut.setLength(4L * PAGE);
    }

    assertThat(residency.serve(item, 0, PAGE, Borrower.passingOn(new RecordingReply()))).isTrue();
    assertThat(residency.isPinned(item)).isTrue();
    assertThat(residency.serve(item, PAGE, PAGE, Borrower.passingOn(new RecordingReply())))
        .isFalse();
    assertThat(residency.isResident(item)).isFalse();
    assertThat(mappings()).isZero();
    assertThat(residency.figures().residentBytes()).isZero();
  }

  /** A reader of its fetch has brought pages in, after the old pages were dropped. */
  @Test
  void pin_itemGivenUpWhileItWaits_isNotPinnedAndItsPagesGo() throws IOException {
    start(1 << 20);
    Path path = file("f", random(5 * PAGE));
    Item item = item("f", 5 * PAGE);
    CountDownLatch mayPin = new CountDownLatch(1);
    for (int i = 0; i < 2; i++) {
      pinners.execute(() -> Await.latch(mayPin));
    }
    try (MappedFile application = application(path)) {
      Offered offered = new Offered(item, false);
      assertThat(residency.offer(offered)).isTrue();
      assertThat(residency.giveUp(item, true)).isTrue();
      Await.until("it has left", () -> residency.figures().windowBytes() == 0);
      application.read();
      mayPin.countDown();
      Await.latch(offered.done);

      assertThat(mappings()).isZero();
      assertThat(residency.figures().windowBytes()).isEqualTo(5L * PAGE);
      clock.advance(AGE);
      residency.tick();
      Await.until("it is dropped", () -> residency.figures().windowBytes() == 0);
      assertThat(application.cachedPages()).isZero();
      assertThat(residency.figures().pinFailures()).isZero();
    }
  }

  /** {@link Residency#tick} reports the error. */
  @Test
  void pin_thatEndsWithAnError_leavesNothingResident() throws IOException {
    start(1 << 20);
    file("f", random(PAGE));
    Item item = item("f", PAGE);
    Thread offers = Thread.currentThread();
    Offered offered =
        new Offered(item, false) {
          @Override
          public int readsFromElsewhere() {
            if (Thread.currentThread() != offers) {
              throw new IllegalStateException("made for the test");
            }
            return 0;
          }
        };
    residency.offer(offered);
    Await.latch(offered.done);
    Await.until("it is not resident", () -> !residency.isResident(item));
    assertThat(residency.figures().residentBytes()).isZero();
    residency.tick();
  }

  @Test
  void offer_thatEndsWithAnError_leavesNothingResident() throws IOException {
    start(1 << 20);
    file("f", random(PAGE));
    Item item = item("f", PAGE);
    Offered offered =
        new Offered(item, false) {
          @Override
          public int readsFromElsewhere() {
            throw new IllegalStateException("made for the test");
          }
        };
    assertThatThrownBy(() -> residency.offer(offered)).isInstanceOf(IllegalStateException.class);
    assertThat(residency.isResident(item)).isFalse();
    assertThat(residency.figures().residentBytes()).isZero();
  }
}
