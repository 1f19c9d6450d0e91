package io.holdfast.fs.linux;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The mounts that {@code /etc/fstab} names. Immutable. */
public final class Fstab {
  /** The file itself. */
  public static final Path FILE = Path.of("/etc/fstab");

  private final List<Line> lines;

  /** A source as the file has it, and where it is to be mounted. */
  private record Line(String source, Path mountpoint) {}

  private Fstab(List<Line> lines) {
    this.lines = lines;
  }

  /** Reads the lines of the file; see fstab(5). */
  public static Fstab parse(List<String> lines) {
    List<Line> parsed = new ArrayList<>();
    for (String line : lines) {
      String[] fields = line.strip().split("\\s+", 4);
      // swap is mounted nowhere: on "none"
      if (fields.length >= 3 && !fields[0].startsWith("#") && fields[1].startsWith("/")) {
        parse(fields[0], fields[1]).ifPresent(parsed::add);
      }
    }
    return new Fstab(List.copyOf(parsed));
  }

  private static Optional<Line> parse(String source, String mountpoint) {
    try {
      Path path = Path.of(MountTable.unescape(mountpoint)).normalize();
      return Optional.of(new Line(MountTable.unescape(source), path));
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
        lines.stream().map(Line::mountpoint).filter(each -> !mounts.hasOther(each)).toList();
    return missing.stream()
        .filter(path::startsWith)
        .findFirst()
        .or(() -> missing.stream().filter(each -> orBelow && each.startsWith(path)).findFirst());
  }

  /** Tells whether the file has a source, in the same words, at a mountpoint. */
  public boolean has(String source, Path mountpoint) {
    return lines.contains(new Line(source, mountpoint));
  }
}
