package io.holdfast.fs.mount;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Decides which names of extended attributes a user may see. The kernel refuses the values of
 * {@code trusted.*} to all users but root, and leaves it to each filesystem to hide their names. A
 * daemon of root sees all names. Stateless.
 */
final class AttributeNames {
  private static final int ROOT = 0;
  private static final byte[] TRUSTED = "trusted.".getBytes(StandardCharsets.US_ASCII);

  private AttributeNames() {}

  /**
   * Returns the names without those that a user may not see.
   *
   * @param names each followed by a NUL
   */
  static byte[] visibleTo(int uid, byte[] names) {
    if (uid == ROOT) {
      return names;
    }
    byte[] visible = new byte[names.length];
    int length = 0;
    for (int from = 0, to; from < names.length; from = to) {
      to = from;
      while (to < names.length && names[to] != 0) {
        to++;
      }
      to = Math.min(names.length, to + 1);
      if (!isTrusted(names, from)) {
        System.arraycopy(names, from, visible, length, to - from);
        length += to - from;
      }
    }
    return Arrays.copyOf(visible, length);
  }

  private static boolean isTrusted(byte[] names, int from) {
    int end = from + TRUSTED.length;
    return end <= names.length && Arrays.equals(names, from, end, TRUSTED, 0, TRUSTED.length);
  }
}
