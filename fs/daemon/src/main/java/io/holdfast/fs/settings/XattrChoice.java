package io.holdfast.fs.settings;

/** Whether the mount has extended attributes. */
public enum XattrChoice {
  /** Those of the dataset, and Holdfast's own. */
  ON,
  /** None: the kernel is told so once, and never asks again. */
  OFF
}
