package io.holdfast.fs.start;

import io.holdfast.fs.host.CliException;
import io.holdfast.fs.linux.MountTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.Optional;

/**
 * The directories that a machine and Holdfast itself need to run. A mount over one of them would
 * stop the programs that could take the mount away again. Directories are compared by what they
 * are, and not by name only: where mounts are passed on, a mount on a bind mount of {@code /etc}
 * appears in {@code /etc}. Stateless.
 */
final class SystemPlaces {
  /** Nothing is mounted over these, nor over a directory that holds one of them. */
  private static final List<Path> NEEDED =
      paths(
          "/usr/local",
          "/usr/share",
          "/var/lib",
          "/var/log",
          "/var/tmp",
          "/tmp",
          "/run/user",
          "/dev/shm");

  /** Nor over these, nor over what is in them. */
  private static final List<Path> CLOSED =
      paths(
          "/proc",
          "/sys",
          "/etc",
          "/boot",
          "/bin",
          "/sbin",
          "/lib",
          "/lib32",
          "/lib64",
          "/libx32",
          "/usr/bin",
          "/usr/sbin",
          "/usr/lib",
          "/usr/lib32",
          "/usr/lib64",
          "/usr/libx32",
          "/usr/libexec",
          "/usr/local/bin",
          "/usr/local/sbin",
          "/usr/local/lib",
          "/run/dbus",
          "/run/holdfast",
          "/run/lock",
          "/run/mount",
          "/run/systemd",
          "/run/udev",
          "/var/lib/holdfast");

  private SystemPlaces() {}

  /**
   * Refuses a directory where no data can be.
   *
   * @param what what the user gave it as
   * @param directory without symlinks; it need not be there
   * @param fix what to give instead
   * @throws CliException when it is on a pseudo file system
   */
  static void checkData(MountTable mounts, String what, Path directory, String fix) {
    pseudoType(mounts, directory)
        .ifPresent(
            type -> {
              throw CliException.usage(
                  "%s '%s' is on a file system that holds no data (%s): %s"
                      .formatted(what, directory, type, fix));
            });
  }

  /**
   * Refuses a mountpoint that the system needs.
   *
   * @param mountpoint a directory that answers, without symlinks
   * @param overSource whether it is the source, too, so that the user gave it as a source
   * @throws CliException when it is on a pseudo file system, or a place of the system
   */
  static void checkMountpoint(MountTable mounts, Path mountpoint, boolean overSource) {
    whyNeeded(mounts, mountpoint)
        .ifPresent(
            why -> {
              String message = "mountpoint '%s' %s: choose another".formatted(mountpoint, why);
              throw CliException.usage(
                  overSource
                      ? "source '%s' cannot be mounted over itself: %s"
                          .formatted(mountpoint, message)
                      : message);
            });
  }

  private static Optional<String> whyNeeded(MountTable mounts, Path mountpoint) {
    if (mountpoint.getNameCount() == 0) {
      return Optional.of("is the whole machine");
    }
    Optional<String> pseudo = pseudoType(mounts, mountpoint);
    if (pseudo.isPresent()) {
      return pseudo.map("is on a file system of the kernel's (%s)"::formatted);
    }
    for (List<Path> places : List.of(NEEDED, CLOSED)) {
      for (Path place : places) {
        if (isBelow(place, mountpoint)) {
          return Optional.of(
              mountpoint.equals(place)
                  ? "is a directory that the system needs"
                  : "would hide '%s', which the system needs".formatted(place));
        }
      }
    }
    return CLOSED.stream()
        .filter(place -> isBelow(mountpoint, place))
        .map("is in '%s', which the system needs"::formatted)
        .findFirst();
  }

  /** Tells whether a path is a directory or lies in it, also through a bind mount. */
  static boolean isBelow(Path path, Path directory) {
    Optional<Object> identity = identity(directory);
    for (Path each = path; each != null; each = each.getParent()) {
      if (each.equals(directory) || (identity.isPresent() && identity.equals(identity(each)))) {
        return true;
      }
    }
    return false;
  }

  private static Optional<String> pseudoType(MountTable mounts, Path path) {
    return mounts.covering(path).filter(MountTable.Mount::isPseudo).map(MountTable.Mount::type);
  }

  private static Optional<Object> identity(Path path) {
    try {
      return Optional.ofNullable(Files.readAttributes(path, BasicFileAttributes.class).fileKey());
    } catch (IOException e) {
      // It is not there, or not for this user.
      return Optional.empty();
    }
  }

  private static List<Path> paths(String... texts) {
    return List.of(texts).stream().map(Path::of).toList();
  }
}
