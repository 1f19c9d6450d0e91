package io.holdfast.fs.daemon;

import io.holdfast.fs.linux.MountTable;
import io.holdfast.fs.linux.MountTable.Mount;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The own mount in the mount table. Asks neither the mount nor the origin. */
final class OwnMountEntry {
  private static final Logger log = LoggerFactory.getLogger(OwnMountEntry.class);

  /** How far the kernel reads ahead of a sequential reader: several requests, so they overlap. */
  private static final String READ_AHEAD_KB = "1024";

  private OwnMountEntry() {}

  /**
   * Tells whether the own mount is still at its mountpoint, be it below another mount.
   *
   * @param device the number of its device, {@code major:minor}
   */
  static boolean isMounted(Path mountpoint, String device) {
    try {
      return isMounted(MountTable.read(), mountpoint, device);
    } catch (IOException e) {
      log.warn("the mount table cannot be read", e);
      return true; // in doubt, the daemon goes on
    }
  }

  static boolean isMounted(MountTable mounts, Path mountpoint, String device) {
    return mounts.onDevice(device).stream()
        .anyMatch(mount -> mount.isHoldfast() && mount.mountpoint().equals(mountpoint));
  }

  /**
   * Raises the mount's readahead if that is permitted; otherwise reads of large files are only
   * slower.
   */
  static void raiseReadAhead(Path mountpoint) {
    try {
      Optional<Mount> mount = find(mountpoint);
      if (mount.isPresent()) {
        Files.writeString(
            Path.of("/sys/class/bdi/" + mount.get().device() + "/read_ahead_kb"), READ_AHEAD_KB);
      }
    } catch (IOException e) {
      log.debug("readahead stays as it is", e);
    }
  }

  /**
   * Returns the number of the mount's filesystem, {@code major:minor}.
   *
   * @throws IOException if the mount is not in the table
   */
  static String device(Path mountpoint) throws IOException {
    return find(mountpoint)
        .orElseThrow(() -> new IOException("nothing is mounted at " + mountpoint))
        .device();
  }

  private static Optional<Mount> find(Path mountpoint) throws IOException {
    return MountTable.read().at(mountpoint).filter(Mount::isHoldfast);
  }
}
