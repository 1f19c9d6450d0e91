package io.holdfast.fs.allocate;

import java.util.Locale;

/** The part of a job that limits its speed. */
public enum Bound {
  /** It waits for its data. */
  STORAGE,
  /** Decoding and augmentation. */
  PREPARATION,
  /** Its accelerators. */
  ACCELERATOR,
  /** Not the storage; nobody told what else. */
  UNKNOWN;

  /** Returns the word for people and programs. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
