package io.holdfast.fs.settings;

/** How the daemon speaks to the kernel. */
public enum BindingChoice {
  /** {@link #KERNEL} for root, else {@link #JNR_FUSE}. */
  AUTO,
  /**
   * By the kernel's own protocol, under a supervisor: the mount outlives its daemon. Needs the
   * privilege to mount.
   */
  KERNEL,
  /** Through libfuse 2, by jnr-fuse. */
  JNR_FUSE
}
