package io.holdfast.fs.transit;

import io.holdfast.fs.transit.FileStreams.Ahead;
import java.time.Duration;

/**
 * Plans the read-ahead of sequential readers: each gets as many bytes ahead as it has read in one
 * run, within its share of half of transit's memory. Thread-safe; the monitor guards the reserved
 * bytes, also those of each stream. It may be taken under the monitor of a {@link FileStreams}, and
 * is a leaf lock.
 */
final class ReadAhead {
  /** After this time without a read, no further read-ahead starts for a reader. */
  static final long PATIENCE_NANOS = Duration.ofSeconds(2).toNanos();

  private final ItemLayout layout;
  private volatile long capacity;
  private long reserved;
  private int readers;

  /**
   * Creates a read-ahead with nothing reserved.
   *
   * @param capacity bytes that may be ahead of all readers together
   */
  ReadAhead(ItemLayout layout, long capacity) {
    this.layout = layout;
    this.capacity = capacity;
  }

  /** Changes the bytes that all streams together may have ahead, before the first of them. */
  void capacity(long bytes) {
    capacity = bytes;
  }

  private static final Ahead NOTHING = new Ahead(0, 0, 0);

  /** Returns the range to fetch ahead now, in steps that are worth a request. */
  Ahead next(ReadStream stream, long size, long now) {
    synchronized (stream.file()) {
      if (!stream.isSequential() || stream.reads() < 2) {
        return NOTHING;
      }
      long window = Math.min(stream.run(), share(stream));
      long from = stream.aheadTo();
      long to = Math.min(FileStreams.reach(stream.end(), window), size);
      if (to < size && window >= 2L * layout.itemSize()) {
        to -= to % layout.itemSize();
      }
      long step = Math.min(window / 2, layout.itemSize());
      if (to <= from || (to < size && to - from < step)) {
        return NOTHING;
      }
      Ahead ahead = stream.file().clearOfOthers(stream, from, to, now);
      stream.aheadTo(Math.max(ahead.from(), ahead.to()));
      return ahead;
    }
  }

  private synchronized long share(ReadStream stream) {
    return capacity / Math.max(1, stream.reserved > 0 ? readers : readers + 1);
  }

  /** Records that bytes from a position on were not fetched after all. */
  void missing(ReadStream stream, long from) {
    synchronized (stream.file()) {
      stream.aheadTo(Math.min(stream.aheadTo(), from));
    }
  }

  /** Tells whether read-ahead for a reader is useless by now. */
  boolean isGone(ReadStream stream, long now) {
    synchronized (stream.file()) {
      return stream.isGone(now, PATIENCE_NANOS);
    }
  }

  /** Reserves some of the capacity; returns false where too little is left. */
  synchronized boolean reserve(ReadStream stream, int length) {
    if (reserved + length > capacity) {
      return false;
    }
    if (stream.reserved == 0) {
      readers++;
    }
    stream.reserved += length;
    reserved += length;
    return true;
  }

  /** Returns reserved capacity. */
  synchronized void release(ReadStream stream, int length) {
    stream.reserved -= length;
    reserved -= length;
    if (stream.reserved == 0) {
      readers--;
    }
  }
}
