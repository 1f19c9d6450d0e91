package io.holdfast.fs.doctor;

import io.holdfast.fs.linux.Fstab;
import io.holdfast.fs.linux.MountTable;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Checks whether a dataset's file system is mounted. If an NFS export is not mounted, its directory
 * is an empty one on the machine's own disk. Stateless.
 */
public final class SourceMount {
  /** The files that a container's runtime mounts from the disk of its machine. */
  private static final List<Path> OF_THE_RUNTIME =
      List.of(Path.of("/etc/hosts"), Path.of("/etc/hostname"));

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
   * /etc/fstab} may be missing in between. In a container each volume is a mountpoint: it must not
   * be on the disk of the machine, and the source must not be empty.
   *
   * @param source without symlinks
   * @param empty whether the source has no entry
   * @return nothing if all is well
   */
  public static Optional<String> missing(
      Path source, boolean empty, MountTable mounts, Fstab fstab) {
    Optional<Path> unmounted = fstab.unmounted(source, false, mounts);
    if (unmounted.isPresent()) {
      return Optional.of("'%s' is in /etc/fstab and is not mounted".formatted(unmounted.get()));
    }
    MountTable.Mount covering = mounts.covering(source).orElse(null);
    if (covering == null || covering.mountpoint().getNameCount() == 0) {
      return Optional.of("it lies on the root file system");
    }
    Optional<Path> ofTheRuntime =
        OF_THE_RUNTIME.stream()
            .filter(file -> isOn(covering.device(), mounts.at(file)))
            .findFirst();
    if (ofTheRuntime.isPresent()) {
      return Optional.of(
          "it lies on the machine's own disk, as the container's '%s' does"
              .formatted(ofTheRuntime.get()));
    }
    return empty ? Optional.of("it is empty") : Optional.empty();
  }

  private static boolean isOn(String device, Optional<MountTable.Mount> mount) {
    return mount.filter(found -> found.device().equals(device)).isPresent();
  }
}
