package io.holdfast.fs.transit;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Those who read one large file, told apart by where they are. Thread-safe; the monitor guards the
 * streams, their fields, and what was earned.
 *
 * <p>Two rules keep what is fetched in vain within what was asked for. A sequential reader gets as
 * much ahead as it has read in one run, so that the window doubles while it goes on and is gone
 * when it seeks. A random reader earns, with each byte that it asks for, one byte that may be
 * fetched around a later read; where such bytes are wanted they earn more, so that a dense reader
 * soon gets larger parts and a sparse one never costs more than twice what it asks for.
 */
final class FileStreams {
  /** What a random read is made to be at most, in bytes. */
  static final int PART = 256 << 10;

  /** Readers that are told apart. */
  private static final int MOST = 64;

  /** Places between which one thread may alternate. */
  private static final int MOST_OF_A_THREAD = 4;

  /** More than this is not kept: a reader that was dense may be sparse now. */
  private static final long MOST_EARNED = 64L * PART;

  private final long node;

  /** The one that read last is the last. */
  private final List<ReadStream> streams = new ArrayList<>(2);

  private long earned;

  /** How often bytes that all were delivered were given up; counted before they are. */
  private final AtomicInteger retirements = new AtomicInteger();

  FileStreams(long node) {
    this.node = node;
  }

  long node() {
    return node;
  }

  /** Takes note of a read and tells what is likely to follow. */
  synchronized Guess read(long offset, int length, int thread, long now) {
    int retired = retirements.get();
    ReadStream stream = find(offset, length, thread);
    if (stream == null) {
      stream = begin(thread);
    }
    stream.add(offset, length, thread, now);
    streams.remove(stream);
    streams.add(stream);
    if (stream.isSequential()) {
      long end = offset + length;
      Ahead ahead =
          clearOfOthers(stream, end, reach(end, Math.min(stream.run(), MOST_EARNED)), now);
      int extra = ahead.from == end ? (int) (ahead.to - end) : 0;
      return new Guess(false, extra, true, stream, retired);
    }
    stream.guessed(length);
    int extra = (int) Math.max(0, Math.min(earned + length, PART - length));
    return new Guess(false, extra, false, stream, retired);
  }

  /**
   * A thread is in one place: it goes on there, or comes back to exactly where it was before, or
   * where another is. What else is near to one of its old places is chance.
   */
  private @Nullable ReadStream find(long offset, int length, int thread) {
    ReadStream last = thread == 0 ? null : lastOf(thread);
    if (last != null && last.distance(offset, length) >= 0) {
      return last;
    }
    ReadStream nearest = null;
    long least = Long.MAX_VALUE;
    for (ReadStream each : streams) {
      long distance = each.distance(offset, length);
      if (distance >= 0 && distance < least && (last == null || distance == 0)) {
        nearest = each;
        least = distance;
      }
    }
    return nearest;
  }

  private @Nullable ReadStream lastOf(int thread) {
    for (int i = streams.size() - 1; i >= 0; i--) {
      if (streams.get(i).thread() == thread) {
        return streams.get(i);
      }
    }
    return null;
  }

  /** Returns the place that lies so far behind another one, or the last one that a file has. */
  static long reach(long place, long bytes) {
    return place > Long.MAX_VALUE - bytes ? Long.MAX_VALUE : place + bytes;
  }

  private ReadStream begin(int thread) {
    ReadStream oldest = streams.size() < MOST ? null : streams.get(0);
    int own = 0;
    for (int i = streams.size() - 1; i >= 0 && thread != 0; i--) {
      ReadStream each = streams.get(i);
      if (each.thread() == thread) {
        each.leave();
        if (++own == MOST_OF_A_THREAD) {
          oldest = each;
        }
      }
    }
    if (oldest != null) {
      oldest.leave();
      streams.remove(oldest);
    }
    return new ReadStream(this);
  }

  /**
   * A range before a reader.
   *
   * @param from first byte within the file; not below {@code to} where nothing is left
   * @param retirements of the file, when this was planned
   */
  record Ahead(long from, long to, int retirements) {}

  /**
   * Cuts a range to what no other reader has read a moment ago, and to where another began: those
   * who share a file among them end there.
   */
  synchronized Ahead clearOfOthers(ReadStream stream, long from, long to, long now) {
    int retired = retirements.get();
    long first = from;
    long last = to;
    for (ReadStream other : streams) {
      if (other != stream && !other.isGone(now, ReadAhead.PATIENCE_NANOS)) {
        first = other.skipRead(first);
        last = other.start() > first ? Math.min(last, other.start()) : last;
      }
    }
    return new Ahead(first, last, retired);
  }

  /** Tells whether a reader's run began before a place. */
  synchronized boolean hasBegunBefore(ReadStream stream, long place) {
    return stream.start() < place;
  }

  /** Takes note of up to where has been fetched for a sequential reader. */
  synchronized void fetched(ReadStream stream, long upTo) {
    stream.aheadTo(Math.max(stream.aheadTo(), upTo));
  }

  /** Takes note that bytes which all were delivered are about to be given up. */
  void retiring() {
    retirements.incrementAndGet();
  }

  /**
   * Tells whether that has happened since it was planned what to fetch: some of it may have been
   * fetched, read and given up meanwhile, and is not missing then.
   *
   * @param planned how often it had happened by then
   */
  boolean hasRetiredSince(int planned) {
    return retirements.get() != planned;
  }

  /** Takes note of bytes that a random reader got, less those that were fetched around them. */
  synchronized void earn(int bytes) {
    earned = Math.min(earned + bytes, MOST_EARNED);
  }
}
