package io.holdfast.fs.transit;

import static io.holdfast.fs.transit.TransitFixture.MIB;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.Await;
import io.holdfast.fs.FsError;
import io.holdfast.fs.ItemKey;
import io.holdfast.fs.RecordingReply;
import io.holdfast.fs.transit.TransitFixture.File;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/**
 * The memory that transit keeps for items that were not admitted, and the items that make room for
 * others.
 */
final class TransitKeepingTest {
  private static final int ITEM = 4 * MIB;
  private static final long CAPACITY = 4L * ITEM;

  // items that are being pinned, and need none of their bytes for it

  private static TransitFixture behind() {
    TransitFixture t = TransitFixture.direct(ITEM, CAPACITY);
    t.listener.admits = item -> true;
    t.listener.givesWay = true;
    return t;
  }

  @Test
  void givesWay_readAgainBeforeItsPin_costsNoOtherFetch() {
    try (TransitFixture t = behind()) {
      File file = t.file("f", 200_000, 1);
      t.assertRead(file, 0, 200_000);
      t.assertRead(t.file("next", 1000, 2), 0, 1000);
      t.clock.advance(Duration.ofMinutes(1));
      t.transit.expire();
      assertThat(t.transit.reclaimable()).isEqualTo(201_000);

      assertThat(t.read(file, 0, 200_000, TransitFixture.SECOND).bytes()).isEqualTo(file.bytes());
      t.assertRead(file, 150_000, 50_000);
      assertThat(t.transit.bring(new ItemLayout(ITEM).item(file.content(), 0))).isCompleted();

      assertThat(t.origin.opens()).isEqualTo(2);
      assertThat(t.listener.delivered).as("it is no item that was refused").hasValue(0);
      t.listener.pinAll();
      assertThat(t.transit.used()).isZero();
    }
  }

  @Test
  void givesWay_memoryIsNeeded_goesBeforeItsPin() {
    try (TransitFixture t = behind()) {
      for (int i = 0; i < 12; i++) {
        t.assertRead(t.file("f" + i, ITEM, i), 0, ITEM);
      }
      assertThat(t.transit.used()).isEqualTo(CAPACITY);
      assertThat(t.listener.admitted).hasSize(12);
      assertThat(t.listener.offers).hasSize(12);

      t.listener.pinAll();

      assertThat(t.transit.used()).isZero();
      t.listener.givesWay = false;
      t.assertRead(t.file("last", ITEM, 12), 0, ITEM);
      assertThat(t.transit.reclaimable()).isZero();
    }
  }

  /** A reader holds the bytes: others do not get the memory. */
  @Test
  void givesWay_whileItIsRead_goesWhenThatHasEnded() {
    try (TransitFixture t = behind()) {
      File file = t.file("f", ITEM, 1);
      t.assertRead(file, 0, ITEM);
      Fetched fetched = t.listener.admitted.element();
      assertThat(fetched.hold()).isNotZero();
      assertThat(t.transit.reclaimable()).isZero();
      for (int i = 2; i < 8; i++) {
        t.assertRead(t.file("f" + i, ITEM, i), 0, ITEM);
      }
      t.assertRead(file, 0, ITEM);
      assertThat(t.origin.opens()).isEqualTo(7);
      fetched.release();
      assertThat(t.transit.reclaimable()).isEqualTo(CAPACITY);
    }
  }

  /** The pin was quicker than the offer's return. */
  @Test
  void givesWay_pinnedAtOnce_isGone() {
    try (TransitFixture t = behind()) {
      t.listener.pinsAtOnce = true;
      for (int i = 0; i < 8; i++) {
        t.assertRead(t.file("f" + i, ITEM, i), 0, ITEM);
        assertThat(t.transit.used()).isZero();
      }
    }
  }

  // what is kept, and for how long

  @Test
  void refused_deliveredWhole_isGivenUpWhenTheReaderMovesOn() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 100_000, 1);
      File next = t.file("next", 1000, 2);
      t.assertRead(file, 0, 100_000);
      assertThat(t.transit.used()).isEqualTo(100_000);
      assertThat(t.listener.delivered).hasValue(100_000);
      assertThat(t.listener.completed).hasSize(1);
      t.assertRead(next, 0, 1000);
      assertThat(t.transit.used()).isEqualTo(1000);
      t.clock.advance(Duration.ofSeconds(1).plusNanos(1));
      t.transit.expire();
      assertThat(t.transit.used()).as("nobody comes back after a second").isZero();
    }
  }

  @Test
  void refused_smallReads_costOneFetch() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 2 * MIB + 77, 1);
      for (int offset = 0; offset < file.bytes().length; offset += 4096) {
        t.assertRead(file, offset, Math.min(4096, file.bytes().length - offset));
      }
      assertThat(t.origin.bytesRead()).isEqualTo(file.bytes().length);
      assertThat(t.listener.delivered).hasValue(file.bytes().length);
      assertThat(t.listener.completed).hasSize(1);
    }
  }

  /** Their pages were dropped before they got to them, or they are another process's. */
  @Test
  void refused_lateReaderWithinThePass_costsNoOtherFetch() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 200_000, 1);
      t.assertRead(file, 0, 100_000);
      t.assertRead(file, 100_000, 100_000);
      assertThat(t.listener.completed).hasSize(1);
      t.assertRead(file, 150_000, 50_000);
      t.assertRead(file, 0, 100);
      RecordingReply second = t.read(file, 150_000, 50_000, TransitFixture.SECOND);
      assertThat(second.bytes()).isEqualTo(file.range(150_000, 50_000));
      assertThat(t.read(file, 0, 100, TransitFixture.INTERNAL).bytes()).hasSize(100);
      assertThat(t.origin.opens()).isEqualTo(1);
    }
  }

  @Test
  void refused_anotherPass_fetchesAgain() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 200_000, 1);
      File other = t.file("other", 1000, 1);
      for (int pass = 1; pass <= 3; pass++) {
        t.assertRead(file, 0, 100_000);
        t.assertRead(file, 100_000, 100_000);
        t.assertRead(other, 0, 1000);
        assertThat(t.origin.bytesRead()).isEqualTo(pass * 201_000L);
        assertThat(t.listener.completed).hasSize(2 * pass);
        assertThat(t.listener.delivered).hasValue(pass * 201_000L);
      }
      assertThat(t.listener.offers.get(new ItemKey(file.content().node(), 0))).isEqualTo(3);
    }
  }

  @Test
  void refused_anotherPassOfAnotherReader_fetchesAgain() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 200_000, 1);
      t.assertRead(file, 0, 200_000);
      RecordingReply second = t.read(file, 0, 200_000, TransitFixture.SECOND);
      assertThat(second.bytes()).isEqualTo(file.bytes());
      assertThat(t.origin.opens()).isEqualTo(2);
      assertThat(t.listener.delivered).hasValue(400_000);
    }
  }

  @Test
  void refused_readInPart_isKeptForAWhile() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 200_000, 1);
      t.assertRead(file, 0, 100_000);
      t.clock.advance(Duration.ofSeconds(9));
      t.transit.expire();
      assertThat(t.transit.used()).isEqualTo(200_000);
      t.assertRead(file, 100_000, 50_000);
      assertThat(t.origin.opens()).isEqualTo(1);
      t.clock.advance(Duration.ofSeconds(11));
      t.transit.expire();
      assertThat(t.transit.used()).isZero();
    }
  }

  /** The listener learns of the bytes in the page cache: never more than the item. */
  @Test
  void delivered_toldForOverlappingReads_addUpToTheItem() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 200_001, 1);
      t.assertRead(file, 0, 150_000);
      t.assertRead(file, 100_000, 50_000);
      t.assertRead(file, 4095, 2);
      t.assertRead(file, 100_000, 100_001);
      assertThat(t.listener.delivered).hasValue(200_001);
      assertThat(t.listener.completed).hasSize(1);
    }
  }

  /** A second reader of the last page, after one read took all. */
  @Test
  void delivered_wholeAndThenTheTail_countsNoByteTwice() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 5000, 1);
      t.assertRead(file, 0, 5000);
      assertThat(t.read(file, 4096, 904, TransitFixture.SECOND).bytes()).hasSize(904);
      assertThat(t.origin.opens()).isEqualTo(1);
      assertThat(t.listener.delivered).hasValue(5000);
    }
  }

  @Test
  void admitted_item_staysUntilDone() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      t.listener.admits = item -> true;
      File file = t.file("f", 200_000, 1);
      t.assertRead(file, 0, 200_000);
      t.assertRead(file, 0, 200_000);
      t.clock.advance(Duration.ofMinutes(5));
      t.transit.expire();
      t.assertRead(file, 100, 100);
      assertThat(t.transit.used()).isEqualTo(200_000);
      assertThat(t.origin.opens()).isEqualTo(1);
      assertThat(t.listener.delivered).as("residents do not linger").hasValue(0);
      t.listener.pinAll();
      assertThat(t.transit.used()).isZero();
    }
  }

  @Test
  void admitted_doneTwiceOrAfterAbandon_givesBackOnce() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      t.listener.admits = item -> true;
      File file = t.file("f", 200_000, 1);
      t.assertRead(file, 0, 200_000);
      Fetched fetched = t.listener.admitted.remove();
      t.transit.abandon(file.content().node(), "f");
      fetched.done();
      fetched.done();
      assertThat(t.transit.used()).isZero();
    }
  }

  /** A reader that copies from the memory must not find another file's bytes there. */
  @Test
  void admitted_heldWhileItsVersionGoes_keepsItsMemoryUntilItIsReleased() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      t.listener.admits = item -> true;
      File file = t.file("f", 200_000, 1);
      t.assertRead(file, 0, 200_000);
      Fetched fetched = t.listener.admitted.remove();
      assertThat(fetched.hold()).isNotZero();
      t.transit.abandon(file.content().node(), "f");
      assertThat(fetched.isOutdated()).isTrue();
      assertThat(t.transit.used()).isEqualTo(200_000);
      assertThat(fetched.hold()).as("for nobody else").isZero();
      fetched.release();
      assertThat(t.transit.used()).isZero();
      fetched.done();
      assertThat(t.transit.used()).isZero();
    }
  }

  /** The residents of the file were let go of before this one was among them. */
  @Test
  void admitted_versionGoneMeanwhile_isSaidToBeOutdated() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 1000, 1);
      t.listener.admits =
          item -> {
            t.transit.abandon(file.content().node(), "f");
            return true;
          };
      t.assertRead(file, 0, 1000);
      Fetched fetched = t.listener.admitted.remove();
      assertThat(fetched.isOutdated()).isTrue();
      fetched.done();
      assertThat(t.transit.used()).isZero();
      t.listener.admits = item -> true;
      t.assertRead(file, 0, 1000);
      Fetched current = t.listener.admitted.remove();
      assertThat(current.isOutdated()).isFalse();
      current.done();
    }
  }

  /** Its pages had been dropped, and are there again: they are to be dropped again. */
  @Test
  void refused_readAgainWhileItIsKept_isToldAgain() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 10_000, 1);
      t.assertRead(file, 0, 10_000);
      assertThat(t.listener.completed).hasSize(1);
      t.assertRead(file, 4096, 4096);
      assertThat(t.origin.opens()).isEqualTo(1);
      assertThat(t.listener.completed).hasSize(2);
      assertThat(t.listener.delivered).hasValue(10_000);
    }
  }

  /**
   * An item that was pinned before its fetch knew that it was admitted counted as lingering, for
   * ever: its pages could not be dropped.
   */
  @Test
  void admitted_pinnedBeforeTheDecisionIsKnown_doesNotLinger() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      t.listener.admits = item -> true;
      t.listener.pinsAtOnce = true;
      File file = t.file("f", 1000, 1);
      t.assertRead(file, 0, 1000);
      assertThat(t.listener.offers).hasSize(1);
      assertThat(t.listener.delivered).hasValue(0);
      assertThat(t.listener.completed).isEmpty();
    }
  }

  @Test
  void admitted_readFromElsewhere_isTold() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      t.listener.admits = item -> true;
      File near = t.file("near", 1000, 1);
      File far = t.file("far", 1000, 2);
      t.read(near, 0, 1000, TransitFixture.NEAR);
      t.read(far, 0, 1000, TransitFixture.ELSEWHERE);
      assertThat(t.listener.admitted).extracting(Fetched::readsFromElsewhere).containsExactly(0, 1);
    }
  }

  @Test
  void admitted_readInPart_tellsWhatNobodyHasRead() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      t.listener.admits = item -> true;
      List<Integer> lengths = List.of(4096, 8192, 10_000);
      for (int length : lengths) {
        t.assertRead(t.file("f" + length, 10_000, length), 0, length);
      }
      t.assertRead(t.file("end", 10_000, 1), 4096, 4096);
      assertThat(t.listener.admitted)
          .extracting(Fetched::firstUndelivered)
          .containsExactly(4096, 8192, 10_000, 0);
    }
  }

  @Test
  void resident_read_isServedWithoutAFetch() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 1000, 1);
      t.listener.serve =
          (item, offset, length, borrower) -> {
            borrower.lent(FakeListener.NOTHING);
            return true;
          };
      assertThat(t.read(file, 10, 20).bytes()).isEmpty();
      assertThat(t.origin.opens()).isZero();
      assertThat(t.transit.used()).isZero();
    }
  }

  /**
   * The item was pinned between two looks at the table: a reader that joined the fetch, which is
   * not needed any more, gets the bytes too.
   */
  @Test
  void resident_whileAnotherReaderJoins_bothAreAnswered() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 1000, 1);
      RecordingReply joined = new RecordingReply();
      AtomicBoolean once = new AtomicBoolean();
      t.listener.serve =
          (item, offset, length, borrower) -> {
            if (once.compareAndSet(false, true)) {
              t.transit.read(file.content(), 10, 20, TransitFixture.NEAR, joined);
            }
            borrower.lent(FakeListener.NOTHING);
            return true;
          };
      assertThat(t.read(file, 0, 1000).bytes()).isEmpty();
      assertThat(joined.code()).as("the failure of who joined").isNull();
    }
  }

  // memory

  @Test
  void memory_full_idleItemsAreGivenUp() {
    try (TransitFixture t = TransitFixture.direct(MIB, 4L * MIB)) {
      for (int i = 0; i < 20; i++) {
        File file = t.file("f" + i, MIB, i);
        t.assertRead(file, 0, 1000);
        assertThat(t.transit.used()).isLessThanOrEqualTo(t.transit.capacity());
      }
      assertThat(t.transit.used()).isEqualTo(4L * MIB);
    }
  }

  /**
   * Transit gives up as many items as it takes, not only a quarter of them: otherwise the reader
   * would wait for the rest.
   */
  @Test
  void memory_fullOfIdleItemsOfAllSizes_enoughAreGivenUp() {
    try (TransitFixture t = TransitFixture.impatient(MIB, 3L * MIB)) {
      for (int i = 0; i < 4; i++) {
        t.clock.advance(Duration.ofMillis(1));
        t.assertRead(t.file("f" + i, i < 2 ? 8192 : MIB, i), 0, 10);
      }
      assertThat(t.read(t.file("next", MIB, 9), 0, 10).code()).isNull();
    }
  }

  @Test
  void memory_fullOfAdmittedItems_failsByTheDeadline() {
    try (TransitFixture t = TransitFixture.impatient(MIB, 2L * MIB)) {
      t.listener.admits = item -> true;
      t.assertRead(t.file("a", MIB, 1), 0, MIB);
      t.assertRead(t.file("b", MIB, 2), 0, MIB);
      File next = t.file("c", MIB, 3);
      RecordingReply reply = t.read(next, 0, 10);
      assertThat(reply.isAnswered()).isFalse();
      t.clock.advance(TransitFixture.IMPATIENCE.dividedBy(2));
      t.transit.expire();
      assertThat(reply.failure().code()).isEqualTo(FsError.NO_MEMORY);
      t.listener.pinAll();
      t.assertRead(next, 0, 10);
    }
  }

  @Test
  void memory_fullAndThenFreed_letsTheWaitingFetchGoOn() {
    try (TransitFixture t = TransitFixture.threaded(MIB, 2L * MIB)) {
      t.listener.admits = item -> true;
      t.assertRead(t.file("a", MIB, 1), 0, MIB);
      t.assertRead(t.file("b", MIB, 2), 0, MIB);
      Await.until("both are offered", () -> t.listener.admitted.size() == 2);
      File next = t.file("c", MIB, 3);
      RecordingReply reply = t.read(next, 0, 10);
      assertThat(reply.isAnswered()).isFalse();
      t.listener.pinAll();
      assertThat(reply.bytes()).isEqualTo(next.range(0, 10));
    }
  }
}
