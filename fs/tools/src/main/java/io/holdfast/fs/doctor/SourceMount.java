package io.holdfast.fs.doctor;

import io.holdfast.fs.linux.Fstab;
import io.holdfast.fs.linux.MountTable;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Checks whether a dataset's file system is mounted. If an NFS export is not mounted, its directory
 * is an empty one on the machine's own disk. Stateless.
 */
public final class SourceMount {
  private SourceMount() {}

  /**
   * Returns why a directory may have no files.
   *
   * @param source without symlinks
   */
  public static String whyEmpty(Path source, MountTable mounts, Fstab fstab) {
    return fstab
        .unmounted(source, true, mounts)
        .map(mountpoint -> "'%s' is in /etc/fstab and is not mounted".formatted(mountpoint))
        .orElse("if it is to be on a file system of its own, that is not mounted");
  }

  /**
   * Returns what is missing if a source must be on a mounted file system. The source, or a
   * directory above it, must be a mountpoint other than the root, and no mountpoint of {@code
   * /etc/fstab} may be missing in between.
   *
   * @param source without symlinks
   * @return nothing if all is well
   */
  public static Optional<String> missing(Path source, MountTable mounts, Fstab fstab) {
    Optional<Path> unmounted = fstab.unmounted(source, false, mounts);
    if (unmounted.isPresent()) {
      return Optional.of("'%s' is in /etc/fstab and is not mounted".formatted(unmounted.get()));
    }
    MountTable.Mount covering = mounts.covering(source).orElse(null);
    return covering == null || covering.mountpoint().getNameCount() == 0
        ? Optional.of("it lies on the root file system")
        : Optional.empty();
  }
}
