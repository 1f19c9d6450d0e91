package io.holdfast.fs.transit;

import static io.holdfast.fs.transit.TransitFixture.MIB;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.Await;
import io.holdfast.fs.CheckedBytes;
import io.holdfast.fs.FetchUse;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.OutOfMemory;
import io.holdfast.fs.ReadReply;
import io.holdfast.fs.RecordingReply;
import io.holdfast.fs.origin.FakeOrigin;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.transit.TransitFixture.File;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Reads from an origin that fails, or does not answer. */
final class TransitFailuresTest {
  private static final int ITEM = 4 * MIB;
  private static final long CAPACITY = 4L * ITEM;

  // failures of the origin

  private static FakeOrigin.Gate failing(FsError code, int times) {
    AtomicInteger left = new AtomicInteger(times);
    return new FakeOrigin.Gate() {
      @Override
      public void read(OriginPath path, long offset, int length) throws FsException {
        if (left.getAndDecrement() > 0) {
          throw new FsException(code, path + ": broken");
        }
      }
    };
  }

  @ParameterizedTest
  @EnumSource(names = {"IO", "TIMED_OUT"})
  void failure_thatPasses_isTriedAgainAndCounted(FsError code) {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 1000, 1);
      t.origin.setGate(failing(code, 2));
      t.assertRead(file, 0, 1000);
      assertThat(t.transit.stats().originRetries.sum()).isEqualTo(2);
      assertThat(t.transit.stats().originErrors.sum()).isZero();
    }
  }

  /** A store whose requests end by a deadline of their own, of which a reader waits for several. */
  @Test
  void origin_lateAgainAndAgain_isAskedAsLongAsTheReaderWaits() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 1000, 1);
      t.origin.setGate(failing(FsError.TIMED_OUT, 5));
      t.assertRead(file, 0, 1000);
      assertThat(t.transit.stats().originRetries.sum()).isEqualTo(5);
      File other = t.file("g", 1000, 1);
      t.origin.setGate(
          new FakeOrigin.Gate() {
            @Override
            public void read(OriginPath path, long offset, int length) throws FsException {
              t.clock.advance(TransitFixture.DEADLINE.dividedBy(4));
              throw new FsException(FsError.TIMED_OUT, path + ": late");
            }
          });
      assertThat(t.read(other, 0, 1000).failure().code()).isEqualTo(FsError.TIMED_OUT);
      assertThat(t.transit.stats().originRetries.sum()).isEqualTo(5 + 3);
    }
  }

  /** The second reader's read failed when the first one's time was over. */
  @Test
  void origin_lateWhenAReaderHasJoined_isAskedAsLongAsThatOneWaits() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 1000, 1);
      RecordingReply later = new RecordingReply();
      AtomicInteger calls = new AtomicInteger();
      t.origin.setGate(
          new FakeOrigin.Gate() {
            @Override
            public void read(OriginPath path, long offset, int length) throws FsException {
              int call = calls.incrementAndGet();
              if (call > 6) {
                return;
              }
              t.clock.advance(TransitFixture.DEADLINE.dividedBy(4));
              if (call == 3) {
                t.transit.read(file.content(), 0, 1000, TransitFixture.SECOND, later);
              }
              throw new FsException(FsError.TIMED_OUT, path + ": late");
            }
          });
      RecordingReply first = t.read(file, 0, 1000);
      assertThat(later.bytes()).isEqualTo(file.bytes());
      assertThat(first.bytes()).isEqualTo(file.bytes());
      assertThat(t.transit.stats().originErrors.sum()).isZero();
    }
  }

  /**
   * The thread that enforces deadlines read from a disk that hangs, for a program that had tried
   * again, and enforced none from then on.
   */
  @Test
  void origin_hangsAndAReaderHasJoined_isAskedAgainByAnotherThread() throws InterruptedException {
    List<Runnable> steps = new ArrayList<>();
    try (TransitFixture t = TransitFixture.stepping(ITEM, CAPACITY, steps::add)) {
      File file = t.file("f", 1000, 1);
      CountDownLatch asked = new CountDownLatch(1);
      CountDownLatch answers = new CountDownLatch(1);
      AtomicInteger reads = new AtomicInteger();
      t.origin.setGate(
          new FakeOrigin.Gate() {
            @Override
            public void read(OriginPath path, long offset, int length) {
              if (reads.getAndIncrement() == 0) {
                asked.countDown();
                Await.latch(answers);
              }
            }
          });
      FutureTask<RecordingReply> first = new FutureTask<>(() -> t.read(file, 0, 1000));
      Thread reader = new Thread(first, "reader");
      reader.start();
      Await.latch(asked);
      t.clock.advance(TransitFixture.DEADLINE.plusSeconds(1));
      t.transit.expire();
      RecordingReply again = t.read(file, 0, 1000);
      t.clock.advance(TransitFixture.DEADLINE.minusMillis(500));

      t.transit.expire();

      int readsByNow = reads.get();
      List<Runnable> handedOver = List.copyOf(steps);
      answers.countDown();
      reader.join();
      assertThat(readsByNow).as("reads of the origin").isEqualTo(1);
      assertThat(handedOver).hasSize(1);
      handedOver.get(0).run();
      assertThat(again.bytes()).isEqualTo(file.bytes());
    }
  }

  @Test
  void failure_thatStays_isToldAndCounted() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 1000, 1);
      t.origin.setGate(failing(FsError.IO, 100));
      assertThat(t.read(file, 0, 1000).failure().code()).isEqualTo(FsError.IO);
      assertThat(t.transit.stats().originErrors.sum()).isEqualTo(1);
      assertThat(t.transit.used()).isZero();
      t.origin.setGate(new FakeOrigin.Gate() {});
      t.assertRead(file, 0, 1000);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"ACCESS_DENIED", "NOT_PERMITTED", "NO_MEMORY", "UNSUPPORTED"})
  void failure_thatWillNotPass_isNotTriedAgain(FsError code) {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 1000, 1);
      t.origin.setGate(failing(code, 1));
      assertThat(t.read(file, 0, 1000).failure().code()).isEqualTo(code);
      assertThat(t.origin.opens()).isEqualTo(1);
      assertThat(t.listener.changed).isEmpty();
    }
  }

  /** A store that gives less than there is; the version of the file is still the one wanted. */
  private static final class GivingLess implements FakeOrigin.Gate {
    private final AtomicInteger times;

    GivingLess(int times) {
      this.times = new AtomicInteger(times);
    }

    @Override
    public int atMost(OriginPath path, int length) {
      return times.getAndDecrement() > 0 ? length / 2 : length;
    }
  }

  @Test
  void read_shortInPassing_isTriedAgain() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 1000, 1);
      t.origin.setGate(new GivingLess(2));
      t.assertRead(file, 0, 1000);
      assertThat(t.transit.stats().originRetries.sum()).isEqualTo(2);
    }
  }

  /** It was told as ESTALE once, although nothing had changed. */
  @Test
  void read_shortForGood_isAnErrorOfTheOrigin() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 1000, 1);
      t.origin.setGate(new GivingLess(100));
      FsException failure = t.read(file, 0, 1000).failure();
      assertThat(failure.code()).isEqualTo(FsError.IO);
      assertThat(failure).hasMessageContaining("500 of 1000 bytes");
      assertThat(t.listener.changed).isEmpty();
    }
  }

  @Test
  void read_shortSinceTheFileWasCut_isStale() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 1000, 1);
      t.origin.truncate("f", 500);
      assertThat(t.read(file, 0, 1000).failure().code()).isEqualTo(FsError.STALE);
      assertThat(t.listener.changed).hasSize(1);
    }
  }

  /** Its bytes were of the next version, and its attributes those that the client had kept. */
  @Test
  void read_writtenBehindAClientThatKeepsAttributes_isStale() throws FsException {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 1000, 1);
      t.origin.keepAttributes();
      assertThat(t.origin.stat(OriginPath.of("f")).version()).isEqualTo(file.content().version());
      t.origin.overwrite("f", new byte[1000]);
      assertThat(t.read(file, 0, 1000).failure().code()).isEqualTo(FsError.STALE);
    }
  }

  @Test
  void origin_silent_isNotAsked() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 1000, 1);
      t.origin.setGate(
          new FakeOrigin.Gate() {
            @Override
            public boolean silent() {
              return true;
            }
          });
      assertThat(t.read(file, 0, 1000).failure().code()).isEqualTo(FsError.ORIGIN_SILENT);
      assertThat(t.origin.opens()).isZero();
      assertThat(t.transit.used()).isZero();
      assertThat(t.transit.stats().inFlight.sum()).isZero();
      t.origin.setGate(new FakeOrigin.Gate() {});
      t.assertRead(file, 0, 1000);
    }
  }

  @Test
  void failure_inTheMiddle_goesOnWhereItStopped() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 3 * MIB, 1);
      AtomicBoolean failed = new AtomicBoolean();
      t.origin.setGate(
          new FakeOrigin.Gate() {
            @Override
            public void read(OriginPath path, long offset, int length) throws FsException {
              if (offset == 2 * MIB && failed.compareAndSet(false, true)) {
                throw new FsException(FsError.IO, "broken");
              }
            }
          });
      t.assertRead(file, 0, 100);
      Await.until("all of it is here", () -> t.origin.bytesRead() >= 3 * MIB);
      assertThat(t.origin.bytesRead()).as("each byte once").isEqualTo(3 * MIB);
    }
  }

  @Test
  void failure_unexpected_isToldToWhoeverWaits() {
    try (TransitFixture t = TransitFixture.threaded(ITEM, CAPACITY)) {
      File file = t.file("f", 1000, 1);
      t.origin.setGate(
          new FakeOrigin.Gate() {
            @Override
            public void open(OriginPath path) {
              throw new IllegalStateException("a bug");
            }
          });
      FsException failure = t.read(file, 0, 1000).failure();
      assertThat(failure.code()).isEqualTo(FsError.IO);
      assertThat(failure).hasRootCauseMessage("a bug");
    }
  }

  /** Threads of a daemon that can start none. */
  private static void noThread(Runnable task) {
    throw new OutOfMemoryError("unable to create native thread");
  }

  private static Transit withoutThreads(TransitFixture t) {
    return new Transit(
        new Transit.Sources(t.origin, PeerSource.NONE, TransitFailuresTest::noThread),
        new ItemLayout(ITEM),
        CAPACITY,
        new PlainFetchers(Runnable::run, Runnable::run),
        t.clock,
        TransitFixture.DEADLINE,
        t.listener);
  }

  /** The timer told nobody: the reader waited, and the memory was in use until the daemon ended. */
  @Test
  void failure_noThreadForTheNextAttempt_isToldAndTheMemoryIsGivenBack() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      Transit transit = withoutThreads(t);
      t.origin.setGate(failing(FsError.IO, 1));
      RecordingReply reply = new RecordingReply();

      transit.read(t.file("f", 1000, 1).content(), 0, 1000, TransitFixture.NEAR, reply);

      assertThat(reply.failure().code()).isEqualTo(FsError.NO_MEMORY);
      assertThat(transit.used()).isZero();
      assertThat(transit.stats().inFlight.sum()).isZero();
      transit.close();
    }
  }

  // a full heap

  /** A failure for whose message there is no memory either. */
  private static final class HeapFull extends OutOfMemoryError {
    private static final long serialVersionUID = 1;

    @Override
    public String getMessage() {
      throw new OutOfMemoryError("Java heap space");
    }
  }

  /** Has the heap be full once, when it is asked whether an item is resident. */
  private static void fillHeapOnce(TransitFixture t) {
    AtomicBoolean full = new AtomicBoolean(true);
    t.listener.serve =
        (item, offset, length, borrower) -> {
          if (full.getAndSet(false)) {
            throw new OutOfMemoryError("Java heap space");
          }
          return false;
        };
  }

  /** Its fetch was in the table and never began: readers joined it until their deadlines. */
  @Test
  void heap_fullBeforeAFetchBegins_theNextReadHasItsBytes() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 1000, 1);
      fillHeapOnce(t);
      assertThatThrownBy(() -> t.read(file, 0, 1000)).isInstanceOf(OutOfMemoryError.class);
      RecordingReply next = t.read(file, 0, 1000);
      assertThat(next.isAnswered()).isTrue();
      assertThat(next.bytes()).isEqualTo(file.bytes());
    }
  }

  /** The same of a fetch ahead of its reader. */
  @Test
  void heap_fullBeforeAFetchAheadBegins_theReaderHasItsBytes() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 1000, 1);
      Item item = new ItemLayout(ITEM).item(file.content(), 0);
      fillHeapOnce(t);
      assertThatThrownBy(() -> t.transit.fetchAhead(item, 0, FetchUse.NONE))
          .isInstanceOf(OutOfMemoryError.class);
      RecordingReply next = t.read(file, 0, 1000);
      assertThat(next.isAnswered()).isTrue();
      assertThat(next.bytes()).isEqualTo(file.bytes());
    }
  }

  /** A reader got ENOMEM whose own bytes were there, or were coming. */
  @Test
  void heap_fullWhenReadAheadBegins_theReaderHasItsBytes() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 4 * ITEM, 1);
      AtomicInteger full = new AtomicInteger();
      t.listener.serve =
          (item, offset, length, borrower) -> {
            if (length == 0) {
              full.incrementAndGet();
              throw new OutOfMemoryError("Java heap space");
            }
            return false;
          };
      for (int i = 0; i < 8; i++) {
        int offset = i * MIB / 8;
        assertThatCode(() -> t.assertRead(file, offset, MIB / 8)).doesNotThrowAnyException();
      }
      assertThat(full).hasPositiveValue();
    }
  }

  /** The reader was in a fetch that had no step, and the fetch counted as in flight for good. */
  @Test
  void heap_fullWhenJobsLearnOfAFetch_itsReadersLearnOfItAndTheNextReadHasItsBytes() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      t.transit.sharing(new FullHeap(true), 0);
      File file = t.file("f", 1000, 1);
      RecordingReply reply = new RecordingReply();
      assertThatThrownBy(() -> t.transit.read(file.content(), 0, 1000, TransitFixture.NEAR, reply))
          .isInstanceOf(OutOfMemoryError.class);
      assertThat(reply.isAnswered()).isTrue();
      assertThat(reply.failure().code()).isEqualTo(FsError.NO_MEMORY);
      assertThat(t.transit.stats().inFlight.sum()).isZero();
      t.assertRead(file, 0, 1000);
    }
  }

  /** Its reader waited until the deadline, or got EIO. */
  @Test
  void heap_fullInAStep_itsReaderLearnsOfItAndTheMemoryIsGivenBack() {
    try (TransitFixture t = TransitFixture.threaded(ITEM, CAPACITY)) {
      File file = t.file("f", 1000, 1);
      t.origin.setGate(
          new FakeOrigin.Gate() {
            @Override
            public void read(OriginPath path, long offset, int length) {
              throw new HeapFull();
            }
          });
      RecordingReply reply = t.read(file, 0, 1000);
      assertThat(reply.failure().code()).isEqualTo(FsError.NO_MEMORY);
      Await.until("the memory is given back", () -> t.transit.used() == 0);
    }
  }

  /** These readers were in a fetch that nobody could find any more, so they waited for ever. */
  @Test
  void heap_fullWhenAFailureIsTold_readersLearnOfTheFailure() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 1000, 1);
      t.origin.setGate(failing(FsError.ACCESS_DENIED, 1));
      t.listener.whenEnded =
          () -> {
            throw new OutOfMemoryError("Java heap space");
          };
      RecordingReply reply = new RecordingReply();
      assertThatThrownBy(() -> t.transit.read(file.content(), 0, 1000, TransitFixture.NEAR, reply))
          .isInstanceOf(OutOfMemoryError.class);
      assertThat(reply.isAnswered()).isTrue();
      assertThat(reply.failure().code()).isEqualTo(FsError.ACCESS_DENIED);
      t.listener.whenEnded = () -> {};
    }
  }

  /** The second reader was in no fetch any more, and waited for ever. */
  @Test
  void heap_fullWhenAReaderIsAnswered_theNextOneHasItsBytes() {
    try (TransitFixture t = TransitFixture.threaded(ITEM, CAPACITY)) {
      File file = t.file("f", 1000, 1);
      StepGate gate = new StepGate();
      t.origin.setGate(gate);
      CompletableFuture<FsException> failed = new CompletableFuture<>();
      t.transit.read(
          file.content(),
          0,
          1000,
          TransitFixture.NEAR,
          new ReadReply() {
            @Override
            public void data(CheckedBytes bytes) {
              throw new OutOfMemoryError("Java heap space");
            }

            @Override
            public void failed(FsException cause) {
              failed.complete(cause);
            }
          });
      gate.awaitStep();
      RecordingReply next = t.read(file, 0, 1000);

      gate.allow(1);

      assertThat(next.bytes()).isEqualTo(file.bytes());
      assertThat(failed.join().code()).isEqualTo(FsError.NO_MEMORY);
    }
  }

  /** A reply that breaks its promise to throw nothing. */
  private static final class Broken implements ReadReply {
    final CompletableFuture<FsException> failed = new CompletableFuture<>();

    @Override
    public void data(CheckedBytes bytes) {
      throw new IllegalStateException("a bug");
    }

    @Override
    public void failed(FsException cause) {
      failed.complete(cause);
      throw new IllegalStateException("a bug");
    }
  }

  /** The second reader was in no fetch any more, and waited for ever. */
  @Test
  void reply_throwsWhenItIsAnswered_theNextReaderHasItsBytes() {
    try (TransitFixture t = TransitFixture.threaded(ITEM, CAPACITY)) {
      File file = t.file("f", 1000, 1);
      StepGate gate = new StepGate();
      t.origin.setGate(gate);
      Broken broken = new Broken();
      t.transit.read(file.content(), 0, 1000, TransitFixture.NEAR, broken);
      gate.awaitStep();
      RecordingReply next = t.read(file, 0, 1000, TransitFixture.SECOND);

      gate.allow(1);

      assertThat(next.bytes()).isEqualTo(file.bytes());
      assertThat(broken.failed.join().code()).isEqualTo(FsError.IO);
    }
  }

  /** The second reader was in no fetch any more, and waited for ever. */
  @Test
  void reader_cannotBeServedAgain_theNextOneIs() {
    try (TransitFixture t = TransitFixture.threaded(ITEM, CAPACITY)) {
      File file = t.file("f", 1000, 1);
      StepGate gate = new StepGate();
      t.origin.setGate(gate);
      RecordingReply first = t.read(file, 0, 1000);
      gate.awaitStep();
      t.clock.advance(TransitFixture.DEADLINE.plus(TransitFixture.DEADLINE.dividedBy(2)));
      RecordingReply second = t.read(file, 0, 1000, TransitFixture.SECOND);
      RecordingReply third = t.read(file, 0, 1000, TransitFixture.ELSEWHERE);
      AtomicBoolean once = new AtomicBoolean();
      t.listener.serve =
          (item, offset, length, borrower) -> {
            if (once.compareAndSet(false, true)) {
              throw new IllegalStateException("a bug");
            }
            return false;
          };
      t.clock.advance(TransitFixture.DEADLINE.dividedBy(2).plusNanos(1));
      t.transit.expire();
      assertThat(first.failure().code()).isEqualTo(FsError.TIMED_OUT);
      assertThat(second.failure()).hasMessageContaining("a bug");
      gate.allow(2);
      assertThat(third.bytes()).isEqualTo(file.bytes());
    }
  }

  /** The reader was in no fetch any more, and waited for ever. */
  @Test
  void heap_fullWhenAFetchIsAbandoned_readersLearnOfIt() {
    try (TransitFixture t = TransitFixture.threaded(ITEM, CAPACITY)) {
      t.transit.sharing(new FullHeap(false), 0);
      File file = t.file("f", 1000, 1);
      StepGate gate = new StepGate();
      t.origin.setGate(gate);
      RecordingReply first = t.read(file, 0, 1000);
      RecordingReply second = t.read(file, 0, 1000, TransitFixture.SECOND);
      gate.awaitStep();
      assertThatThrownBy(() -> t.transit.abandon(file.content().node(), "f"))
          .isInstanceOf(OutOfMemoryError.class);
      assertThat(first.failure().code()).isEqualTo(FsError.STALE);
      assertThat(second.failure().code()).isEqualTo(FsError.STALE);
      gate.allow(1);
      Await.until("the step has ended", () -> t.transit.stats().inFlight.sum() == 0);
    }
  }

  /** Shares nothing, and has once no room to note the begin of a fetch, or the end of one. */
  private static final class FullHeap implements Sharing {
    private boolean fullAtBegin;
    private boolean fullAtEnd;

    FullHeap(boolean atBegin) {
      fullAtBegin = atBegin;
      fullAtEnd = !atBegin;
    }

    @Override
    public boolean begins(SharedFetch fetch, Item range, Reader reader, boolean ahead) {
      if (fullAtBegin) {
        fullAtBegin = false;
        throw new OutOfMemoryError("Java heap space");
      }
      return true;
    }

    @Override
    public void joined(SharedFetch fetch, Reader reader) {}

    @Override
    public void delivered(SharedFetch fetch, Reader reader, int bytes) {}

    @Override
    public boolean keeps(SharedFetch fetch) {
      return false;
    }

    @Override
    public void ended(SharedFetch fetch) {
      if (fullAtEnd) {
        fullAtEnd = false;
        throw new OutOfMemoryError("Java heap space");
      }
    }

    @Override
    public long heldBytes() {
      return 0;
    }
  }

  /** The last part was answered twice, and the memory of all parts was freed twice. */
  @Test
  void heap_fullWhenAJoinedReadIsAnswered_itsMemoryIsFreedOnce() {
    try (TransitFixture t = TransitFixture.threaded(ITEM, CAPACITY)) {
      File file = t.file("f", 3 * ITEM, 1);
      StepGate gate = new StepGate();
      t.origin.setGate(gate);
      AtomicInteger answers = new AtomicInteger();
      CompletableFuture<FsException> failed = new CompletableFuture<>();
      t.transit.read(
          file.content(),
          ITEM - 500,
          1000,
          TransitFixture.NEAR,
          new ReadReply() {
            @Override
            public void data(CheckedBytes bytes) {
              answers.incrementAndGet();
              throw new OutOfMemoryError("Java heap space");
            }

            @Override
            public void failed(FsException cause) {
              answers.incrementAndGet();
              failed.complete(cause);
            }
          });
      gate.allow(100);
      assertThat(failed.join().code()).isEqualTo(FsError.NO_MEMORY);
      t.assertRead(file, ITEM - 500, 1000);
      assertThat(answers).as("bytes, and the failure").hasValue(2);
    }
  }

  /** Their memory was never free again: after some of them, every such read failed with ENOMEM. */
  @Test
  void heap_fullInTheMiddleOfJoinedReads_theirMemoryIsFree() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 3 * ITEM, 1);
      t.listener.serve =
          (item, offset, length, borrower) -> {
            if (item.offset() > 0) {
              throw new OutOfMemoryError("Java heap space");
            }
            return false;
          };
      for (int i = 0; i < CAPACITY / MIB + 1; i++) {
        RecordingReply reply = new RecordingReply();
        assertThatThrownBy(
                () ->
                    t.transit.read(file.content(), ITEM - MIB / 2, MIB, TransitFixture.NEAR, reply))
            .isInstanceOf(OutOfMemoryError.class);
        assertThat(reply.isAnswered()).isTrue();
        assertThat(reply.failure()).isSameAs(OutOfMemory.FAILURE);
      }
      t.listener.serve = (item, offset, length, borrower) -> false;
      t.assertRead(file, ITEM - MIB / 2, MIB);
    }
  }

  /** The same of a read that crosses from one fetch of an item to the next. */
  @Test
  void heap_fullInTheMiddleOfAnItem_theMemoryOfItsReadsIsFree() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 3 * ITEM, 1);
      t.assertRead(file, ITEM + MIB, 4096); // a part is there, so that the reads cross to another
      t.listener.serve =
          (item, offset, length, borrower) -> {
            throw new OutOfMemoryError("Java heap space");
          };
      for (int i = 0; i < CAPACITY / MIB + 1; i++) {
        RecordingReply reply = new RecordingReply();
        assertThatThrownBy(
                () -> t.transit.read(file.content(), ITEM + MIB, MIB, TransitFixture.SECOND, reply))
            .isInstanceOf(OutOfMemoryError.class);
        assertThat(reply.isAnswered()).isTrue();
        assertThat(reply.failure()).isSameAs(OutOfMemory.FAILURE);
      }
      t.listener.serve = (item, offset, length, borrower) -> false;
      t.assertRead(file, ITEM + MIB, MIB);
    }
  }

  @Test
  void heap_fullWhenADeadlineHasPassed_readersLearnOfItLater() {
    try (TransitFixture t = TransitFixture.threaded(ITEM, CAPACITY)) {
      AtomicBoolean full = new AtomicBoolean();
      byte[] bytes = new byte[1000];
      Supplier<OriginPath> path =
          () -> {
            if (full.get()) {
              throw new OutOfMemoryError("Java heap space");
            }
            return OriginPath.of("f");
          };
      File file = new File(new Content(99, path, t.origin.file("f", bytes)), bytes);
      StepGate gate = new StepGate();
      t.origin.setGate(gate);
      RecordingReply reply = t.read(file, 0, 1000);
      gate.awaitStep();
      t.clock.advance(TransitFixture.DEADLINE);
      full.set(true);
      assertThatThrownBy(t.transit::expire).isInstanceOf(OutOfMemoryError.class);
      full.set(false);
      t.transit.expire();
      gate.allow(1);
      assertThat(reply.failure().code()).isEqualTo(FsError.TIMED_OUT);
    }
  }

  // deadlines

  @Test
  void deadline_passed_failsWhoWaits() {
    try (TransitFixture t = TransitFixture.threaded(ITEM, CAPACITY)) {
      File file = t.file("f", 1000, 1);
      StepGate gate = new StepGate();
      t.origin.setGate(gate);
      RecordingReply first = t.read(file, 0, 1000);
      gate.awaitStep();
      t.clock.advance(TransitFixture.DEADLINE.dividedBy(2));
      RecordingReply second = t.read(file, 0, 1000);
      t.transit.expire();
      assertThat(first.isAnswered()).isFalse();
      t.clock.advance(TransitFixture.DEADLINE.dividedBy(2));
      t.transit.expire();
      assertThat(first.failure().code()).isEqualTo(FsError.TIMED_OUT);
      assertThat(second.isAnswered()).as("each has a deadline of its own").isFalse();
      gate.allow(1);
      assertThat(second.bytes()).isEqualTo(file.bytes());
    }
  }

  @Test
  void deadline_twicePassed_givesTheFetchUp() {
    try (TransitFixture t = TransitFixture.threaded(ITEM, CAPACITY)) {
      File file = t.file("f", 1000, 1);
      StepGate gate = new StepGate();
      t.origin.setGate(gate);
      RecordingReply first = t.read(file, 0, 1000);
      gate.awaitStep();
      t.clock.advance(TransitFixture.DEADLINE.multipliedBy(2).plusNanos(1));
      t.transit.expire();
      assertThat(first.failure().code()).isEqualTo(FsError.TIMED_OUT);
      RecordingReply second = t.read(file, 0, 1000);
      gate.awaitStep();
      assertThat(t.origin.opens()).as("a fetch of its own").isEqualTo(2);
      gate.allow(2);
      assertThat(second.bytes()).isEqualTo(file.bytes());
    }
  }
}
