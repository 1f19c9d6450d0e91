package io.holdfast.fs.transit;

import static io.holdfast.fs.transit.TransitFixture.MIB;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.Await;
import io.holdfast.fs.FetchUse;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.ReadSource;
import io.holdfast.fs.RecordingReply;
import io.holdfast.fs.origin.FakeOrigin;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.transit.TransitFixture.File;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Items that an order predicts are fetched ahead of their readers. */
final class TransitAheadTest {
  private static final int SIZE = 100_000;
  private static final long CAPACITY = 4L * MIB;

  private final Queue<Runnable> ahead = new ArrayDeque<>();
  private final List<Boolean> reads = new ArrayList<>();
  private final List<Integer> fetched = new ArrayList<>();

  private final FetchUse use =
      new FetchUse() {
        @Override
        public void read(int thread, boolean waits) {
          reads.add(waits);
        }

        @Override
        public void fetched(int bytes, ReadSource source) {
          fetched.add(bytes);
        }

        @Override
        public Object job() {
          return this;
        }
      };

  /** Fetches ahead wait until the test runs them. */
  private TransitFixture queued() {
    return TransitFixture.direct(MIB, CAPACITY, ahead::add);
  }

  private void runAll() {
    for (Runnable task = ahead.poll(); task != null; task = ahead.poll()) {
      task.run();
    }
  }

  private CompletableFuture<Transit.Ahead> fetchAhead(TransitFixture t, File file) {
    return t.transit.fetchAhead(new ItemLayout(MIB).item(file.content(), 0), 0, use);
  }

  @Test
  void fetchAhead_ofAnItem_answersItsReaderWithoutAnotherFetch() {
    try (TransitFixture t = queued()) {
      File file = t.file("f", SIZE, 1);
      CompletableFuture<Transit.Ahead> arrived = fetchAhead(t, file);
      assertThat(arrived).isNotDone();
      runAll();
      assertThat(arrived).isCompletedWithValue(Transit.Ahead.ARRIVED);
      t.assertRead(file, 0, SIZE);
      assertThat(t.origin.opens()).isEqualTo(1);
      assertThat(fetched).containsExactly(SIZE);
      assertThat(reads).as("did not wait").containsExactly(false);
      assertThat(t.listener.completed).hasSize(1);
    }
  }

  @Test
  void fetchAhead_offersTheItemAsPredicted_onlyWhileNobodyReadsIt() {
    try (TransitFixture t = queued()) {
      t.listener.admits = item -> true;
      File unread = t.file("unread", SIZE, 1);
      File read = t.file("read", SIZE, 2);
      CompletableFuture<Transit.Ahead> first = fetchAhead(t, unread);
      runAll();
      assertThat(first).isCompletedWithValue(Transit.Ahead.ARRIVED);
      Fetched alone = t.listener.admitted.remove();
      assertThat(alone.isPredicted()).isTrue();
      alone.done();

      CompletableFuture<Transit.Ahead> second = fetchAhead(t, read);
      RecordingReply reply = t.read(read, 0, SIZE);
      assertThat(reply.isAnswered()).isFalse();
      runAll();
      assertThat(second).isCompletedWithValue(Transit.Ahead.ARRIVED);
      assertThat(reply.bytes()).isEqualTo(read.bytes());
      Fetched joined = t.listener.admitted.remove();
      assertThat(joined.isPredicted()).as("its reader has come").isFalse();
      assertThat(reads).as("waited").containsExactly(true);
      joined.done();
    }
  }

  @Test
  void fetchAhead_ofWhatIsFetchedOrResident_fetchesNothing() {
    try (TransitFixture t = queued()) {
      File file = t.file("f", SIZE, 1);
      CompletableFuture<Transit.Ahead> first = fetchAhead(t, file);
      assertThat(fetchAhead(t, file))
          .as("is being fetched")
          .isCompletedWithValue(Transit.Ahead.OVER);
      runAll();
      assertThat(first).isCompletedWithValue(Transit.Ahead.ARRIVED);
      assertThat(fetchAhead(t, file)).as("is there").isCompletedWithValue(Transit.Ahead.OVER);

      File resident = t.file("resident", SIZE, 2);
      t.listener.serve =
          (item, offset, length, borrower) -> {
            borrower.lent(FakeListener.NOTHING);
            return true;
          };
      assertThat(fetchAhead(t, resident)).isCompletedWithValue(Transit.Ahead.OVER);
      runAll();
      assertThat(t.origin.opens()).isEqualTo(1);
    }
  }

  @Test
  void fetchAhead_withoutMemory_isPostponed_andLeavesReadersTheirs() {
    try (TransitFixture t = queued()) {
      t.listener.admits = item -> item.path().get().toString().startsWith("kept");
      for (int i = 0; i < 4; i++) {
        t.assertRead(t.file("kept" + i, MIB, i), 0, MIB);
      }
      File file = t.file("f", SIZE, 9);
      CompletableFuture<Transit.Ahead> arrived = fetchAhead(t, file);
      runAll();
      assertThat(arrived).isCompletedWithValue(Transit.Ahead.POSTPONED);
      assertThat(t.transit.used()).isEqualTo(CAPACITY);
      t.listener.pinAll();
      t.assertRead(file, 0, SIZE);
    }
  }

  @Test
  void fetchAhead_whereTooManyWait_isPostponed() {
    try (TransitFixture t =
        TransitFixture.direct(
            MIB,
            CAPACITY,
            task -> {
              throw new RejectedExecutionException("too many");
            })) {
      File file = t.file("f", SIZE, 1);
      assertThat(fetchAhead(t, file)).isCompletedWithValue(Transit.Ahead.POSTPONED);
      assertThat(t.origin.opens()).isZero();
      t.assertRead(file, 0, SIZE);
    }
  }

  /** The reader got EIO: it had joined a fetch that was just turned away. */
  @Test
  void fetchAhead_turnedAwayWhenItsReaderHasJoined_answersTheReader() {
    AtomicReference<Runnable> onAhead = new AtomicReference<>(() -> {});
    try (TransitFixture t =
        TransitFixture.direct(
            MIB,
            CAPACITY,
            task -> {
              onAhead.get().run();
              throw new RejectedExecutionException("too many");
            })) {
      File file = t.file("f", SIZE, 1);
      RecordingReply joined = new RecordingReply();
      onAhead.set(() -> t.transit.read(file.content(), 0, SIZE, TransitFixture.NEAR, joined));
      assertThat(fetchAhead(t, file)).isCompletedWithValue(Transit.Ahead.POSTPONED);
      assertThat(joined.bytes()).isEqualTo(file.bytes());
      assertThat(t.transit.stats().originErrors.sum()).isZero();
    }
  }

  /** At a saturated origin, such a fetch was an error of the origin, with a warning. */
  @Test
  void fetchAhead_thatWaitsTooLongForItsTurn_makesWayWithoutAnError() {
    try (TransitFixture t = queued()) {
      File file = t.file("f", SIZE, 1);
      CompletableFuture<Transit.Ahead> starved = fetchAhead(t, file);
      t.clock.advance(TransitFixture.DEADLINE.multipliedBy(2).plusNanos(1));
      t.transit.expire();
      assertThat(starved).isCompletedWithValue(Transit.Ahead.POSTPONED);
      assertThat(t.transit.stats().originErrors.sum()).isZero();
      assertThat(t.listener.ended).isEmpty();
      runAll();
      t.assertRead(file, 0, SIZE);
    }
  }

  /** The late reader's read failed at once, since the fetch was as old as that. */
  @Test
  void fetchAhead_whoseReaderComesLate_givesTheReaderItsOwnDeadline() {
    try (TransitFixture t = queued()) {
      File file = t.file("f", SIZE, 1);
      CompletableFuture<Transit.Ahead> arrived = fetchAhead(t, file);
      t.clock.advance(TransitFixture.DEADLINE.multipliedBy(2).plusNanos(1));
      RecordingReply late = t.read(file, 0, SIZE);
      t.transit.expire();
      assertThat(late.isAnswered()).isFalse();
      runAll();
      assertThat(late.bytes()).isEqualTo(file.bytes());
      assertThat(arrived).isCompletedWithValue(Transit.Ahead.ARRIVED);
    }
  }

  /** The read failed when the fetch was as old as a reader may wait, after a moment. */
  @Test
  void fetchAhead_whoseReaderComesLateToASlowOrigin_isTriedAsLongAsTheReaderWaits() {
    try (TransitFixture t = queued()) {
      File file = t.file("f", SIZE, 1);
      CompletableFuture<Transit.Ahead> arrived = fetchAhead(t, file);
      t.clock.advance(TransitFixture.DEADLINE.minusNanos(1));
      RecordingReply late = t.read(file, 0, SIZE);
      AtomicInteger times = new AtomicInteger(3);
      t.origin.setGate(
          new FakeOrigin.Gate() {
            @Override
            public void read(OriginPath path, long offset, int length) throws FsException {
              if (times.getAndDecrement() > 0) {
                t.clock.advance(TransitFixture.DEADLINE.dividedBy(4));
                throw new FsException(FsError.TIMED_OUT, path + ": late");
              }
            }
          });
      runAll();
      assertThat(late.bytes()).isEqualTo(file.bytes());
      assertThat(arrived).succeedsWithin(Await.LONGEST).isEqualTo(Transit.Ahead.ARRIVED);
      assertThat(t.transit.stats().originErrors.sum()).isZero();
    }
  }

  /** A stuck fetch would never be replaced, as long as one reader after the other came to it. */
  @Test
  void fetch_thatIsStuckWhenAReaderComesLate_isGivenUpAndTheReaderAsksAgain() {
    try (TransitFixture t = queued()) {
      File file = t.file("f", SIZE, 1);
      CompletableFuture<Transit.Ahead> stuck = fetchAhead(t, file);
      RecordingReply first = t.read(file, 0, SIZE);
      t.clock.advance(TransitFixture.DEADLINE.multipliedBy(3).dividedBy(2));
      RecordingReply late = t.read(file, 0, SIZE);
      t.transit.expire();
      assertThat(first.code()).isEqualTo(FsError.TIMED_OUT);
      assertThat(late.isAnswered()).isFalse();

      t.clock.advance(TransitFixture.DEADLINE.dividedBy(2).plusNanos(1));
      t.transit.expire();
      assertThat(late.bytes()).isEqualTo(file.bytes());
      assertThat(stuck).isCompletedWithValue(Transit.Ahead.OVER);
      assertThat(t.transit.stats().originErrors.sum()).isEqualTo(1);
      runAll();
      assertThat(t.transit.stats().inFlight.sum()).isZero();
    }
  }

  /** Its task will never run, so nobody else would end what the fetch has. */
  @Test
  void fetchAhead_givenUpInTheQueue_isNoLongerInFlight() {
    try (TransitFixture t = queued()) {
      List<Runnable> threads = new ArrayList<>();
      AdaptiveFetchers fetchers = new AdaptiveFetchers(threads::add, 1L << 40);
      for (int i = 0; i < AdaptiveLimit.FIRST; i++) {
        fetchers.execute(new FetchTask(SIZE, "busy", true, () -> {}));
      }
      Transit transit = transit(t, fetchers);
      CompletableFuture<Transit.Ahead> starved =
          transit.fetchAhead(new ItemLayout(MIB).item(t.file("f", SIZE, 1).content(), 0), 0, use);
      assertThat(fetchers.figures().queued()).isEqualTo(1);
      assertThat(transit.stats().inFlight.sum()).isEqualTo(1);

      t.clock.advance(TransitFixture.DEADLINE.multipliedBy(2).plusNanos(1));
      transit.expire();

      assertThat(starved).isCompletedWithValue(Transit.Ahead.POSTPONED);
      assertThat(fetchers.figures().queued()).isZero();
      assertThat(transit.stats().inFlight.sum()).isZero();
      transit.close();
    }
  }

  /** Its first attempt had failed in passing: that was taken for an origin that hangs. */
  @Test
  void fetchAhead_givenUpInTheQueueAfterAnAttempt_makesWayWithoutAnError() {
    try (TransitFixture t = queued()) {
      List<Runnable> threads = new ArrayList<>();
      AdaptiveFetchers fetchers = new AdaptiveFetchers(threads::add, 1L << 40);
      Transit transit = transit(t, fetchers);
      t.origin.setGate(
          new FakeOrigin.Gate() {
            @Override
            public void read(OriginPath path, long offset, int length) throws FsException {
              throw new FsException(FsError.IO, path + ": broken");
            }
          });
      CompletableFuture<Transit.Ahead> starved =
          transit.fetchAhead(new ItemLayout(MIB).item(t.file("f", SIZE, 1).content(), 0), 0, use);
      for (int i = 1; i < AdaptiveLimit.FIRST; i++) {
        fetchers.execute(new FetchTask(SIZE, "busy", true, () -> {}));
      }
      threads.get(0).run();
      Await.until("it is queued again", () -> fetchers.figures().queued() == 1);

      t.clock.advance(TransitFixture.DEADLINE.multipliedBy(2).plusNanos(1));
      transit.expire();

      assertThat(starved).isCompletedWithValue(Transit.Ahead.POSTPONED);
      assertThat(transit.stats().originErrors.sum()).isZero();
      assertThat(transit.stats().inFlight.sum()).isZero();
      assertThat(transit.used()).isZero();
      transit.close();
    }
  }

  /**
   * Such a fetch made way and began again a moment later, and each time one more thread was stuck:
   * after 64 times no fetch of the mount had a turn.
   */
  @Test
  void fetchAhead_thatHangsAtTheOrigin_isOver_andCountsAsAFailure() {
    ExecutorService threads = Executors.newCachedThreadPool();
    try (TransitFixture t = queued()) {
      AdaptiveFetchers fetchers = new AdaptiveFetchers(threads, 1L << 40);
      Transit transit = transit(t, fetchers);
      StepGate gate = new StepGate();
      t.origin.setGate(gate);
      File file = t.file("f", SIZE, 1);
      CompletableFuture<Transit.Ahead> hanging =
          transit.fetchAhead(new ItemLayout(MIB).item(file.content(), 0), 0, use);
      gate.awaitStep();
      t.clock.advance(TransitFixture.DEADLINE.multipliedBy(2).plusNanos(1));

      transit.expire();

      assertThat(hanging).isCompletedWithValue(Transit.Ahead.OVER);
      assertThat(transit.stats().originErrors.sum()).isEqualTo(1);
      assertThat(t.listener.ended).singleElement().asString().endsWith("TIMED_OUT");
      assertThat(fetchers.figures().stuck()).isEqualTo(1);

      RecordingReply reply = new RecordingReply();
      transit.read(file.content(), 0, SIZE, TransitFixture.NEAR, reply);
      gate.allow(2);
      assertThat(reply.bytes()).as("its reader has a fetch of its own").isEqualTo(file.bytes());
      Await.until("both threads are back", () -> transit.stats().inFlight.sum() == 0);
      transit.close();
    } finally {
      threads.shutdown();
    }
  }

  private static Transit transit(TransitFixture t, Fetchers fetchers) {
    return new Transit(
        new Transit.Sources(t.origin, PeerSource.NONE, Runnable::run),
        new ItemLayout(MIB),
        CAPACITY,
        fetchers,
        t.clock,
        TransitFixture.DEADLINE,
        t.listener);
  }

  @Test
  void fetchAhead_thatFails_isOver_andItsReaderAsksAgain() {
    try (TransitFixture t = queued()) {
      File file = t.file("f", SIZE, 1);
      t.origin.setGate(
          new FakeOrigin.Gate() {
            @Override
            public void open(OriginPath path) throws FsException {
              throw new FsException(FsError.NOT_PERMITTED, "not now");
            }
          });
      CompletableFuture<Transit.Ahead> arrived = fetchAhead(t, file);
      runAll();
      assertThat(arrived).isCompletedWithValue(Transit.Ahead.OVER);
      assertThat(fetched).isEmpty();
      t.origin.setGate(new FakeOrigin.Gate() {});
      t.assertRead(file, 0, SIZE);
    }
  }

  @Test
  void version_thatChangesBeforeOrAfterTheFetch_isNotServed() {
    try (TransitFixture t = queued()) {
      File before = t.file("before", SIZE, 1);
      CompletableFuture<Transit.Ahead> first = fetchAhead(t, before);
      t.transit.abandon(before.content().node(), "before");
      runAll();
      assertThat(first).isCompletedWithValue(Transit.Ahead.OVER);
      assertThat(t.origin.bytesRead()).isZero();

      File after = t.file("after", SIZE, 2);
      CompletableFuture<Transit.Ahead> second = fetchAhead(t, after);
      runAll();
      assertThat(second).isCompletedWithValue(Transit.Ahead.ARRIVED);
      t.transit.abandon(after.content().node(), "after");
      assertThat(t.transit.used()).isZero();
    }
  }

  @Test
  void fetchAhead_whoseReaderDoesNotCome_isGivenUp() {
    try (TransitFixture t = queued()) {
      CompletableFuture<Transit.Ahead> arrived = fetchAhead(t, t.file("f", SIZE, 1));
      runAll();
      assertThat(arrived).isCompletedWithValue(Transit.Ahead.ARRIVED);
      t.clock.advance(Duration.ofSeconds(9));
      t.transit.expire();
      assertThat(t.transit.used()).isEqualTo(SIZE);
      t.clock.advance(Duration.ofSeconds(2));
      t.transit.expire();
      assertThat(t.transit.used()).isZero();
      assertThat(reads).isEmpty();
    }
  }

  /** Many at once, read in another order, some never: each byte is fetched once. */
  @Test
  void fetchAhead_ofManyFiles_fetchesEachByteOnce() {
    try (TransitFixture t = queued()) {
      List<File> files = new ArrayList<>();
      List<CompletableFuture<Transit.Ahead>> all = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        files.add(t.file("f" + i, SIZE, i));
        all.add(fetchAhead(t, files.get(i)));
      }
      runAll();
      assertThat(all)
          .allSatisfy(each -> assertThat(each).isCompletedWithValue(Transit.Ahead.ARRIVED));
      assertThat(t.transit.used()).isLessThanOrEqualTo(CAPACITY);
      for (int i = 19; i >= 5; i--) {
        t.assertRead(files.get(i), 0, SIZE);
      }
      assertThat(t.origin.bytesRead()).isEqualTo(20L * SIZE);
    }
  }
}
