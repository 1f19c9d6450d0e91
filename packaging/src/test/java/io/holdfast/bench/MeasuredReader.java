package io.holdfast.bench;

import static io.holdfast.posix.Libc.LIBC;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.holdfast.posix.Libc;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import jnr.ffi.Pointer;

/**
 * A program that reads as fast as it can and says how fast that was. One process measures all file
 * systems in turn, so that each meets the same warm code. What is timed is system calls on native
 * memory that was prepared before: no name is converted, no buffer allocated.
 *
 * <p>Answers each line of its input with a line:
 *
 * <pre>
 * make ROOT COUNT SIZE BIG       writes COUNT files of about SIZE bytes, and a file "big" of BIG bytes; answers their bytes
 * files ROOT THREADS SEED        open, fstat, read, close of every file in random order; answers files a second
 * sequential FILE                reads of 1 MiB from start to end; answers MB a second
 * random FILE READS SEED         reads of 4 KiB at random pages; answers reads a second
 * </pre>
 */
final class MeasuredReader {
  private static final int FILES_A_FOLDER = 1000;
  private static final int LARGE_READ = 1 << 20;
  private static final int SMALL_READ = 4096;

  /** Larger than struct stat on every machine. */
  private static final int STAT_BYTES = 256;

  /** The offset of the file's size in struct stat, on x86-64 and arm64. */
  private static final int STAT_SIZE = 48;

  private final List<String> names = new ArrayList<>();

  private MeasuredReader() {}

  public static void main(String[] arguments) throws IOException, InterruptedException {
    MeasuredReader reader = new MeasuredReader();
    try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        System.out.printf("%.0f%n", reader.answer(line.split(" ", -1)));
      }
    }
  }

  private double answer(String[] words) throws IOException, InterruptedException {
    Path path = Path.of(words[1]);
    return switch (words[0]) {
      case "make" ->
          make(
              path,
              Integer.parseInt(words[2]),
              Integer.parseInt(words[3]),
              Long.parseLong(words[4]));
      case "files" -> readFiles(path, Integer.parseInt(words[2]), Long.parseLong(words[3]));
      case "sequential" -> readSequentially(path);
      case "random" -> readAtRandom(path, Integer.parseInt(words[2]), Long.parseLong(words[3]));
      default -> throw new IllegalArgumentException("unknown command " + words[0]);
    };
  }

  private long make(Path root, int count, int size, long big) throws IOException {
    Random random = new Random(1);
    byte[] noise = new byte[4 * size];
    random.nextBytes(noise);
    long bytes = big;
    for (int i = 0; i < count; i++) {
      String name = "class_%03d/image_%06d.jpg".formatted(i / FILES_A_FOLDER, i);
      int length = (int) Math.min(noise.length, size * Math.exp(0.25 * random.nextGaussian()));
      Files.createDirectories(root.resolve(name).getParent());
      Files.write(root.resolve(name), Arrays.copyOf(noise, length));
      names.add(name);
      bytes += length;
    }
    byte[] part = new byte[LARGE_READ];
    try (var out = Files.newOutputStream(root.resolve("big"))) {
      for (long at = 0; at < big; at += part.length) {
        random.nextBytes(part);
        out.write(part);
      }
    }
    return bytes;
  }

  /** A thread's native memory: names as C strings, and a buffer. */
  private static final class Work {
    final long[] paths;
    final long buffer = LIBC.malloc(4L * LARGE_READ);
    final long stat = LIBC.malloc(STAT_BYTES);

    Work(long[] paths) {
      this.paths = paths;
    }
  }

  private double readFiles(Path root, int threads, long seed) throws InterruptedException {
    List<String> order = new ArrayList<>(names);
    Collections.shuffle(order, new Random(seed));
    List<Work> work = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      work.add(
          prepare(
              root, order.subList(i * order.size() / threads, (i + 1) * order.size() / threads)));
    }
    AtomicLong failures = new AtomicLong();
    double seconds = time(work, w -> failures.addAndGet(readAll(w)));
    work.forEach(MeasuredReader::release);
    if (failures.get() > 0) {
      throw new IllegalStateException(failures + " files of " + root + " could not be read");
    }
    return order.size() / seconds;
  }

  private static Work prepare(Path root, List<String> names) {
    long[] paths = new long[names.size()];
    for (int i = 0; i < paths.length; i++) {
      byte[] path = (root.resolve(names.get(i)) + "\0").getBytes(UTF_8);
      paths[i] = LIBC.malloc(path.length);
      Libc.RUNTIME.getMemoryManager().newPointer(paths[i]).put(0, path, 0, path.length);
    }
    return new Work(paths);
  }

  private static void release(Work work) {
    for (long path : work.paths) {
      LIBC.free(path);
    }
    LIBC.free(work.buffer);
    LIBC.free(work.stat);
  }

  private static long readAll(Work work) {
    Pointer stat = Libc.RUNTIME.getMemoryManager().newPointer(work.stat);
    long failures = 0;
    for (long path : work.paths) {
      int fd = LIBC.open(path, 0, 0);
      LIBC.fstat(fd, work.stat);
      long size = stat.getLong(STAT_SIZE);
      if (LIBC.read(fd, work.buffer, size) != size) {
        failures++;
      }
      LIBC.close(fd);
    }
    return failures;
  }

  private interface Task {
    void run(Work work);
  }

  /** The seconds from the start of all threads to the end of the last one. */
  private static double time(List<Work> work, Task task) throws InterruptedException {
    CountDownLatch start = new CountDownLatch(1);
    List<Thread> threads = new ArrayList<>();
    for (Work w : work) {
      Thread thread =
          new Thread(
              () -> {
                try {
                  start.await();
                } catch (InterruptedException e) {
                  return;
                }
                task.run(w);
              });
      thread.start();
      threads.add(thread);
    }
    long begin = System.nanoTime();
    start.countDown();
    for (Thread thread : threads) {
      thread.join();
    }
    return (System.nanoTime() - begin) / 1e9;
  }

  private static double readSequentially(Path file) {
    Work work = prepare(file.getParent(), List.of(file.getFileName().toString()));
    int fd = LIBC.open(work.paths[0], 0, 0);
    long begin = System.nanoTime();
    long bytes = 0;
    for (long n = 1; n > 0; bytes += n) {
      n = LIBC.read(fd, work.buffer, LARGE_READ);
    }
    double seconds = (System.nanoTime() - begin) / 1e9;
    LIBC.close(fd);
    release(work);
    return bytes / 1e6 / seconds;
  }

  private static double readAtRandom(Path file, int reads, long seed) throws IOException {
    Random random = new Random(seed);
    int pages = (int) (Files.size(file) / SMALL_READ);
    long[] offsets = new long[reads];
    for (int i = 0; i < reads; i++) {
      offsets[i] = (long) random.nextInt(pages) * SMALL_READ;
    }
    Work work = prepare(file.getParent(), List.of(file.getFileName().toString()));
    int fd = LIBC.open(work.paths[0], 0, 0);
    long begin = System.nanoTime();
    for (long offset : offsets) {
      if (LIBC.pread(fd, work.buffer, SMALL_READ, offset) != SMALL_READ) {
        throw new IOException("short read at " + offset + " of " + file);
      }
    }
    double seconds = (System.nanoTime() - begin) / 1e9;
    LIBC.close(fd);
    release(work);
    return reads / seconds;
  }
}
