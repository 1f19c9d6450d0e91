package io.holdfast.it;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The kernel's list of mounts. Asks no mount, so it answers whatever hangs. */
final class MountTable {
  private static final Path MOUNTINFO = Path.of("/proc/self/mountinfo");
  private static final Pattern LINE =
      Pattern.compile("\\d+ \\d+ \\d+:(\\d+) \\S+ (\\S+) (\\S+) (?:\\S+ )*?- (\\S+) (\\S+) (\\S+)");
  private static final Pattern OCTAL = Pattern.compile("\\\\([0-7]{3})");

  private MountTable() {}

  /** One mount. {@code minor} is the minor device number, which names a FUSE connection. */
  record Row(
      int minor,
      String mountpoint,
      String options,
      String type,
      String source,
      String superOptions) {
    boolean isHoldfast() {
      return type.equals("fuse.holdfast");
    }
  }

  static List<Row> rows() {
    List<Row> rows = new ArrayList<>();
    try {
      for (String line : Files.readAllLines(MOUNTINFO)) {
        Matcher match = LINE.matcher(line);
        if (match.matches()) {
          rows.add(
              new Row(
                  Integer.parseInt(match.group(1)),
                  unescape(match.group(2)),
                  match.group(3),
                  match.group(4),
                  unescape(match.group(5)),
                  match.group(6)));
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return rows;
  }

  /** The mounts at {@code path} and below, the newest first: the order to unmount them in. */
  static List<Row> below(Path path) {
    List<Row> below = new ArrayList<>();
    for (Row row : rows()) {
      if (Path.of(row.mountpoint()).startsWith(path)) {
        below.add(0, row);
      }
    }
    return below;
  }

  /** The Holdfast mounts at exactly this path. */
  static List<Row> holdfastAt(Path mountpoint) {
    return rows().stream()
        .filter(row -> row.isHoldfast() && row.mountpoint().equals(mountpoint.toString()))
        .toList();
  }

  private static String unescape(String field) {
    return OCTAL
        .matcher(field)
        .replaceAll(
            m -> Matcher.quoteReplacement(String.valueOf((char) Integer.parseInt(m.group(1), 8))));
  }
}
