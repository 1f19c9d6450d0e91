package io.holdfast.fs.doctor;

/** How good or bad it is what a probe has found. */
public enum Severity {
  /** As it should be. */
  OK,
  /** It works, but not as well as it could, or not for long. */
  WARN,
  /** It does not work. */
  FAIL
}
