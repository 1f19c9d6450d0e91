package io.holdfast.fs.checkpoint;

/**
 * A store that gets many operations at once, a <i>row</i>, and has all of them durably or none.
 * Only the persister's thread uses these methods.
 */
interface RowStore extends Store {
  /**
   * Begins a row, and forgets one that was begun and not committed. Finds out how an attempt to
   * commit has ended that failed: behind this, it has the row or never will.
   */
  void begin() throws ErrnoException;

  /**
   * Tells whether the last row that the store has is the one with this number, after {@link
   * #begin}.
   */
  boolean isCommitted(long row);

  /**
   * Takes an operation that is no write into the row.
   *
   * @param order the number of the operation
   * @param time when it was performed, in nanoseconds of the epoch
   */
  void apply(Operation operation, long order, long time) throws ErrnoException;

  /** Takes a write into the row, whose bytes are at an address; see {@link #apply}. */
  void write(Operation.Write write, long address, long order, long time) throws ErrnoException;

  /**
   * Makes the row durable: all of it, or, if this fails, perhaps all of it.
   *
   * @param row a number that no other row has
   */
  void commit(long row) throws ErrnoException;

  /**
   * Returns how many bytes the store had to fetch for the row that was begun; the largest file does
   * not count, so that a row can have many changes of it.
   */
  long fetched();

  /** Finishes what is left to do behind the last row, of which nothing can be lost. */
  void settle() throws ErrnoException;
}
