package io.holdfast.fs.origin;

import static io.holdfast.fs.Failures.assertFails;
import static io.holdfast.fs.origin.OriginStore.bytes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.Await;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.origin.posix.PosixOrigin;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** The contract through the decorator, and a store that does not answer. */
final class DeadlineOriginTest extends DirectoryContractTest {
  private static final int THREADS = 3;
  private static final Duration SHORT = Duration.ofMillis(20);

  private PosixStore directory;

  @Override
  DirectoryStore createStore() throws IOException {
    directory = new PosixStore();
    return directory;
  }

  /** By its clock, files were written long ago: none is waited for until it is left alone. */
  @Override
  Origin openOrigin() throws FsException {
    InstantSource later = InstantSource.offset(InstantSource.system(), Duration.ofHours(1));
    return bounded(PosixOrigin.open(directory.root(), later), pool(64), Await.LONGEST);
  }

  @Override
  void removeStore() throws IOException {
    directory.close();
  }

  /** An origin that has as much time as it wants before it counts as silent. */
  private static Origin bounded(Origin origin, ThreadPoolExecutor threads, Duration deadline) {
    OriginBreaker breaker =
        new OriginBreaker("fake", origin::probe, Await.LONGEST, Runnable::run, System::nanoTime);
    return new DeadlineOrigin(origin, threads, pool(THREADS), deadline, breaker);
  }

  private static ThreadPoolExecutor pool(int threads) {
    return new ThreadPoolExecutor(
        0,
        threads,
        30,
        TimeUnit.SECONDS,
        new SynchronousQueue<>(),
        new ThreadPoolExecutor.AbortPolicy());
  }

  /** Answers no call for attributes before the latch opens. */
  private static final class Hanging implements FakeOrigin.Gate {
    final CountDownLatch answer = new CountDownLatch(1);
    final AtomicInteger entered = new AtomicInteger();

    @Override
    public void stat(OriginPath path) {
      entered.incrementAndGet();
      Await.latch(answer);
    }
  }

  @Test
  void call_thatHangs_failsByTheDeadline() {
    FakeOrigin fake = new FakeOrigin();
    Hanging hanging = new Hanging();
    fake.setGate(hanging);
    Origin origin = bounded(fake, pool(THREADS), SHORT);
    assertFails(() -> origin.stat(OriginPath.of("file")), FsError.TIMED_OUT);
    assertThat(hanging.entered).hasValue(1);
    hanging.answer.countDown();
    origin.close();
  }

  @Test
  void calls_allThreadsStuck_areRefused() throws FsException {
    FakeOrigin fake = new FakeOrigin();
    fake.file("file", new byte[5]);
    Hanging hanging = new Hanging();
    fake.setGate(hanging);
    ThreadPoolExecutor pool = pool(THREADS);
    Origin origin = bounded(fake, pool, SHORT);
    for (int i = 0; i < 10; i++) {
      assertFails(() -> origin.stat(OriginPath.of("file")), FsError.TIMED_OUT);
    }
    // a call may be given up before its thread has come to it
    Await.until("calls reach the origin", () -> hanging.entered.get() >= THREADS);
    assertThat(hanging.entered).as("calls that reached the origin").hasValue(THREADS);
    assertThat(pool.getPoolSize()).isEqualTo(THREADS);

    hanging.answer.countDown();
    Await.until("a thread comes free", () -> answers(origin));
    origin.close();
  }

  /** An origin that is busy does not hang: what comes on top waits for its turn. */
  @Test
  void calls_allThreadsAtWork_waitForOne() throws Exception {
    FakeOrigin fake = new FakeOrigin();
    fake.file("file", new byte[5]);
    Hanging working = new Hanging();
    fake.setGate(working);
    Origin origin = bounded(fake, pool(THREADS), Await.LONGEST);
    List<FutureTask<Long>> calls = new ArrayList<>();
    Thread last = Thread.currentThread();
    for (int i = 0; i <= THREADS; i++) {
      int before = i;
      Await.until("the calls before have begun", () -> working.entered.get() == before);
      FutureTask<Long> call = new FutureTask<>(() -> origin.stat(OriginPath.of("file")).size());
      calls.add(call);
      last = new Thread(call);
      last.start();
    }
    Thread waiting = last;
    FutureTask<Long> late = calls.get(THREADS);
    Await.until(
        "the last call waits, or is over",
        () -> late.isDone() || waiting.getState() == Thread.State.TIMED_WAITING);
    working.answer.countDown();
    for (FutureTask<Long> call : calls) {
      assertThat(call.get(60, TimeUnit.SECONDS)).isEqualTo(5);
    }
    origin.close();
  }

  private static boolean answers(Origin origin) {
    try {
      return origin.stat(OriginPath.of("file")).isRegular();
    } catch (FsException e) {
      return false;
    }
  }

  @Test
  void list_deadlinePassed_sinkIsNotCalledLater() {
    CountDownLatch answer = new CountDownLatch(1);
    CountDownLatch listed = new CountDownLatch(1);
    FakeOrigin fake = new FakeOrigin();
    fake.file("file", new byte[1]);
    Origin slow =
        new DelegatingOrigin(fake) {
          @Override
          public void list(OriginPath path, EntrySink sink) throws FsException {
            Await.latch(answer);
            try {
              super.list(path, sink);
            } finally {
              listed.countDown(); // it is told that nobody wants it any more
            }
          }
        };
    List<String> names = new ArrayList<>();
    try (Origin origin = bounded(slow, pool(THREADS), SHORT)) {
      assertFails(
          () -> origin.list(OriginPath.ROOT, (name, type, inode, attributes) -> names.add("late")),
          FsError.TIMED_OUT);
      answer.countDown();
      Await.latch(listed);
    }
    assertThat(names).isEmpty();
  }

  /** The store takes longer than a deadline for all, but goes on. */
  @Test
  void list_slowButGoingOn_isPassedWhole() throws FsException {
    int count = 5000;
    Duration deadline = Duration.ofSeconds(2);
    Origin slow =
        new DelegatingOrigin(new FakeOrigin()) {
          @Override
          public void list(OriginPath path, EntrySink sink) {
            long end = System.nanoTime() + deadline.toNanos() * 5 / 4;
            for (int i = 0; i < count || System.nanoTime() < end; i++) {
              sink.entry(bytes("f" + i), Attributes.REGULAR, i, null);
              LockSupport.parkNanos(i < count ? 0 : 1_000_000);
            }
          }
        };
    List<String> names = new ArrayList<>();
    try (Origin origin = bounded(slow, pool(THREADS), deadline)) {
      origin.list(
          OriginPath.ROOT,
          (name, type, inode, attributes) -> names.add(OriginPath.of(name).toString()));
    }
    assertThat(names).hasSizeGreaterThanOrEqualTo(count).doesNotHaveDuplicates();
    assertThat(names).startsWith("f0", "f1");
  }

  @Test
  void list_hangingHalfway_failsAndPassesNothingLater() {
    CountDownLatch answer = new CountDownLatch(1);
    CountDownLatch ended = new CountDownLatch(1);
    Origin hanging =
        new DelegatingOrigin(new FakeOrigin()) {
          @Override
          public void list(OriginPath path, EntrySink sink) {
            try {
              for (int i = 0; i < 20_000; i++) {
                if (i == 3000) {
                  Await.latch(answer);
                }
                sink.entry(bytes("f" + i), Attributes.REGULAR, i, null);
              }
            } finally {
              ended.countDown();
            }
          }
        };
    AtomicInteger passed = new AtomicInteger();
    try (Origin origin = bounded(hanging, pool(THREADS), SHORT)) {
      assertFails(
          () ->
              origin.list(
                  OriginPath.ROOT, (name, type, inode, attributes) -> passed.incrementAndGet()),
          FsError.TIMED_OUT);
      int before = passed.get();
      answer.countDown();
      Await.latch(ended);
      assertThat(passed).hasValue(before).hasValueLessThanOrEqualTo(3000);
    }
  }

  /**
   * The heap was full for a moment. The listing went on waiting for the sink, with a thread of its
   * own, for as long as the daemon ran.
   */
  @Test
  void list_sinkWithoutMemory_leavesNoThreadBehind() {
    int count = 20_000;
    Origin large =
        new DelegatingOrigin(new FakeOrigin()) {
          @Override
          public void list(OriginPath path, EntrySink sink) {
            for (int i = 0; i < count; i++) {
              sink.entry(bytes("f" + i), Attributes.REGULAR, i, null);
            }
          }
        };
    ThreadPoolExecutor pool = pool(THREADS);
    try (Origin origin = bounded(large, pool, Await.LONGEST)) {
      assertThatThrownBy(
              () ->
                  origin.list(
                      OriginPath.ROOT,
                      (name, type, inode, attributes) -> {
                        throw new OutOfMemoryError("the sink's");
                      }))
          .isInstanceOf(OutOfMemoryError.class)
          .hasMessage("the sink's");
      Await.until("the listing ends", () -> pool.getActiveCount() == 0);
    }
  }

  /** A refresh of a network filesystem that hung never ended. */
  @Test
  void scan_directoryThatHangs_failsByTheDeadlineAndTheOthersAreListed() throws FsException {
    FakeOrigin fake = new FakeOrigin();
    fake.file("hangs/file", new byte[1]);
    fake.file("other/file", new byte[1]);
    CountDownLatch answer = new CountDownLatch(1);
    fake.setGate(
        new FakeOrigin.Gate() {
          @Override
          public void stat(OriginPath path) {
            if (path.equals(OriginPath.of("hangs/file"))) {
              Await.latch(answer);
            }
          }
        });
    ScanRecord record = new ScanRecord();
    ExecutorService scanners = Executors.newFixedThreadPool(2);
    try (Origin origin = bounded(fake, pool(THREADS), Duration.ofSeconds(2))) {
      origin.scan(OriginPath.ROOT, scanners, record);
      answer.countDown();
    } finally {
      Await.end(scanners);
    }
    assertThat(record.failed).containsOnlyKeys("hangs");
    assertThat(record.failed.get("hangs").code()).isEqualTo(FsError.TIMED_OUT);
    assertThat(record.complete).containsExactlyInAnyOrder(".", "other");
  }

  /**
   * Each scan left a thread behind in each directory that hangs, until no call of the mount had a
   * thread.
   */
  @Test
  void scans_directoriesThatHang_takeNoThreadsFromOtherCalls() {
    FakeOrigin fake = new FakeOrigin();
    int directories = THREADS - 1; // the scan goes on with the thread that is left
    for (int i = 0; i < directories; i++) {
      fake.file("hangs" + i + "/file", new byte[1]);
    }
    fake.file("file", new byte[1]);
    CountDownLatch answer = new CountDownLatch(1);
    AtomicInteger entered = new AtomicInteger();
    fake.setGate(
        new FakeOrigin.Gate() {
          @Override
          public void stat(OriginPath path) {
            if (path.toString().matches("hangs.*/file")) {
              entered.incrementAndGet();
              Await.latch(answer);
            }
          }
        });
    ThreadPoolExecutor pool = pool(THREADS);
    ExecutorService scanners = Executors.newFixedThreadPool(THREADS);
    try (Origin origin = bounded(fake, pool, Duration.ofSeconds(3))) {
      for (int scan = 0; scan < 5; scan++) {
        assertThat(failedToList(origin, scanners)).hasSize(directories);
      }
      assertThat(entered).as("listings that hang").hasValue(directories);
      assertThat(pool.getPoolSize()).isZero();
      Await.until("another call is answered", () -> answers(origin));

      answer.countDown();
      Await.until(
          "the directories are listed again", () -> failedToList(origin, scanners).isEmpty());
    } finally {
      answer.countDown();
      Await.end(scanners);
    }
  }

  private static Set<String> failedToList(Origin origin, ExecutorService scanners) {
    ScanRecord record = new ScanRecord();
    try {
      origin.scan(OriginPath.ROOT, scanners, record);
    } catch (FsException e) {
      throw new AssertionError(e);
    }
    return record.failed.keySet();
  }

  @Test
  void list_thatFails_keepsItsCode() {
    try (Origin origin = bounded(new FakeOrigin(), pool(THREADS), Await.LONGEST)) {
      assertFails(
          () -> origin.list(OriginPath.of("none"), (name, type, inode, a) -> {}),
          FsError.NOT_FOUND);
    }
  }

  @Test
  void call_thatFails_keepsItsCode() {
    try (Origin origin = bounded(new FakeOrigin(), pool(THREADS), Await.LONGEST)) {
      assertFails(() -> origin.stat(OriginPath.of("none")), FsError.NOT_FOUND);
    }
  }

  @Test
  void call_thatThrowsSomethingElse_failsIoWithItsCause() {
    FakeOrigin fake = new FakeOrigin();
    fake.setGate(
        new FakeOrigin.Gate() {
          @Override
          public void stat(OriginPath path) {
            throw new IllegalStateException("broken");
          }
        });
    try (Origin origin = bounded(fake, pool(THREADS), Await.LONGEST)) {
      assertThatThrownBy(() -> origin.stat(OriginPath.of("file")))
          .isInstanceOfSatisfying(
              FsException.class, e -> assertThat(e.code()).isEqualTo(FsError.IO))
          .hasRootCauseMessage("broken");
    }
  }

  @Test
  void call_interrupted_failsAndKeepsTheInterrupt() {
    Hanging hanging = new Hanging();
    FakeOrigin fake = new FakeOrigin();
    fake.setGate(hanging);
    try (Origin origin = bounded(fake, pool(THREADS), Await.LONGEST)) {
      Thread.currentThread().interrupt();
      assertFails(() -> origin.stat(OriginPath.of("file")), FsError.IO);
      assertThat(Thread.interrupted()).isTrue();
      hanging.answer.countDown();
    }
  }

  @Test
  void mayHangAndDescribe_areThoseOfTheOrigin() {
    assertThat(origin().mayHang()).isFalse();
    assertThat(origin().describe()).isEqualTo(directory.root().toString());
  }

  @Test
  void open_isNotBounded_andReadsThrough() throws IOException {
    store().file(bytes("file"), bytes("content"));
    try (OriginFile file = open(origin(), OriginPath.of("file"))) {
      assertThat(read(file, 3, 4)).isEqualTo(bytes("tent"));
    }
  }
}
