package io.holdfast.peer.transfer;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The path of a file within a dataset, as the bytes that the origin uses: parts separated by
 * slashes, none of them empty, {@code .} or {@code ..}, none with a NUL. So it never leads out of
 * the dataset. Immutable.
 */
public final class ItemPath {
  private static final int LONGEST = 4096;

  private final byte[] bytes;

  private ItemPath(byte[] bytes) {
    this.bytes = bytes;
  }

  /**
   * Returns the path with these bytes; the caller must not change them any more.
   *
   * @throws IllegalArgumentException where the bytes are no path
   */
  public static ItemPath of(byte[] bytes) {
    if (isTooLong(bytes)) {
      throw new IllegalArgumentException("a path of " + bytes.length + " bytes");
    }
    int start = 0;
    for (int i = 0; i <= bytes.length; i++) {
      if (i < bytes.length && bytes[i] == 0) {
        throw new IllegalArgumentException("a NUL in a path");
      }
      if (i == bytes.length || bytes[i] == '/') {
        checkPart(bytes, start, i - start);
        start = i + 1;
      }
    }
    return new ItemPath(bytes);
  }

  /** Tells whether a path of the origin is too long to be asked for. */
  public static boolean isTooLong(byte[] path) {
    return path.length > LONGEST;
  }

  private static void checkPart(byte[] bytes, int start, int length) {
    boolean dots = length <= 2;
    for (int i = start; dots && i < start + length; i++) {
      dots = bytes[i] == '.';
    }
    if (dots) {
      throw new IllegalArgumentException("an empty part, or one of dots, in a path");
    }
  }

  /** Returns the bytes; the caller must not change them. */
  public byte[] bytes() {
    return bytes;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ItemPath path && Arrays.equals(bytes, path.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  /** Returns the path for people. */
  @Override
  public String toString() {
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
