package io.holdfast.fs.transit;

import static io.holdfast.fs.transit.TransitFixture.MIB;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.Await;
import io.holdfast.fs.FsError;
import io.holdfast.fs.RecordingReply;
import io.holdfast.fs.origin.FakeOrigin;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.transit.TransitFixture.File;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Readers of an item, and its one fetch. */
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
    assertThat(readers.awaitTermination(60, TimeUnit.SECONDS)).isTrue();
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
  void reclaimable_keptItems_areThoseNobodyUses() {
    try (TransitFixture t = TransitFixture.direct(ITEM, CAPACITY)) {
      File file = t.file("f", 2 * MIB, 1);
      assertThat(t.transit.reclaimable()).isZero();
      t.assertRead(file, 0, MIB);
      assertThat(t.transit.used()).isEqualTo(2 * MIB);
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
}
