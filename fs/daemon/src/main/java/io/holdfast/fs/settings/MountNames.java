package io.holdfast.fs.settings;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.zip.CRC32;

/**
 * Makes and checks names of mounts, which are unique on a machine and can be names of files.
 * Stateless.
 */
public final class MountNames {
  /** The longest name: the socket's path then stays below the kernel's limit of 107 bytes. */
  static final int LONGEST = 64;

  private MountNames() {}

  /**
   * Makes the default name from a mountpoint: {@code /data/imagenet} becomes {@code data-imagenet}.
   * Characters that a name cannot have become underscores. A name that was changed or cut has a
   * checksum of the whole path, so that it stays unique.
   */
  public static String of(Path mountpoint) {
    StringBuilder name = new StringBuilder();
    boolean faithful = true;
    for (Path part : mountpoint) {
      if (!name.isEmpty()) {
        name.append('-');
      }
      for (char c : part.toString().toCharArray()) {
        faithful &= allowed(c);
        name.append(allowed(c) ? c : '_');
      }
    }
    if (faithful && name.length() <= LONGEST && startsWell(name)) {
      return name.toString();
    }
    String mark = "-" + checksum(mountpoint.toString());
    int room = LONGEST - mark.length();
    // The end of a path tells more than its beginning.
    String end = name.substring(Math.max(0, name.length() - room));
    return (startsWell(end) ? end : "m" + end.substring(Math.min(1, end.length()))) + mark;
  }

  /** Tells whether a text can be the name of a mount. */
  public static boolean isName(String text) {
    return startsWell(text)
        && text.length() <= LONGEST
        && text.chars().allMatch(c -> allowed((char) c));
  }

  /**
   * Tells whether a name may begin so: a leading dot would hide the files, and a leading dash would
   * look like an option.
   */
  private static boolean startsWell(CharSequence name) {
    return name.length() > 0 && name.charAt(0) != '.' && name.charAt(0) != '-';
  }

  private static boolean allowed(char c) {
    return (c >= 'a' && c <= 'z')
        || (c >= 'A' && c <= 'Z')
        || (c >= '0' && c <= '9')
        || c == '.'
        || c == '-'
        || c == '_';
  }

  private static String checksum(String text) {
    CRC32 crc = new CRC32();
    crc.update(text.getBytes(StandardCharsets.UTF_8));
    return Long.toHexString(crc.getValue());
  }
}
