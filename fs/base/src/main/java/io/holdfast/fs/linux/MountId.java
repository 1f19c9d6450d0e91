package io.holdfast.fs.linux;

import io.holdfast.fs.linux.MountTable.Mount;
import java.util.Optional;

/**
 * Names a mount for as long as it lives. The mountpoint does not: it changes when a directory above
 * it is renamed. The device alone does not, either: a bind mount has the same one. The kernel gives
 * both numbers to the next mount when the filesystem is gone, so a daemon asks its connection first
 * whether the filesystem is there.
 *
 * @param device the number of the filesystem's device, {@code major:minor}
 * @param number the number of the mount, which holds in the mount namespace of this process
 */
public record MountId(String device, int number) {
  /** No mount. */
  public static final MountId NONE = new MountId("", 0);

  /** Returns the identity of a mount of the table. */
  public static MountId of(Mount mount) {
    return new MountId(mount.device(), mount.number());
  }

  /** Finds the mount in a table, wherever it is by now. */
  public Optional<Mount> in(MountTable mounts) {
    return mounts.onDevice(device).stream().filter(mount -> mount.number() == number).findFirst();
  }
}
