package io.holdfast.fs.origin.s3;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.OutOfMemory;
import io.holdfast.fs.origin.Origin.Part;
import io.holdfast.fs.origin.OriginFile;
import io.holdfast.fs.origin.Version;
import java.util.ArrayDeque;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * One version of an object, being read. The announced part is requested in pieces, several at a
 * time. The reader's thread reads the first piece straight into the reader's memory. Other threads
 * fetch the next pieces into memory of their own, while buffers are free. A read outside the
 * announced order is requested when it comes.
 */
final class S3File implements OriginFile {
  /** Bytes of a piece; a part up to this size is one request. */
  static final int PIECE = 2 << 20;

  /** Pieces of one file in flight besides the one that is being read. */
  private static final int AHEAD = 3;

  /**
   * The resources that all files share.
   *
   * @param threads run prefetches; as many at a time as there are permits
   * @param buffers permits for pieces in memory
   */
  record Ahead(Executor threads, Semaphore buffers) {}

  private final RangeReader.Source source;
  private final Ahead ahead;
  private final long partEnd;
  private final ArrayDeque<Prefetch> pieces = new ArrayDeque<>();

  /** The end of the pieces that were requested. */
  private long asked;

  private @Nullable RangeReader current;

  private S3File(RangeReader.Source source, Ahead ahead, Part part) {
    this.source = source;
    this.ahead = ahead;
    this.asked = part.offset();
    this.partEnd = Math.min(source.version().size(), part.offset() + part.length());
  }

  /**
   * Opens an object and requests a part of it.
   *
   * @throws FsException NOT_FOUND where there is no such object
   */
  static S3File open(RangeReader.Source source, Ahead ahead, Part part) throws FsException {
    S3File file = new S3File(source, ahead, part);
    if (part.offset() < file.partEnd) {
      long end = Math.min(part.offset() + PIECE, file.partEnd);
      RangeReader first = new RangeReader(source, part.offset(), end);
      file.current = first;
      file.asked = end;
      boolean opened = false;
      try {
        file.askAhead();
        first.open(System.nanoTime() + source.deadline().toNanos());
        opened = true;
      } finally {
        if (!opened) {
          file.close();
        }
      }
    }
    return file;
  }

  private void askAhead() {
    while (pieces.size() < AHEAD && asked < partEnd && ahead.buffers.tryAcquire()) {
      long end = Math.min(asked + PIECE, partEnd);
      long address = LIBC.malloc(end - asked);
      if (address == 0) {
        ahead.buffers.release();
        return;
      }
      Prefetch piece = new Prefetch(source, asked, end, address, ahead.buffers::release);
      try {
        ahead.threads.execute(piece);
      } catch (OutOfMemoryError e) {
        piece.drop();
        OutOfMemory.tell(e);
        return; // the reader's thread fetches these bytes when it comes to them
      }
      pieces.add(piece);
      asked = end;
    }
  }

  /**
   * Returns the version of every byte that was read; the reader never gets bytes of another one.
   */
  @Override
  public Version version() {
    return source.version();
  }

  @Override
  public int read(long offset, long address, int length) throws FsException {
    long until = System.nanoTime() + source.deadline().toNanos();
    int wanted = (int) Math.max(0, Math.min(length, source.version().size() - offset));
    int done = 0;
    try {
      while (done < wanted) {
        done += readSome(offset + done, address + done, wanted - done, until);
      }
    } catch (FsException e) {
      throw e.code() == FsError.NOT_FOUND
          ? new FsException(FsError.STALE, source.what() + ": gone at the origin", e)
          : e;
    }
    return done;
  }

  private int readSome(long position, long address, int length, long until) throws FsException {
    Prefetch piece = pieceAt(position);
    if (piece != null) {
      int count = piece.read(position, address, length, until);
      if (position + count == piece.end()) {
        pieces.remove(piece);
        piece.close();
        askAhead();
      }
      return count;
    }
    RangeReader reader = current;
    if (reader == null || reader.position() != position || position == reader.end()) {
      if (reader != null) {
        reader.close();
      }
      reader = new RangeReader(source, position, endOf(position, length));
      current = reader;
    }
    return reader.read(address, length, until);
  }

  private @Nullable Prefetch pieceAt(long position) {
    for (Prefetch piece : pieces) {
      if (piece.covers(position)) {
        return piece;
      }
    }
    return null;
  }

  /**
   * Returns the end of the next request: that of the next piece if the reader has reached the end
   * of the requested ones; otherwise that of the read.
   */
  private long endOf(long position, int length) {
    if (position == asked && position < partEnd) {
      asked = Math.min(position + PIECE, partEnd);
      return asked;
    }
    return position + length;
  }

  /** Does nothing: an object store has no cache on this machine. */
  @Override
  public void discard(long offset, long length) {}

  @Override
  public void close() {
    RangeReader reader = current;
    current = null;
    if (reader != null) {
      reader.close();
    }
    pieces.forEach(Prefetch::close);
    pieces.clear();
  }
}
