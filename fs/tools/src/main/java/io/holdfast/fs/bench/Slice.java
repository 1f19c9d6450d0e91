package io.holdfast.fs.bench;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/** Reads files with several threads for a short time, and returns the speed. Used by one thread. */
final class Slice {
  private static final int BUFFER = 1 << 20;
  private static final int RANDOM_READ = 128 * 1024;

  private final ExecutorService executor;
  private final int threads;
  private final LongAdder failures;

  /**
   * Creates a slice, which reads nothing yet.
   *
   * @param failures counts files that could not be read
   */
  Slice(ExecutorService executor, int threads, LongAdder failures) {
    this.executor = executor;
    this.threads = threads;
    this.failures = failures;
  }

  /**
   * How to read files.
   *
   * @param small whether to count files, else bytes
   * @param random whether to read random parts, else each file from start to end
   * @param again whether to begin again after the last file
   * @param nanos the most time
   * @param seed the seed of random choices
   */
  record How(boolean small, boolean random, boolean again, long nanos, long seed) {}

  /**
   * Returns files or bytes a second; NaN if nothing could be read. Each thread reads at least once,
   * because on a busy machine a short time may be over before the thread begins.
   */
  double measure(List<Path> files, How how) throws InterruptedException {
    if (files.isEmpty()) {
      return Double.NaN;
    }
    AtomicInteger next = new AtomicInteger();
    LongAdder done = new LongAdder();
    long start = System.nanoTime();
    long end = start + how.nanos();
    List<Future<?>> readers = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      Random random = new Random(how.seed() + i);
      readers.add(executor.submit(() -> read(files, how, next, done, random, end)));
    }
    for (Future<?> reader : readers) {
      try {
        reader.get();
      } catch (ExecutionException e) {
        throw new IllegalStateException(e.getCause());
      }
    }
    long nanos = System.nanoTime() - start;
    return done.sum() == 0 ? Double.NaN : done.sum() * 1e9 / nanos;
  }

  private void read(
      List<Path> files, How how, AtomicInteger next, LongAdder done, Random random, long end) {
    ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER);
    do {
      int number = next.getAndIncrement();
      if (number >= files.size() && !how.again()) {
        return;
      }
      Path file = files.get(number % files.size());
      try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
        long bytes =
            how.random()
                ? readAtRandom(channel, buffer, random, end)
                : readAll(channel, buffer, end);
        done.add(how.small() ? 1 : bytes);
      } catch (IOException e) {
        failures.increment();
      }
    } while (System.nanoTime() - end < 0);
  }

  private static long readAll(FileChannel channel, ByteBuffer buffer, long end) throws IOException {
    long bytes = 0;
    for (int n = channel.read(buffer.clear()); n > 0; n = channel.read(buffer.clear())) {
      bytes += n;
      if (System.nanoTime() - end >= 0) {
        break;
      }
    }
    return bytes;
  }

  /** Reads as many random parts as make up the file. */
  private static long readAtRandom(FileChannel channel, ByteBuffer buffer, Random random, long end)
      throws IOException {
    long parts = channel.size() / RANDOM_READ;
    long bytes = 0;
    for (long i = 0; i < parts && (i == 0 || System.nanoTime() - end < 0); i++) {
      long at = random.nextLong(parts) * RANDOM_READ;
      bytes += Math.max(0, channel.read(buffer.clear().limit(RANDOM_READ), at));
    }
    return bytes;
  }
}
