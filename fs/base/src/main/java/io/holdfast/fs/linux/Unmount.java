package io.holdfast.fs.linux;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.linux.MountTable.Mount;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import jnr.constants.platform.Errno;

/**
 * Takes mounts off, each where the mount table shows it at that moment. The directories above a
 * mountpoint may be a user's, who exchanges them for symlinks meanwhile. So no symlink is followed,
 * and the mount that the path leads to must be the one that is meant. Stateless.
 */
public final class Unmount {
  public static final int FORCE = 1;

  /** Also while files are open; they stay usable then. */
  public static final int DETACH = 2;

  private static final int NOFOLLOW = 8;

  private Unmount() {}

  /**
   * Unmounts.
   *
   * @param flags {@link #FORCE}, {@link #DETACH}
   * @return 0 or an errno: EINVAL where the mount is in no table, EBUSY where another mount is over
   *     it or, without {@link #DETACH}, files are open
   */
  public static int unmount(MountId mount, int flags) {
    Optional<Mount> found;
    try {
      found = mount.in(MountTable.read());
    } catch (IOException e) {
      return Errno.EIO.intValue();
    }
    return found.isEmpty()
        ? Errno.EINVAL.intValue()
        : unmount(mount, found.get().mountpoint(), flags);
  }

  private static int unmount(MountId mount, Path mountpoint, int flags) {
    Path parent = mountpoint.getParent();
    if (parent == null) {
      return Errno.EBUSY.intValue(); // the root of the machine
    }
    int directory = Linux.openDirectory(parent);
    if (directory < 0) {
      return -directory;
    }
    try {
      String name = String.valueOf(mountpoint.getFileName());
      if (numberOf(directory, name) != mount.number()) {
        return Errno.EBUSY.intValue();
      }
      long path = Linux.scratch().path();
      Memory.putString(path, Linux.pathBytes(Linux.descriptorPath(directory) + "/" + name));
      return LIBC.umount2(path, flags | NOFOLLOW) == 0 ? 0 : Linux.errno();
    } finally {
      LIBC.close(directory);
    }
  }

  /** Returns the number of the uppermost mount that a name leads to; -1 if it leads nowhere. */
  private static int numberOf(int directory, String name) {
    // closed before the unmount, which an open descriptor would keep from succeeding
    int root = Linux.openDirectory(directory, name);
    if (root < 0) {
      return -1;
    }
    int number = Linux.mountNumber(root);
    LIBC.close(root);
    return number;
  }
}
