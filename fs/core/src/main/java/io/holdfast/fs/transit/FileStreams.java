package io.holdfast.fs.transit;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The readers of one large file, told apart by their positions. Thread-safe; the monitor guards the
 * streams, their fields, and the earned bytes.
 *
 * <p>Two rules bound the bytes that are fetched in vain by the bytes that were asked for. A
 * sequential reader gets as many bytes ahead as it has read in one run, so that the window doubles
 * while the reader goes on and is gone when it seeks. A random reader earns, with each byte that it
 * asks for, one byte that may be fetched around a later read. If the reader wants such bytes later,
 * they earn more. So a dense reader soon gets larger parts, and a sparse reader never costs more
 * than twice the bytes that it asks for.
 */
final class FileStreams {
  /** Most bytes to which a random read is extended. */
  static final int PART = 256 << 10;

  /** Most readers of a file that are told apart. */
  private static final int MOST = 64;

  /** Most positions between which one thread may alternate. */
  private static final int MOST_OF_A_THREAD = 4;

  /** Most earned bytes: a reader that was dense may be sparse now. */
  private static final long MOST_EARNED = 64L * PART;

  private final long node;

  /** In the order of their last read; the latest is last. */
  private final List<ReadStream> streams = new ArrayList<>(2);

  private long earned;

  /** How often delivered bytes were given up; counted before they are given up. */
  private final AtomicInteger retirements = new AtomicInteger();

  FileStreams(long node) {
    this.node = node;
  }

  long node() {
    return node;
  }

  /** Records a read and predicts the next ones. */
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
   * Finds the stream that a read continues. A thread is at one position: it goes on there, or
   * returns exactly to an earlier position or to that of another thread. Other positions nearby are
   * chance.
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

  /** Returns a position plus a number of bytes, or the last position of any file. */
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
   * A range ahead of a reader.
   *
   * @param from first byte within the file; not below {@code to} where nothing is left
   * @param retirements the file's count of retirements when the range was planned
   */
  record Ahead(long from, long to, int retirements) {}

  /**
   * Cuts the range ahead of a reader: skips bytes that another reader has just read, and ends where
   * another reader began, since readers that share a file among them end there.
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

  /** Tells whether a reader's run began before a position. */
  synchronized boolean hasBegunBefore(ReadStream stream, long place) {
    return stream.start() < place;
  }

  /** Records the end of the bytes that were fetched for a sequential reader. */
  synchronized void fetched(ReadStream stream, long upTo) {
    stream.aheadTo(Math.max(stream.aheadTo(), upTo));
  }

  /** Records that delivered bytes are about to be given up. */
  void retiring() {
    retirements.incrementAndGet();
  }

  /**
   * Tells whether delivered bytes were given up since a fetch was planned: some bytes of the plan
   * may have been fetched, read and given up meanwhile, so they are not missing.
   *
   * @param planned the count of retirements when the fetch was planned
   */
  boolean hasRetiredSince(int planned) {
    return retirements.get() != planned;
  }

  /** Adds bytes that a random reader asked for, less the bytes that were fetched around them. */
  synchronized void earn(int bytes) {
    earned = Math.min(earned + bytes, MOST_EARNED);
  }
}
