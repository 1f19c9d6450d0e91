package io.holdfast.fs.checkpoint;

import io.holdfast.fs.checkpoint.PendingOperations.Pending;

/** How operations get to a kind of store. Only the persister's thread uses it. */
interface Taking {
  /** Tells whether everything that was taken is durable. */
  boolean isEmpty();

  /** Returns how long nothing must be pending before what was taken is made durable, in ns. */
  long calm();

  /**
   * Tells whether what was taken is to be made durable before another operation is taken.
   *
   * @param waited the first operation for which somebody waits; more than any if nobody does
   */
  boolean isFull(long waited);

  /** Has the store take an operation, the next one; may make durable earlier ones before. */
  void take(Pending next) throws ErrnoException;

  /** Makes durable what was taken. */
  void makeDurable() throws ErrnoException;

  /** Forgets what was taken and is not durable: after a failure it is taken again. */
  void forget();
}
