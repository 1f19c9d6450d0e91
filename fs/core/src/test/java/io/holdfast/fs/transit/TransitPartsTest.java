package io.holdfast.fs.transit;

import static io.holdfast.fs.transit.TransitFixture.MIB;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.RecordingReply;
import io.holdfast.fs.origin.FakeOrigin;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.transit.TransitFixture.File;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Items that are fetched in parts, and ahead of their readers. */
final class TransitPartsTest {
  private static final int ITEM = 4 * MIB;
  private static final long CAPACITY = 4L * ITEM;

  // parts

  @ParameterizedTest
  @ValueSource(ints = {4096, 98_304, FileStreams.PART})
  void random_readOfAPart_fetchesAtMostTwiceOfIt(int length) {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 16 * MIB, 1);
      t.assertRead(file, 10L * MIB + FileStreams.PART, length);
      assertThat(t.origin.bytesRead()).isEqualTo(Math.min(2 * length, FileStreams.PART));
      assertThat(t.origin.opens()).isEqualTo(1);
      assertThat(t.listener.offers).as("a part is not offered").isEmpty();
      assertThat(t.listener.delivered).hasValue(length);
    }
  }

  @Test
  void random_readAcrossParts_fetchesWhatIsMissingBetween() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 16 * MIB, 1);
      t.assertRead(file, 10L * MIB, MIB);
      t.assertRead(file, 11L * MIB + 100_000, 100);
      t.assertRead(file, 9L * MIB, 3 * MIB);
      assertThat(t.origin.bytesRead()).as("each byte once").isEqualTo(3L * MIB);
      assertThat(t.origin.opens()).isEqualTo(5);
    }
  }

  @Test
  void random_readAcrossItems_isJoined() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 4 * ITEM, 1);
      t.assertRead(file, 3L * ITEM - 5000, 10_000);
      assertThat(t.origin.bytesRead()).isLessThanOrEqualTo(20_000);
      assertThat(t.origin.opens()).isEqualTo(2);
      t.assertRead(file, 1_000_000, 2 * ITEM + 77);
    }
  }

  /** Each such read had memory of its own while it waited, however many there were. */
  @Test
  void joined_moreThanThereIsMemoryFor_failAndTheOthersGetTheirBytes() {
    try (TransitFixture t = TransitFixture.threaded(ITEM, CAPACITY)) {
      File file = t.file("f", 4 * ITEM, 1);
      StepGate gate = new StepGate();
      t.origin.setGate(gate);
      long offset = ITEM - MIB / 2;
      List<RecordingReply> replies = new ArrayList<>();
      for (int i = 0; i <= CAPACITY / MIB; i++) {
        replies.add(t.read(file, offset, MIB));
      }
      gate.allow(100);
      FsException failure = replies.remove(replies.size() - 1).failure();
      assertThat(failure.code()).isEqualTo(FsError.NO_MEMORY);
      assertThat(failure).hasMessageContaining("16777216 of 16777216 bytes in use");
      for (RecordingReply reply : replies) {
        assertThat(reply.bytes()).isEqualTo(file.range(offset, MIB));
      }
      t.assertRead(file, offset, MIB);
    }
  }

  @Test
  void random_readOfTheLastPart_endsWithTheFile() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 2 * ITEM + FileStreams.PART + 300, 1);
      t.assertRead(file, 2L * ITEM + FileStreams.PART + 100, 150);
      assertThat(t.origin.bytesRead()).isEqualTo(200);
    }
  }

  @Test
  void random_readOfWhatWouldBeAdmitted_fetchesTheItem() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      t.listener.admits = item -> true;
      File file = t.file("f", 16 * MIB, 1);
      t.assertRead(file, 10L * MIB, 1000);
      assertThat(t.origin.bytesRead()).isEqualTo(ITEM);
      assertThat(t.listener.admitted).hasSize(1);
    }
  }

  @Test
  void joined_oneSideFails_failsWhole() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 3 * ITEM, 1);
      t.origin.setGate(
          new FakeOrigin.Gate() {
            @Override
            public void read(OriginPath path, long offset, int length) throws FsException {
              if (offset >= 2L * ITEM) {
                throw new FsException(FsError.ACCESS_DENIED, "denied");
              }
            }
          });
      assertThat(t.read(file, 2L * ITEM - 10, 20).failure().code())
          .isEqualTo(FsError.ACCESS_DENIED);
    }
  }

  // reading ahead

  @Test
  void ahead_lastItem_isNotExceeded() {
    List<Runnable> ahead = new ArrayList<>();
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY, ahead::add)) {
      File file = t.file("f", ITEM, 1);
      for (long offset = 0; offset < ITEM; offset += MIB) {
        t.assertRead(file, offset, MIB);
      }
      assertThat(ahead).isEmpty();
    }
  }

  /**
   * Nobody waits for a prefetch, so it may be refused. But a reader may have joined it by then, and
   * that read must not fail for lack of a thread.
   */
  @Test
  void ahead_refusedWhenAReaderHasJoined_readerGetsItsBytes() {
    AtomicReference<Runnable> onAhead = new AtomicReference<>(() -> {});
    try (TransitFixture t =
        TransitFixture.direct(
            ITEM,
            CAPACITY,
            task -> {
              onAhead.get().run();
              throw new RejectedExecutionException("busy");
            })) {
      File file = t.file("f", 3 * ITEM, 1);
      RecordingReply joined = new RecordingReply();
      onAhead.set(() -> t.transit.read(file.content(), ITEM, 1000, TransitFixture.NEAR, joined));
      for (long offset = 0; offset < ITEM; offset += MIB) {
        t.assertRead(file, offset, MIB);
      }
      assertThat(joined.code()).as("the failure of who joined").isNull();
      assertThat(joined.bytes()).isEqualTo(file.range(ITEM, 1000));
    }
  }

  @Test
  void close_endsEveryFetch() {
    try (TransitFixture t = TransitFixture.threaded(ITEM, CAPACITY)) {
      t.listener.admits = item -> true;
      t.assertRead(t.file("admitted", MIB, 1), 0, MIB);
      t.listener.admits = item -> false;
      t.assertRead(t.file("kept", MIB, 1), 0, 10);
      StepGate gate = new StepGate();
      t.origin.setGate(gate);
      RecordingReply waiting = t.read(t.file("running", MIB, 1), 0, 10);
      gate.awaitStep();
      t.transit.close();
      assertThat(waiting.failure().code()).isEqualTo(FsError.IO);
      gate.allow(1);
    }
  }

  /** A thread that planned what to fetch was held up, and others read it and went on. */
  @Test
  void ahead_whatWasReadAndGivenUpMeanwhile_isNotFetchedAgain() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 16 * MIB, 1);
      t.listener.beforeFetchAt.put(2L * MIB, () -> readSteps(t, file, 2, 9));
      readSteps(t, file, 0, 2);
      assertThat(t.listener.beforeFetchAt).isEmpty();
      readSteps(t, file, 9, 16);
      assertThat(t.origin.bytesRead()).isEqualTo(file.bytes().length);
    }
  }

  @Test
  void sequential_whatWasReadAndGivenUpMeanwhile_isNotFetchedWithTheRead() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 16 * MIB, 1);
      t.listener.beforeFetchAt.put(0L, () -> readSteps(t, file, 1, 9));
      readSteps(t, file, 0, 1);
      assertThat(t.listener.beforeFetchAt).isEmpty();
      readSteps(t, file, 9, 16);
      assertThat(t.origin.bytesRead()).isEqualTo(file.bytes().length);
    }
  }

  /**
   * The kernel reads ahead, and those pages may be gone before the program gets there, while
   * another program that shares the file reads the part after the next.
   */
  @Test
  void sequential_anotherReadsFurtherOn_whatWasReadIsStillThere() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 16 * MIB, 1);
      readSteps(t, file, 0, 5);
      Reader other = new Reader(2, Reader.Kind.APPLICATION, false);
      int length = 4096;
      for (int read = 0, at = 2 * ITEM; read < 6; read++, at += length / 2, length *= 2) {
        assertThat(t.read(file, at, length, other).bytes()).isEqualTo(file.range(at, length));
      }
      long before = t.origin.bytesRead();
      readSteps(t, file, 3, 5);
      assertThat(t.origin.bytesRead()).isEqualTo(before);
    }
  }

  private static void readSteps(TransitFixture t, File file, int from, int to) {
    for (long each = from; each < to; each++) {
      t.assertRead(file, each * MIB, MIB);
    }
  }
}
