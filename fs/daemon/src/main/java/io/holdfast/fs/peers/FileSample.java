package io.holdfast.fs.peers;

import io.holdfast.fs.origin.OriginPath;
import io.holdfast.peer.transfer.ItemPath;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A file of a dataset as one node sees it at its origin. Immutable.
 *
 * @param path within the dataset
 * @param tag its version, {@linkplain PeerRequests#content equal on all nodes}
 * @param content digest of some of its bytes; empty where the version has an ETag
 * @param place inode number and change time: equal where both nodes read one store
 */
record FileSample(OriginPath path, String tag, String content, String place) {
  /** The longest path, with three characters for each byte. */
  private static final int LONGEST_PATH = 3 * 1024;

  /** All parts of a path are possessive: others would take stack for each character. */
  private static final Pattern LINE =
      Pattern.compile(
          "((?:[A-Za-z0-9._/-]++|%[0-9A-F]{2})++) ([\\x21-\\x7e]{1,300}) ([A-Za-z0-9_-]{0,43}) ([0-9a-f-]{1,40})");

  private static final char[] HEX = "0123456789ABCDEF".toCharArray();

  /**
   * Parses a line that {@link #toString()} wrote; throws IllegalArgumentException for any other.
   */
  static FileSample parse(String line) {
    Matcher matcher = LINE.matcher(line);
    if (!matcher.matches() || matcher.group(1).length() > LONGEST_PATH) {
      throw new IllegalArgumentException("no line of a sketch");
    }
    return new FileSample(
        path(matcher.group(1)), matcher.group(2), matcher.group(3), matcher.group(4));
  }

  private static OriginPath path(String encoded) {
    byte[] bytes = new byte[encoded.length()];
    int length = 0;
    for (int i = 0; i < encoded.length(); i++) {
      char each = encoded.charAt(i);
      if (each == '%') {
        bytes[length] = (byte) Integer.parseInt(encoded.substring(i + 1, i + 3), 16);
        i += 2;
      } else {
        bytes[length] = (byte) each;
      }
      length++;
    }
    // ItemPath checks the names as in a request, so that no path leads out of the dataset
    return OriginPath.of(ItemPath.of(Arrays.copyOf(bytes, length)).bytes());
  }

  /** Tells whether a path is short enough for a sketch. */
  static boolean isTold(byte[] path) {
    return path.length > 0 && path.length <= LONGEST_PATH / 3;
  }

  @Override
  public String toString() {
    StringBuilder line = new StringBuilder();
    for (byte each : path.bytes()) {
      boolean plain =
          (each >= 'a' && each <= 'z')
              || (each >= 'A' && each <= 'Z')
              || (each >= '0' && each <= '9')
              || "._/-".indexOf(each) >= 0;
      if (plain) {
        line.append((char) each);
      } else {
        line.append('%').append(HEX[each >> 4 & 0xf]).append(HEX[each & 0xf]);
      }
    }
    return line.append(' ')
        .append(tag)
        .append(' ')
        .append(content)
        .append(' ')
        .append(place)
        .toString();
  }
}
