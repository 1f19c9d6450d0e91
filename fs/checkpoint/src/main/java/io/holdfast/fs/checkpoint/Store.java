package io.holdfast.fs.checkpoint;

/**
 * Where checkpoints are kept for good. The persister applies operations to it, one after the other,
 * on one thread. An implementation makes no promise about a crash except what each method says.
 */
interface Store extends AutoCloseable {
  /** Makes sure that this node still is the one that may write. */
  void checkOwner() throws ErrnoException;

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

  /** Ends the use of the store; it is free for other nodes then if nothing is pending. */
  void release(boolean nothingPending);

  @Override
  void close();
}
