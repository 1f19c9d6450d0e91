package io.holdfast.fs.linux;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.linux.MountTable.Mount;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Consumer;
import jnr.constants.platform.Errno;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The place of the own mount. A user who may rename a directory above the mountpoint moves the
 * mount. Asks neither the mount nor the origin. Thread-safe.
 */
public final class MountPlace {
  private static final Logger log = LoggerFactory.getLogger(MountPlace.class);

  private volatile Path path;
  private volatile MountId mount = MountId.NONE;

  /** Creates a place for a mount that is to begin there. */
  public MountPlace(Path mountpoint) {
    this.path = mountpoint;
  }

  /** Returns the place of the last look. */
  public Path path() {
    return path;
  }

  /**
   * Opens the root of the mount that the last look has found, for calls that need it open.
   *
   * @return a descriptor, or a negative errno: of ESTALE if the place leads elsewhere by now
   */
  public int open() {
    int root = Linux.openDirectory(path);
    if (root >= 0 && Linux.mountNumber(root) != mount.number()) {
      LIBC.close(root);
      return -Errno.ESTALE.intValue();
    }
    return root;
  }

  /**
   * Looks where the mount is, be it below another mount.
   *
   * @param own its identity
   * @param moved takes another place than that of the last look
   * @return whether it is mounted
   */
  public boolean look(MountId own, Consumer<Path> moved) {
    try {
      return look(own, MountTable.read(), moved);
    } catch (IOException e) {
      log.warn("the mount table cannot be read", e);
      return true; // in doubt, the daemon goes on
    }
  }

  boolean look(MountId own, MountTable mounts, Consumer<Path> moved) {
    Optional<Mount> found = own.in(mounts);
    if (found.isEmpty()) {
      return false;
    }
    mount = own;
    Path now = found.get().mountpoint();
    if (!now.equals(path)) {
      path = now;
      moved.accept(now);
    }
    return true;
  }
}
