package io.holdfast.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import jnr.ffi.Pointer;
import ru.serce.jnrfuse.ErrorCodes;
import ru.serce.jnrfuse.FuseFillDir;
import ru.serce.jnrfuse.FuseStubFS;
import ru.serce.jnrfuse.struct.FileStat;
import ru.serce.jnrfuse.struct.FuseFileInfo;

/**
 * A program that is an origin where each read request takes some milliseconds, however many there
 * are at once: {@code SlowStore MOUNTPOINT MILLIS SMALL_FILES LARGE_BYTES [MEGABYTES [THREEFOLD]]}.
 * It has {@code small/00000} and so on, of 100,000 bytes each, the first THREEFOLD of them of
 * 300,000, and {@code large}; all bytes are 0. All requests together get at most so many megabytes
 * a second. Names and attributes take no time. Says {@code mounted}, and then answers each line of
 * its input with {@code requests=N most=N}: how many reads it had since the line before, and how
 * many at once. Unmounts at the end of its input.
 */
final class SlowStore extends FuseStubFS {
  private static final int SMALL_BYTES = 100_000;
  private static final String SMALL = "/small/";

  private final long nanos;
  private final int smallFiles;
  private final int threefold;
  private final long largeBytes;
  private final double nanosPerByte;

  /** When the bytes of all requests so far will have gone through the line. */
  private final AtomicLong lineFree = new AtomicLong(System.nanoTime());

  private final AtomicInteger requests = new AtomicInteger();
  private final AtomicInteger atOnce = new AtomicInteger();
  private final AtomicInteger most = new AtomicInteger();

  private SlowStore(
      long millis, int smallFiles, int threefold, long largeBytes, double nanosPerByte) {
    this.nanos = TimeUnit.MILLISECONDS.toNanos(millis);
    this.smallFiles = smallFiles;
    this.threefold = threefold;
    this.largeBytes = largeBytes;
    this.nanosPerByte = nanosPerByte;
  }

  public static void main(String[] arguments) throws IOException {
    SlowStore store =
        new SlowStore(
            Long.parseLong(arguments[1]),
            Integer.parseInt(arguments[2]),
            arguments.length > 5 ? Integer.parseInt(arguments[5]) : 0,
            Long.parseLong(arguments[3]),
            arguments.length > 4 ? 1000 / Double.parseDouble(arguments[4]) : 0);
    String[] options = {"-o", "ro,direct_io,entry_timeout=3600,attr_timeout=3600"};
    store.mount(Path.of(arguments[0]), false, false, options);
    System.out.println("mounted");
    try (BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      while (in.readLine() != null) {
        System.out.printf(
            "requests=%d most=%d%n", store.requests.getAndSet(0), store.most.getAndSet(0));
      }
    } finally {
      store.umount();
    }
  }

  private long size(String path) {
    if (path.equals("/large")) {
      return largeBytes;
    }
    if (!path.matches("/small/\\d{5}")) {
      return -1;
    }
    int number = Integer.parseInt(path.substring(SMALL.length()));
    return number < threefold ? 3 * SMALL_BYTES : number < smallFiles ? SMALL_BYTES : -1;
  }

  @Override
  public int getattr(String path, FileStat stat) {
    if (path.equals("/") || path.equals("/small")) {
      stat.st_mode.set(FileStat.S_IFDIR | 0755);
      stat.st_nlink.set(2);
      return 0;
    }
    long size = size(path);
    if (size < 0) {
      return -ErrorCodes.ENOENT();
    }
    stat.st_mode.set(FileStat.S_IFREG | 0444);
    stat.st_nlink.set(1);
    stat.st_size.set(size);
    stat.st_mtim.tv_sec.set(1);
    return 0;
  }

  @Override
  public int readdir(
      String path, Pointer buffer, FuseFillDir filler, long offset, FuseFileInfo file) {
    if (path.equals("/")) {
      filler.apply(buffer, "small", null, 0);
      filler.apply(buffer, "large", null, 0);
    } else {
      for (int i = 0; i < smallFiles; i++) {
        filler.apply(buffer, "%05d".formatted(i), null, 0);
      }
    }
    return 0;
  }

  @Override
  public int read(String path, Pointer buffer, long length, long offset, FuseFileInfo file) {
    requests.incrementAndGet();
    int now = atOnce.incrementAndGet();
    most.accumulateAndGet(now, Math::max);
    int count = (int) Math.max(0, Math.min(length, size(path) - offset));
    long began = System.nanoTime();
    long sent = (long) (count * nanosPerByte);
    long gone = lineFree.accumulateAndGet(began, (free, time) -> Math.max(free, time) + sent);
    long end = Math.max(began + nanos, gone);
    for (long left = end - began; left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
    atOnce.decrementAndGet();
    buffer.setMemory(0, count, (byte) 0);
    return count;
  }
}
