package io.holdfast.fs.doctor;

/**
 * The rights of this process on its machine, as far as FUSE needs them. Probes ask, from any
 * thread.
 */
public interface Abilities {
  /** The result of an attempt to open /dev/fuse. */
  enum Device {
    USABLE,
    MISSING,
    DENIED
  }

  /** Tries to open /dev/fuse. */
  Device device();

  /** Tells whether this process may mount without a helper. */
  boolean mayMount();

  /** Tells whether the machine has the helper that mounts for users. */
  boolean hasFusermount();

  /** Tells whether the machine has the library libfuse 2. */
  boolean hasLibfuse();

  /** Returns a command that installs libfuse 2 on this distribution. */
  String libfuseInstallation();

  /** Tells whether users may let other users use their mounts. */
  boolean userAllowOther();
}
