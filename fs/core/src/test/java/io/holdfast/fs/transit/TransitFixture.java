package io.holdfast.fs.transit;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.Await;
import io.holdfast.fs.FakeClock;
import io.holdfast.fs.RecordingReply;
import io.holdfast.fs.origin.FakeOrigin;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.origin.Version;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A transit over a fake origin, and the files that tests read through it. */
final class TransitFixture implements AutoCloseable {
  static final int MIB = 1 << 20;
  static final Duration DEADLINE = Duration.ofSeconds(4);
  static final Duration IMPATIENCE = Duration.ofMillis(20);

  /** A thread of the daemon itself. */
  static final Reader INTERNAL = new Reader(11, Reader.Kind.DAEMON, false);

  /** A thread that shares the daemon's memory cgroup, and another one. */
  static final Reader NEAR = new Reader(101, Reader.Kind.APPLICATION, false);

  static final Reader SECOND = new Reader(102, Reader.Kind.APPLICATION, false);

  /** A thread of another memory cgroup. */
  static final Reader ELSEWHERE = new Reader(103, Reader.Kind.APPLICATION, true);

  final FakeOrigin origin = new FakeOrigin();
  final FakeListener listener = new FakeListener();
  final FakeClock clock = new FakeClock();
  final Transit transit;
  private final @Nullable ExecutorService threads;
  private long nodes = 1;

  /** Fetches run on the reader's own thread. */
  static TransitFixture direct(int itemSize, long capacity) {
    return new TransitFixture(itemSize, capacity, DEADLINE, null, Runnable::run, Runnable::run);
  }

  /** The same, with an executor for steps of fetches that had to wait. */
  static TransitFixture stepping(int itemSize, long capacity, Executor steps) {
    return new TransitFixture(itemSize, capacity, DEADLINE, null, Runnable::run, steps);
  }

  /** The same with a short deadline. */
  static TransitFixture impatient(int itemSize, long capacity) {
    return new TransitFixture(itemSize, capacity, IMPATIENCE, null, Runnable::run, Runnable::run);
  }

  /** Fetches run on threads. */
  static TransitFixture threaded(int itemSize, long capacity) {
    ExecutorService threads = Executors.newCachedThreadPool();
    return new TransitFixture(itemSize, capacity, DEADLINE, threads, threads, Runnable::run);
  }

  /** Fetches run on the reader's own thread, and those ahead on another executor. */
  static TransitFixture direct(int itemSize, long capacity, Executor ahead) {
    return new TransitFixture(itemSize, capacity, DEADLINE, null, ahead, Runnable::run);
  }

  private TransitFixture(
      int itemSize,
      long capacity,
      Duration deadline,
      @Nullable ExecutorService threads,
      Executor ahead,
      Executor steps) {
    this.threads = threads;
    Executor awaited = threads == null ? Runnable::run : threads;
    transit =
        new Transit(
            new Transit.Sources(origin, PeerSource.NONE, steps),
            new ItemLayout(itemSize),
            capacity,
            new PlainFetchers(awaited, ahead),
            clock,
            deadline,
            listener);
  }

  /** Writes a file of random bytes. */
  File file(String path, int size, long seed) {
    byte[] bytes = new byte[size];
    new Random(seed).nextBytes(bytes);
    Version version = origin.file(path, bytes);
    return new File(new Content(++nodes, () -> OriginPath.of(path), version), bytes);
  }

  /** One version of a file as the tree would give it. */
  static final class File {
    private final Content content;
    private final byte[] bytes;

    File(Content content, byte[] bytes) {
      this.content = content;
      this.bytes = bytes;
    }

    Content content() {
      return content;
    }

    byte[] bytes() {
      return bytes;
    }

    byte[] range(long offset, int length) {
      return Arrays.copyOfRange(bytes, (int) offset, (int) offset + length);
    }
  }

  RecordingReply read(File file, long offset, int length) {
    return read(file, offset, length, NEAR);
  }

  RecordingReply read(File file, long offset, int length, Reader reader) {
    RecordingReply reply = new RecordingReply();
    transit.read(file.content, offset, length, reader, reply);
    return reply;
  }

  /** Reads and checks the bytes. */
  void assertRead(File file, long offset, int length) {
    assertThat(read(file, offset, length).bytes()).isEqualTo(file.range(offset, length));
  }

  /** Lets go of all that may be let go of, and checks that nothing is left. */
  @Override
  public void close() {
    if (threads != null) {
      threads.shutdown();
      try {
        assertThat(threads.awaitTermination(60, TimeUnit.SECONDS)).isTrue();
      } catch (InterruptedException e) {
        throw new AssertionError("interrupted", e);
      }
    }
    clock.advance(Duration.ofMinutes(10));
    Await.until("all memory is given back", this::isAllGivenBack);
    Await.until("no fetch is in flight", () -> transit.stats().inFlight.sum() == 0);
    assertThat(origin.open()).as("open files").isZero();
    transit.close();
  }

  /**
   * Lets go once more: a fetch has answered its readers a moment before it is over, and until then
   * it is not given up.
   */
  private boolean isAllGivenBack() {
    listener.pinAll();
    transit.expire();
    return transit.used() == 0;
  }
}
