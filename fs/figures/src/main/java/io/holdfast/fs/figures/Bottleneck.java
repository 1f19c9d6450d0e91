package io.holdfast.fs.figures;

import java.util.Locale;

/** The part of a job that limits its speed. */
public enum Bottleneck {
  /** It waits for the origin or a peer. */
  STORAGE,
  /** It waits for a processor, to decode and augment the data that it has read. */
  PREPARATION,
  /** Its data is there before its consumer, an accelerator, takes it. */
  ACCELERATOR,
  /** It cannot be told. */
  UNKNOWN;

  /** Returns the word for people and programs. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
