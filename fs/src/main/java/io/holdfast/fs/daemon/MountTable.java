package io.holdfast.fs.daemon;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What /proc/self/mountinfo says of Holdfast's mounts; asks neither a mount nor an origin. */
final class MountTable {
  private static final Logger log = LoggerFactory.getLogger(MountTable.class);
  private static final Path MOUNTINFO = Path.of("/proc/self/mountinfo");
  private static final String TYPE = "fuse.holdfast";

  /** Columns: 2 device as major:minor, 4 mountpoint; the type follows a lone dash. */
  private static final int DEVICE = 2;

  private static final int MOUNTPOINT = 4;

  /**
   * How far the kernel reads ahead of a sequential reader: several requests, so that they overlap.
   */
  private static final String READ_AHEAD_KB = "1024";

  private MountTable() {}

  /** Tells whether Holdfast is mounted there. */
  static boolean isMounted(Path mountpoint) {
    try {
      return device(mountpoint) != null;
    } catch (IOException e) {
      log.warn("{} cannot be read", MOUNTINFO, e);
      return true; // in doubt, go on
    }
  }

  /**
   * Raises the mount's readahead where that is permitted; without it large files are only slower.
   */
  static void raiseReadAhead(Path mountpoint) {
    try {
      String device = device(mountpoint);
      if (device != null) {
        Files.writeString(Path.of("/sys/class/bdi/" + device + "/read_ahead_kb"), READ_AHEAD_KB);
      }
    } catch (IOException e) {
      log.debug("readahead stays as it is", e);
    }
  }

  private static @Nullable String device(Path mountpoint) throws IOException {
    String found = null;
    List<String> lines = Files.readAllLines(MOUNTINFO, StandardCharsets.ISO_8859_1);
    for (String line : lines) {
      String[] columns = line.split(" ", -1);
      if (line.contains(" - " + TYPE + " ")
          && unescaped(columns[MOUNTPOINT]).equals(mountpoint.toString())) {
        found = columns[DEVICE];
      }
    }
    return found;
  }

  /** The table writes space, tab, newline and backslash as octal numbers. */
  private static String unescaped(String text) {
    byte[] bytes =
        text.replace("\\040", " ")
            .replace("\\011", "\t")
            .replace("\\012", "\n")
            .replace("\\134", "\\")
            .getBytes(StandardCharsets.ISO_8859_1);
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
