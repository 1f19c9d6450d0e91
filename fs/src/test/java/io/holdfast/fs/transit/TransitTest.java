package io.holdfast.fs.transit;

import static io.holdfast.fs.transit.TransitFixture.MIB;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.Await;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.RecordingReply;
import io.holdfast.fs.origin.FakeOrigin;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.transit.TransitFixture.File;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

final class TransitTest {
  private static final int ITEM = 4 * MIB;
  private static final long CAPACITY = 4L * ITEM;

  // single flight

  @Test
  void read_whileTheFetchIsUnderWay_joinsIt() {
    try (TransitFixture t = TransitFixture.threaded(ITEM, CAPACITY)) {
      File file = t.file("f", 100_000, 1);
      StepGate gate = new StepGate();
      t.origin.setGate(gate);
      List<RecordingReply> replies = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        replies.add(t.read(file, i * 5000L, 5000));
      }
      assertThat(replies).noneMatch(RecordingReply::isAnswered);
      gate.allow(100);
      for (int i = 0; i < 20; i++) {
        assertThat(replies.get(i).bytes()).isEqualTo(file.range(i * 5000L, 5000));
      }
      assertThat(t.origin.opens()).isEqualTo(1);
      assertThat(t.origin.bytesRead()).isEqualTo(100_000);
      assertThat(t.transit.stats().coalesced.sum()).isEqualTo(19);
      assertThat(t.transit.stats().originItems.sum()).isEqualTo(1);
      assertThat(t.transit.stats().originBytes.sum()).isEqualTo(100_000);
    }
  }

  @Test
  void read_byManyThreadsAtOnce_fetchesOnce() throws Exception {
    int threads = 16;
    ExecutorService readers = Executors.newFixedThreadPool(threads);
    for (int round = 0; round < 30; round++) {
      try (TransitFixture t = TransitFixture.threaded(ITEM, CAPACITY)) {
        File file = t.file("f", 50_000, round);
        StepGate gate = new StepGate();
        t.origin.setGate(gate);
        CountDownLatch start = new CountDownLatch(1);
        CountDownLatch asked = new CountDownLatch(threads);
        List<RecordingReply> replies = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
          RecordingReply reply = new RecordingReply();
          replies.add(reply);
          readers.execute(
              () -> {
                Await.latch(start);
                t.transit.read(file.content(), 0, 50_000, TransitFixture.NEAR, reply);
                asked.countDown();
              });
        }
        start.countDown();
        Await.latch(asked);
        gate.allow(100);
        replies.forEach(reply -> assertThat(reply.bytes()).isEqualTo(file.bytes()));
        assertThat(t.origin.opens()).isEqualTo(1);
        assertThat(t.transit.stats().coalesced.sum()).isEqualTo(threads - 1);
      }
    }
    readers.shutdown();
    assertThat(readers.awaitTermination(20, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void read_byTheDaemonItself_isNoUse() {
    try (TransitFixture t = TransitFixture.threaded(ITEM, CAPACITY)) {
      File file = t.file("f", 100_000, 1);
      StepGate gate = new StepGate();
      t.origin.setGate(gate);
      RecordingReply first = t.read(file, 0, 100_000, TransitFixture.INTERNAL);
      RecordingReply second = t.read(file, 0, 100_000, TransitFixture.INTERNAL);
      gate.allow(1);
      assertThat(first.bytes()).isEqualTo(file.bytes());
      assertThat(second.bytes()).isEqualTo(file.bytes());
      assertThat(t.transit.stats().coalesced.sum()).isZero();
      assertThat(t.listener.delivered).hasValue(0);
    }
  }

  // answers as bytes arrive

  @Test
  void waiter_whoseBytesHaveArrived_isAnsweredBeforeTheRest() {
    try (TransitFixture t = TransitFixture.threaded(ITEM, CAPACITY)) {
      File file = t.file("f", 3 * MIB + 5, 1);
      StepGate gate = new StepGate();
      t.origin.setGate(gate);
      RecordingReply first = t.read(file, 0, 1000);
      RecordingReply across = t.read(file, MIB - 10, 20);
      RecordingReply last = t.read(file, 3 * MIB, 5);
      gate.awaitStep();
      assertThat(first.isAnswered()).isFalse();
      gate.allow(1);
      assertThat(first.bytes()).isEqualTo(file.range(0, 1000));
      gate.awaitStep();
      assertThat(across.isAnswered()).isFalse();
      gate.allow(1);
      assertThat(across.bytes()).isEqualTo(file.range(MIB - 10, 20));
      gate.awaitStep();
      assertThat(last.isAnswered()).isFalse();
      // what has arrived already is answered at once
      assertThat(t.read(file, 5000, 10).isAnswered()).isTrue();
      gate.allow(2);
      assertThat(last.bytes()).isEqualTo(file.range(3 * MIB, 5));
      assertThat(t.origin.opens()).isEqualTo(1);
    }
  }

  @Test
  void read_pendingFetch_doesNotBlockTheCaller() {
    try (TransitFixture t = TransitFixture.threaded(ITEM, CAPACITY)) {
      File held = t.file("held", 1000, 1);
      File other = t.file("other", 1000, 2);
      StepGate gate = new StepGate();
      t.origin.setGate(
          new FakeOrigin.Gate() {
            @Override
            public void read(OriginPath path, long offset, int length) {
              if (path.equals(OriginPath.of("held"))) {
                gate.read(path, offset, length);
              }
            }
          });
      RecordingReply reply = t.read(held, 0, 1000);
      t.assertRead(other, 0, 1000);
      assertThat(reply.isAnswered()).isFalse();
      gate.allow(1);
      assertThat(reply.bytes()).isEqualTo(held.bytes());
    }
  }

  // versions

  @Test
  void change_beforeTheFetch_failsStaleAndTellsTheListener() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File old = t.file("f", 1000, 1);
      t.file("f", 1000, 2);
      assertThat(t.read(old, 0, 1000).failure().code()).isEqualTo(FsError.STALE);
      assertThat(t.listener.changed).hasSize(1);
      assertThat(t.transit.stats().originErrors.sum()).as("no error of the origin").isZero();
      assertThat(t.transit.stats().originRetries.sum()).isZero();
    }
  }

  @Test
  void change_fileGone_failsStale() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      for (String path : List.of("gone", "dir", "link", "way/f")) {
        File old = t.file(path, 1000, 1);
        t.origin.remove(path.split("/", -1)[0]);
        if (path.equals("dir")) {
          t.origin.directory(path);
        } else if (path.equals("link")) {
          t.origin.symlink(path.getBytes(java.nio.charset.StandardCharsets.UTF_8), new byte[] {1});
        } else if (path.equals("way/f")) {
          t.origin.file("way", new byte[1]);
        }
        assertThat(t.read(old, 0, 1000).failure().code()).as(path).isEqualTo(FsError.STALE);
      }
    }
  }

  @Test
  void change_inMidFetch_failsStaleForAllWhoWait() {
    try (TransitFixture t = TransitFixture.threaded(ITEM, CAPACITY)) {
      File file = t.file("f", 3 * MIB, 1);
      StepGate gate = new StepGate();
      t.origin.setGate(gate);
      RecordingReply first = t.read(file, 0, 1000);
      List<RecordingReply> later = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        later.add(t.read(file, MIB + i * 1000L, 1000));
      }
      gate.allow(1);
      assertThat(first.bytes()).isEqualTo(file.range(0, 1000));
      gate.awaitStep();
      gate.awaitStep();
      byte[] other = new byte[3 * MIB];
      t.origin.overwrite("f", other);
      gate.allow(10);
      later.forEach(reply -> assertThat(reply.failure().code()).isEqualTo(FsError.STALE));
      Await.until("the listener is told", () -> t.listener.changed.size() == 1);
      assertThat(t.listener.offers).isEmpty();
    }
  }

  /** The change comes while the bytes are being read: they may be of either version. */
  @Test
  void change_duringAStep_noByteOfItIsDelivered() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 1000, 1);
      t.origin.setGate(
          new FakeOrigin.Gate() {
            @Override
            public void afterRead(OriginPath path, long offset, int length) {
              t.origin.overwrite("f", new byte[500]);
            }
          });
      assertThat(t.read(file, 0, 1000).failure().code()).isEqualTo(FsError.STALE);
    }
  }

  @Test
  void change_fileCutShort_failsStale() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 3 * MIB, 1);
      t.origin.setGate(
          new FakeOrigin.Gate() {
            @Override
            public void read(OriginPath path, long offset, int length) {
              if (offset == MIB) {
                t.origin.truncate("f", MIB + 1);
              }
            }
          });
      RecordingReply within = t.read(file, 0, 100);
      RecordingReply beyond = t.read(file, 2 * MIB, 100);
      assertThat(within.bytes()).isEqualTo(file.range(0, 100));
      assertThat(beyond.failure().code()).isEqualTo(FsError.STALE);
    }
  }

  @Test
  void abandon_running_failsStaleAndFetchesAfresh() {
    try (TransitFixture t = TransitFixture.threaded(ITEM, CAPACITY)) {
      File file = t.file("f", 1000, 1);
      File other = t.file("other", 1000, 2);
      StepGate gate = new StepGate();
      t.origin.setGate(gate);
      RecordingReply waiting = t.read(file, 0, 1000);
      RecordingReply untouched = t.read(other, 0, 1000);
      gate.awaitStep();
      gate.awaitStep();
      t.transit.abandon(file.content().node(), "f");
      assertThat(waiting.failure().code()).isEqualTo(FsError.STALE);
      assertThat(untouched.isAnswered()).isFalse();
      gate.allow(2);
      assertThat(untouched.bytes()).isEqualTo(other.bytes());
      t.origin.setGate(new FakeOrigin.Gate() {});
      t.assertRead(file, 0, 1000);
      assertThat(t.origin.opens()).isEqualTo(3);
    }
  }

  /**
   * A read hung for ever when its file was found to have changed between the moment its fetch could
   * be found and the moment it waited for it: nobody knew of it, so nobody answered.
   */
  @Test
  void abandon_beforeTheReadWaits_answersTheRead() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 1000, 1);
      AtomicInteger asked = new AtomicInteger();
      t.listener.serve =
          (item, offset, length, reply) -> {
            if (asked.getAndIncrement() == 0) {
              t.transit.abandon(file.content().node(), "f");
            }
            return false;
          };
      t.assertRead(file, 0, 1000);
    }
  }

  @Test
  void reclaimable_keptItems_areThoseDeliveredWhole() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 2 * MIB, 1);
      t.assertRead(file, 0, MIB);
      assertThat(t.transit.used()).isEqualTo(2 * MIB);
      assertThat(t.transit.reclaimable()).isZero();
      t.assertRead(file, MIB, MIB);
      assertThat(t.transit.reclaimable()).isEqualTo(2 * MIB);
      t.transit.abandon(file.content().node(), "f");
      assertThat(t.transit.reclaimable()).isZero();
    }
  }

  @Test
  void abandon_keptItems_givesTheirMemoryBack() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 2 * MIB, 1);
      t.assertRead(file, 0, 10);
      assertThat(t.transit.used()).isEqualTo(2 * MIB);
      t.transit.abandon(file.content().node() + 1, "another");
      assertThat(t.transit.used()).isEqualTo(2 * MIB);
      t.transit.abandon(file.content().node(), "f");
      assertThat(t.transit.used()).isZero();
    }
  }

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
      Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
      AtomicReference<Throwable> uncaught = new AtomicReference<>();
      Thread.setDefaultUncaughtExceptionHandler((thread, e) -> uncaught.set(e));
      try {
        FsException failure = t.read(file, 0, 1000).failure();
        assertThat(failure.code()).isEqualTo(FsError.IO);
        assertThat(failure).hasRootCauseMessage("a bug");
        Await.until("the thread ends", () -> uncaught.get() != null);
      } finally {
        Thread.setDefaultUncaughtExceptionHandler(before);
      }
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
      assertThat(t.listener.offers.get(Item.id(file.content().node(), 0))).isEqualTo(3);
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

  /** What the listener learns of bytes is what the page cache holds: never more than the item. */
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
  void resident_read_isServedWithoutAFetch() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 1000, 1);
      t.listener.serve =
          (item, offset, length, reply) -> {
            reply.data(0, 0);
            return true;
          };
      assertThat(t.read(file, 10, 20).bytes()).isEmpty();
      assertThat(t.origin.opens()).isZero();
      assertThat(t.transit.used()).isZero();
    }
  }

  /**
   * The item was pinned between two looks at the table: whoever joined the fetch that is not needed
   * any more gets the bytes too.
   */
  @Test
  void resident_whileAnotherReaderJoins_bothAreAnswered() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 1000, 1);
      RecordingReply joined = new RecordingReply();
      AtomicBoolean once = new AtomicBoolean();
      t.listener.serve =
          (item, offset, length, reply) -> {
            if (once.compareAndSet(false, true)) {
              t.transit.read(file.content(), 10, 20, TransitFixture.NEAR, joined);
            }
            reply.data(0, 0);
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

  /** As many as it takes, not a quarter of them only: the reader would wait for the rest. */
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
      assertThat(t.read(next, 0, 10).failure().code()).isEqualTo(FsError.NO_MEMORY);
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
   * Nobody waits for what is fetched ahead, so it may be refused; but a reader may have joined it
   * by then, and its read must not fail for want of a thread.
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
}
