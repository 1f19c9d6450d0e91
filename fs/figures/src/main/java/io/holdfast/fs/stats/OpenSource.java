package io.holdfast.fs.stats;

import java.util.Map;

/** Where the watcher learns of opens. For the watcher's thread alone. */
interface OpenSource extends AutoCloseable {
  /** Waits a bounded time until an open can be taken; true if so. */
  boolean await(int millis);

  /**
   * Adds opens that wait to the batch of each thread.
   *
   * @return whether others may wait
   */
  boolean take(Map<Integer, OpenBatch> byThread);

  /** Returns the number of times that opens were left out, because too many waited. */
  long overflows();

  @Override
  void close();
}
