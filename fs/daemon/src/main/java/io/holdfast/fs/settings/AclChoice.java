package io.holdfast.fs.settings;

/** Who decides by the access control lists of the dataset. */
public enum AclChoice {
  /**
   * {@link #KERNEL} where the dataset is seen to have some when it is mounted, else {@link
   * #STRICT}.
   */
  AUTO,
  /** The kernel, which asks for that of each file: the rights are those at the source. */
  KERNEL,
  /** Nobody: the mode is one that gives nobody more than the list does. */
  STRICT
}
