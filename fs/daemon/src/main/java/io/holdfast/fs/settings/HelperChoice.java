package io.holdfast.fs.settings;

/** Whether the daemon gives the kernel programs that do a part of its work. */
public enum HelperChoice {
  /** Where the kernel takes them. */
  AUTO,
  /** Never. */
  OFF
}
