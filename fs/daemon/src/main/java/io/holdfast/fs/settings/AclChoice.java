package io.holdfast.fs.settings;

/** How the access control lists of the dataset count. */
public enum AclChoice {
  /**
   * {@link #KERNEL} if the dataset is seen to have lists when it is mounted, else {@link #STRICT}.
   */
  AUTO,
  /**
   * The kernel decides by them, and asks for the list of each file: the rights are those at the
   * source.
   */
  KERNEL,
  /** Nobody decides by them: the mode gives nobody more than the list does. */
  STRICT
}
