package io.holdfast.fs.accelerator;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** Files that are at once there; remembers what was read. Thread-safe. */
final class FakeStorage implements Storage {
  private final int files;
  private final int samples;
  private final AtomicInteger open = new AtomicInteger();

  private final AtomicInteger count = new AtomicInteger();

  /** What was read, in the order of each reader. Guarded by itself. */
  private final List<List<Integer>> read = new ArrayList<>();

  /** How many samples may be read before all fail. */
  private final AtomicInteger left;

  FakeStorage(int files, int samples, int readable) {
    this.files = files;
    this.samples = samples;
    this.left = new AtomicInteger(readable);
  }

  @Override
  public int files() {
    return files;
  }

  @Override
  public long samples(int file) {
    return samples;
  }

  @Override
  public Reader reader() {
    open.incrementAndGet();
    List<Integer> own = new ArrayList<>();
    synchronized (read) {
      read.add(own);
    }
    return new Reader() {
      @Override
      public long read(int file, long sample, Window window) throws IOException {
        if (left.getAndDecrement() <= 0) {
          throw new IOException("no more");
        }
        own.add(file * samples + (int) sample);
        count.incrementAndGet();
        return 10;
      }

      @Override
      public void close() {
        open.decrementAndGet();
      }
    };
  }

  /** Returns the samples that each reader has read; to be called when all have ended. */
  List<List<Integer>> read() {
    synchronized (read) {
      return List.copyOf(read);
    }
  }

  /** Returns the number of samples that were read until now. */
  int readSamples() {
    return count.get();
  }

  int openReaders() {
    return open.get();
  }
}
