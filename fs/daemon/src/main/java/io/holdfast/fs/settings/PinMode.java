package io.holdfast.fs.settings;

/** How residents are held in the page cache. */
public enum PinMode {
  /**
   * By mlock: nothing takes the pages but an unpin. Fails where the memory lock limit does not
   * allow it.
   */
  HARD,
  /**
   * By a mapping alone: the kernel may take pages under pressure, and the next read fetches them
   * again.
   */
  SOFT,
  /** Hard where it is allowed, else soft. */
  AUTO
}
