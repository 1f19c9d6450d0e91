package io.holdfast.fs.settings;

/** How residents are held in the page cache. */
public enum PinMode {
  /**
   * By mlock: the pages stay until they are unpinned. Fails if the memory lock limit does not allow
   * it.
   */
  HARD,
  /**
   * By a mapping alone: the kernel may reclaim pages when memory is short, and the next read
   * fetches them again.
   */
  SOFT,
  /** Hard if it is allowed, else soft. */
  AUTO
}
