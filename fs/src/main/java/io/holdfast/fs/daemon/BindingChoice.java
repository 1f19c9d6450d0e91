package io.holdfast.fs.daemon;

/** How the daemon speaks to the kernel. */
public enum BindingChoice {
  /** Through libfuse 2, by jnr-fuse. */
  JNR_FUSE,
  /** By the kernel's own protocol; needs the privilege to mount. */
  KERNEL
}
