package io.holdfast.fs.origin.posix;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.NamedThreads;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.OriginFile;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.origin.Version;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * An open file of a {@link PosixOrigin}. On a network filesystem, a large read is split into pieces
 * that are read at the same time: one after the other, each would take a round trip.
 */
final class PosixFile implements OriginFile {
  /**
   * Bytes of a piece: the most that one request of a FUSE filesystem can read, and that every
   * network filesystem can.
   */
  private static final int PIECE = 128 << 10;

  /**
   * Most pieces that are read at once, for all files together; the calling thread reads further
   * pieces itself.
   */
  private static final int MOST_READERS = 64;

  private static final int IDLE_SECONDS = 30;

  private final OriginPath path;
  private final int fd;
  private final boolean heldInMemory;
  private final @Nullable Executor readers;
  private final Supplier<Attributes> looked;

  /**
   * Takes over a descriptor.
   *
   * @param readers read pieces at the same time; null to read sequentially
   * @param looked returns the attributes of the file that {@link Statx} has just read
   */
  PosixFile(
      OriginPath path,
      int fd,
      boolean heldInMemory,
      @Nullable Executor readers,
      Supplier<Attributes> looked) {
    this.path = path;
    this.fd = fd;
    this.heldInMemory = heldInMemory;
    this.readers = readers;
    this.looked = looked;
    if (!heldInMemory) {
      // Holdfast reads ahead itself; the kernel would read on beyond an item, and keep that
      LIBC.posix_fadvise(fd, 0, 0, Linux.POSIX_FADV_RANDOM);
    }
  }

  /** Creates the threads that read pieces for all files of an origin. */
  static ExecutorService readers() {
    return new ThreadPoolExecutor(
        0,
        MOST_READERS,
        IDLE_SECONDS,
        TimeUnit.SECONDS,
        new SynchronousQueue<>(),
        new NamedThreads("origin-read"),
        (task, pool) -> task.run());
  }

  @Override
  public Version version() throws FsException {
    return requireRegular().version();
  }

  private Attributes requireRegular() throws FsException {
    int errno = Statx.call(fd);
    if (errno != 0) {
      throw Linux.failure(errno, path.toString());
    }
    Attributes attributes = looked.get();
    if (!attributes.isRegular()) {
      throw new FsException(FsError.STALE, path + ": no regular file any more");
    }
    return attributes;
  }

  @Override
  public int read(long offset, long address, int length) throws FsException {
    if (readers == null || length <= PIECE) {
      return readInOneGo(offset, address, length);
    }
    List<CompletableFuture<Integer>> pieces = new ArrayList<>();
    for (int at = PIECE; at < length; at += PIECE) {
      int from = at;
      int count = Math.min(PIECE, length - at);
      CompletableFuture<Integer> piece = new CompletableFuture<>();
      pieces.add(piece);
      readers.execute(() -> complete(piece, offset + from, address + from, count));
    }
    CompletableFuture<Integer> first = new CompletableFuture<>();
    complete(first, offset, address, PIECE);
    pieces.add(0, first);
    return sum(pieces);
  }

  private void complete(CompletableFuture<Integer> piece, long offset, long address, int length) {
    try {
      piece.complete(readInOneGo(offset, address, length));
    } catch (FsException | RuntimeException e) {
      piece.completeExceptionally(e);
    }
  }

  /** Waits for all pieces, even if one has failed: they write to the caller's memory. */
  private int sum(List<CompletableFuture<Integer>> pieces) throws FsException {
    int sum = 0;
    boolean whole = true;
    FsException failure = null;
    for (CompletableFuture<Integer> piece : pieces) {
      try {
        int count = piece.join();
        sum += whole ? count : 0;
        whole &= count == PIECE;
      } catch (CompletionException e) {
        failure =
            e.getCause() instanceof FsException cause
                ? new FsException(cause.code(), String.valueOf(cause.getMessage()), cause)
                : new FsException(FsError.IO, path + ": " + e.getCause(), e);
      }
    }
    if (failure != null) {
      throw failure;
    }
    return sum;
  }

  private int readInOneGo(long offset, long address, int length) throws FsException {
    int done = 0;
    while (done < length) {
      long count = LIBC.pread(fd, address + done, length - done, offset + done);
      if (count < 0) {
        int errno = Linux.errno();
        requireRegular(); // something else fails to be read in many ways
        throw Linux.failure(errno, path.toString());
      }
      if (count == 0) {
        break;
      }
      done += (int) count;
    }
    return done;
  }

  @Override
  public void discard(long offset, long length) {
    if (!heldInMemory) {
      LIBC.posix_fadvise(fd, offset, length, Linux.POSIX_FADV_DONTNEED);
    }
  }

  @Override
  public void close() {
    LIBC.close(fd);
  }
}
