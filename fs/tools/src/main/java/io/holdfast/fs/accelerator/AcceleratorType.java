package io.holdfast.fs.accelerator;

import java.util.Locale;

/** The accelerators that MLPerf Storage has compute times of, the oldest first. */
public enum AcceleratorType {
  A100,
  H100,
  B200;

  /** Returns the word for people and programs. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
