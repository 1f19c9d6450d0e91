package io.holdfast.fs.transit;

/**
 * A fetch whose bytes jobs of a convoy share. Equal objects are the same fetch. Thread-safe; no
 * method waits, and both may be called on any thread.
 */
public interface SharedFetch {
  /** Gives the bytes up that were kept: nobody else wants them. */
  void letGo();

  /** Has a fetch go on that was delayed. */
  void goOn();
}
