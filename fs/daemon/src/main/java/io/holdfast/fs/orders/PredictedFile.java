package io.holdfast.fs.orders;

/** A file at one place of an order. Guarded by the monitor of its {@link Order}. */
final class PredictedFile {
  /** How far it is on its way to be there before its reader. */
  enum State {
    /** Nothing yet. */
    AHEAD,
    /** It is being fetched. */
    FETCHING,
    /** It has been fetched. */
    FETCHED,
    /** Nothing is to be done: it is resident, in parts, gone, or could not be fetched ahead. */
    LEFT,
    /** It was fetched, and its reader did not come in time. */
    WASTED
  }

  final int position;
  final long id;
  final long inode;
  State state = State.AHEAD;
  boolean used;

  /** Bytes that were fetched ahead. */
  int bytes;

  /** When it arrived, in nanoseconds. */
  long arrived;

  PredictedFile(int position, long id, long inode) {
    this.position = position;
    this.id = id;
    this.inode = inode;
  }

  /** Tells whether it is fetched ahead of a reader who has not come yet. */
  boolean isUnused() {
    return !used && (state == State.FETCHING || state == State.FETCHED);
  }
}
