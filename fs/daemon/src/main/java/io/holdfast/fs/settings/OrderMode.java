package io.holdfast.fs.settings;

/** Which orders of jobs are followed. */
public enum OrderMode {
  /** Those that are announced, and those that are found from opens. */
  LEARN,
  /** Those that are announced. */
  ANNOUNCED,
  /** None. */
  OFF
}
