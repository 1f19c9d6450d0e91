package io.holdfast.fs.linux;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The mountpoints that {@code /etc/fstab} names. Immutable. */
public final class Fstab {
  /** The file itself. */
  public static final Path FILE = Path.of("/etc/fstab");

  private final List<Path> mountpoints;

  private Fstab(List<Path> mountpoints) {
    this.mountpoints = mountpoints;
  }

  /** Reads the lines of the file; see fstab(5). */
  public static Fstab parse(List<String> lines) {
    List<Path> mountpoints = new ArrayList<>();
    for (String line : lines) {
      String[] fields = line.strip().split("\\s+", 4);
      // swap is mounted nowhere: on "none"
      if (fields.length >= 3 && !fields[0].startsWith("#") && fields[1].startsWith("/")) {
        path(fields[1]).ifPresent(mountpoints::add);
      }
    }
    return new Fstab(List.copyOf(mountpoints));
  }

  private static Optional<Path> path(String field) {
    try {
      return Optional.of(Path.of(MountTable.unescape(field)).normalize());
    } catch (InvalidPathException | NumberFormatException e) {
      return Optional.empty();
    }
  }

  /**
   * Returns a mountpoint of the file where nothing is mounted: at a path or above it, or else, if
   * wanted, below it.
   */
  public Optional<Path> unmounted(Path path, boolean orBelow, MountTable mounts) {
    List<Path> missing =
        mountpoints.stream().filter(mountpoint -> !mounts.hasOther(mountpoint)).toList();
    return missing.stream()
        .filter(path::startsWith)
        .findFirst()
        .or(() -> missing.stream().filter(each -> orBelow && each.startsWith(path)).findFirst());
  }
}
