package io.holdfast.fs.origin.posix;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.OutOfMemory;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.NamedThreads;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.OriginFile;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.origin.Version;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
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
    return requireRegular(0).version();
  }

  @Override
  public Version storedVersion() throws FsException {
    return requireRegular(readers == null ? 0 : Statx.FORCE_SYNC).version();
  }

  private Attributes requireRegular(int sync) throws FsException {
    int errno = Statx.call(fd, sync);
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
    Pieces pieces = new Pieces(offset, address, length);
    pieces.read(readers);
    return pieces.sum();
  }

  /**
   * The pieces of one read. They write to the memory of the read's caller, so the read does not end
   * before the last piece has ended, whatever fails meanwhile. Once a piece has begun, neither the
   * wait nor the end of a piece needs the heap, which may be full.
   */
  private final class Pieces {
    private final Piece[] all;
    private final AtomicInteger running;
    private final Thread caller = Thread.currentThread();

    Pieces(long offset, long address, int length) {
      all = new Piece[(length + PIECE - 1) / PIECE];
      running = new AtomicInteger(all.length);
      for (int i = 0; i < all.length; i++) {
        int from = i * PIECE;
        all[i] = new Piece(this, offset + from, address + from, Math.min(PIECE, length - from));
      }
    }

    /** Reads all pieces. The caller reads the first one, and those for which there is no thread. */
    void read(Executor readers) {
      for (int i = 1; i < all.length; i++) {
        try {
          readers.execute(all[i]);
        } catch (OutOfMemoryError e) {
          all[i].run();
          OutOfMemory.tell(e);
        }
      }
      all[0].run();
      awaitAll();
    }

    private void awaitAll() {
      boolean interrupted = false;
      while (running.get() > 0) {
        LockSupport.park(this);
        interrupted |= Thread.interrupted(); // an interrupted thread does not park
      }
      if (interrupted) {
        caller.interrupt();
      }
    }

    void ended() {
      if (running.decrementAndGet() == 0) {
        LockSupport.unpark(caller);
      }
    }

    /** Returns the bytes before the first gap. */
    int sum() throws FsException {
      int sum = 0;
      boolean whole = true;
      for (Piece piece : all) {
        Throwable failure = piece.failure;
        if (failure instanceof FsException cause) {
          throw new FsException(cause.code(), String.valueOf(cause.getMessage()), cause);
        }
        if (failure != null) {
          throw new FsException(FsError.IO, path + ": " + failure, failure);
        }
        sum += whole ? piece.count : 0;
        whole &= piece.count == PIECE;
      }
      return sum;
    }
  }

  /** A piece of a read. The read's caller sees its fields after it has ended. */
  private final class Piece implements Runnable {
    private final Pieces pieces;
    private final long offset;
    private final long address;
    private final int length;
    private int count;
    private @Nullable Throwable failure;

    Piece(Pieces pieces, long offset, long address, int length) {
      this.pieces = pieces;
      this.offset = offset;
      this.address = address;
      this.length = length;
    }

    @Override
    public void run() {
      try {
        count = readInOneGo(offset, address, length);
      } catch (FsException | RuntimeException | Error e) {
        failure = e;
      }
      pieces.ended();
    }
  }

  private int readInOneGo(long offset, long address, int length) throws FsException {
    int done = 0;
    while (done < length) {
      long count = LIBC.pread(fd, address + done, length - done, offset + done);
      if (count < 0) {
        int errno = Linux.errno();
        requireRegular(0); // something else fails to be read in many ways
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
