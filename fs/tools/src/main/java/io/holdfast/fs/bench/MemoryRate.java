package io.holdfast.fs.bench;

import io.holdfast.fs.linux.NamedThreads;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.LongAdder;

/** Measures how fast resident files are read. Stateless. */
public final class MemoryRate {
  private static final int FILES = 200;

  /** Of the time, the part in which files are chosen. */
  private static final int CHOICE = 4;

  private MemoryRate() {}

  /**
   * Reads some resident files again and again, each whole. Bounded in time unless a read hangs; the
   * caller handles that.
   *
   * @param mount the mountpoint
   * @param threads the number of threads that read
   * @param time the time for everything
   * @return bytes per second of all threads; empty if no resident file was found
   * @throws IOException if the mount does not say what is resident
   * @throws InterruptedException if the thread is interrupted
   */
  public static OptionalDouble measure(Path mount, int threads, Duration time)
      throws IOException, InterruptedException {
    Residence.prepare();
    Random random = new Random(System.nanoTime());
    long nanos = time.toNanos();
    Sample sample =
        Sample.of(mount, FILES, random, System::nanoTime, System.nanoTime() + nanos / CHOICE);
    List<Path> files = new ArrayList<>(sample.of(Sample.Kind.SMALL_RESIDENT));
    files.addAll(sample.of(Sample.Kind.LARGE_RESIDENT));
    ExecutorService executor = Executors.newFixedThreadPool(threads, new NamedThreads("reader"));
    try {
      Slice slice = new Slice(executor, threads, new LongAdder());
      List<Path> paths = files.stream().map(mount::resolve).toList();
      slice.measure(paths, new Slice.How(false, false, true, nanos / CHOICE, 0));
      double rate = slice.measure(paths, new Slice.How(false, false, true, nanos / 2, 0));
      return Double.isNaN(rate) ? OptionalDouble.empty() : OptionalDouble.of(rate);
    } finally {
      executor.shutdownNow();
    }
  }
}
