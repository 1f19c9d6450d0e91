package io.holdfast.fs.transit;

/**
 * One reader's way through a file: a run of reads, each near where the one before ended. What is
 * not volatile is guarded by the monitor of its {@link FileStreams}; {@link #reserved} by that of
 * {@link ReadAhead}.
 */
final class ReadStream {
  /** The kernel's readahead sends several reads at once, and they may arrive in another order. */
  private static final int READS_AT_ONCE = 8;

  private static final long MOST_TOLERANCE = 2 << 20;

  /** Reads after which a run that began within the file counts as no chance. */
  private static final int RUN = 4;

  /** What whoever begins a file is taken to have read already. */
  private static final long BEGINNING = 1 << 20;

  /** Bytes behind a reader that are still in the page cache, in all likelihood. */
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

  /** Bytes fetched ahead for it, or on their way, that nobody has read yet. */
  long reserved;

  ReadStream(FileStreams file) {
    this.file = file;
  }

  FileStreams file() {
    return file;
  }

  /** Returns how far a read is from where this reader is, negative where it is too far. */
  long distance(long offset, int length) {
    long distance = Math.abs(offset - end);
    return distance <= Math.min((long) READS_AT_ONCE * length, MOST_TOLERANCE) ? distance : -1;
  }

  int thread() {
    return thread;
  }

  /** Takes note of a read. */
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

  /** Takes note that its thread has gone elsewhere: a run that may follow is a new one. */
  void leave() {
    left = true;
  }

  /** Tells whether the reads so far are no chance. */
  boolean isSequential() {
    return start == 0 || (reads >= RUN && 2 * bytes >= end - start);
  }

  /** Takes note of a read that was not known to be of a run, and had bytes fetched around it. */
  void guessed(int length) {
    guessed += length;
  }

  /**
   * Returns the bytes that may be fetched ahead: as many as have been read, less those that were
   * left out on the way and those that were fetched around the first reads, so that all together
   * are no more than what was read.
   */
  long run() {
    long run = Math.max(0, 2 * bytes - (end - start) - guessed);
    return start == 0 ? Math.max(run, BEGINNING) : run;
  }

  /** Returns where its run began. */
  long start() {
    return start;
  }

  /** Returns a place, or where it is itself when it has passed that place a moment ago. */
  long skipRead(long place) {
    return place >= Math.max(start, end - JUST_READ) && place < end ? end : place;
  }

  /** Returns where it is. */
  long end() {
    return end;
  }

  int reads() {
    return reads;
  }

  /** Returns up to where has been fetched for it. */
  long aheadTo() {
    return Math.max(end, aheadTo);
  }

  void aheadTo(long upTo) {
    aheadTo = upTo;
  }

  /** Tells whether what was to be fetched ahead for it is of no use any more. */
  boolean isGone(long now, long patience) {
    return left || now - lastRead > patience;
  }
}
