package io.holdfast.fs.checkpoint;

/**
 * A store that changes where its readers look, one operation after the other. An implementation
 * makes no promise about a crash except what each method says. Only the persister's thread uses
 * these methods.
 */
interface InPlaceStore extends Store {
  /** Writes bytes to a file that is there. They may not be durable before {@link #sync}. */
  void write(String path, long address, int length, long offset) throws ErrnoException;

  /**
   * Makes all bytes that were written durable.
   *
   * @param modified the modification time of the file that was written last, in nanoseconds of the
   *     epoch
   */
  void sync(long modified) throws ErrnoException;

  /** Applies an operation that is no write, and makes it durable. */
  void apply(Operation operation) throws ErrnoException;

  /** Returns what {@link Operation#witness} sees here. */
  long witness(Operation operation) throws ErrnoException;

  /** Tells whether an operation was applied, as {@link Operation#isApplied}; makes it durable. */
  boolean isApplied(Operation operation, long witness) throws ErrnoException;
}
