package io.holdfast.fs.doctor;

/** What this process may do on its machine with FUSE. Asked by probes, from any thread. */
public interface Abilities {
  /** What became of an attempt to open /dev/fuse. */
  enum Device {
    USABLE,
    MISSING,
    DENIED
  }

  /** Tries to open /dev/fuse. */
  Device device();

  /** Tells whether this process may mount without a helper. */
  boolean mayMount();

  /** Tells whether the helper that mounts for users is there. */
  boolean hasFusermount();

  /** Tells whether the library libfuse 2 is there. */
  boolean hasLibfuse();

  /** Returns a command that installs libfuse 2 on this distribution. */
  String libfuseInstallation();

  /** Tells whether users may let others use their mounts. */
  boolean userAllowOther();
}
