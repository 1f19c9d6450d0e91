package io.holdfast.fs.doctor;

/** The level of a finding. */
public enum Severity {
  /** As it should be. */
  OK,
  /** It works, but not as well as it could, or not for long. */
  WARN,
  /** It does not work. */
  FAIL
}
