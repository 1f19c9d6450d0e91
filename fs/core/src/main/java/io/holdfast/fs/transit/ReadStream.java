package io.holdfast.fs.transit;

/**
 * One reader's way through a file: a run of reads, each near the end of the one before. The monitor
 * of its {@link FileStreams} guards all fields except {@link #reserved}, which the monitor of
 * {@link ReadAhead} guards.
 */
final class ReadStream {
  /** The kernel's readahead sends several reads at once, which may arrive out of order. */
  private static final int READS_AT_ONCE = 8;

  private static final long MOST_TOLERANCE = 2 << 20;

  /** Reads after which a run that began within the file is no coincidence. */
  private static final int RUN = 4;

  /** Bytes of credit for a reader that begins a file. */
  private static final long BEGINNING = 1 << 20;

  /** Bytes behind a reader that are most likely still in the page cache. */
  private static final long JUST_READ = 16 << 20;

  private final FileStreams file;
  private long start;
  private long end;
  private long bytes;
  private long guessed;
  private int reads;
  private int thread;
  private long lastRead;
  private long aheadTo;
  private boolean left;

  /**
   * Bytes that were fetched ahead for this reader, or are being fetched, and that nobody has read
   * yet.
   */
  long reserved;

  ReadStream(FileStreams file) {
    this.file = file;
  }

  FileStreams file() {
    return file;
  }

  /** Returns the distance of a read from this reader's position; negative where it is too far. */
  long distance(long offset, int length) {
    long distance = Math.abs(offset - end);
    return distance <= Math.min((long) READS_AT_ONCE * length, MOST_TOLERANCE) ? distance : -1;
  }

  int thread() {
    return thread;
  }

  /** Records a read. */
  void add(long offset, int length, int reader, long now) {
    if (left || reads == 0) {
      start = offset;
      end = offset;
      aheadTo = offset;
      bytes = 0;
      guessed = 0;
      reads = 0;
      left = false;
    }
    start = Math.min(start, offset);
    end = Math.max(end, offset + length);
    bytes = Math.min(bytes + length, end - start);
    reads++;
    thread = reader;
    lastRead = now;
  }

  /** Records that the thread has gone elsewhere: its next read begins a new run. */
  void leave() {
    left = true;
  }

  /** Tells whether the reads form a run. */
  boolean isSequential() {
    return start == 0 || (reads >= RUN && 2 * bytes >= end - start);
  }

  /** Records a read that was not known to be part of a run and had bytes fetched around it. */
  void guessed(int length) {
    guessed += length;
  }

  /**
   * Returns the bytes that may be fetched ahead: the bytes read, less those skipped on the way and
   * those fetched around the first reads. So all bytes fetched in vain are no more than the bytes
   * read.
   */
  long run() {
    long run = Math.max(0, 2 * bytes - (end - start) - guessed);
    return start == 0 ? Math.max(run, BEGINNING) : run;
  }

  /** Returns the start of the run. */
  long start() {
    return start;
  }

  /** Returns a position, or this reader's own position if it has just passed the given one. */
  long skipRead(long place) {
    return place >= Math.max(start, end - JUST_READ) && place < end ? end : place;
  }

  /** Returns the reader's position. */
  long end() {
    return end;
  }

  int reads() {
    return reads;
  }

  /** Returns the end of the bytes that were fetched for this reader. */
  long aheadTo() {
    return Math.max(end, aheadTo);
  }

  void aheadTo(long upTo) {
    aheadTo = upTo;
  }

  /** Tells whether read-ahead for this reader is useless by now. */
  boolean isGone(long now, long patience) {
    return left || now - lastRead > patience;
  }
}
