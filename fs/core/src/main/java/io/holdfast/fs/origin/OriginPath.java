package io.holdfast.fs.origin;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The path of an entry within a dataset: names separated by slashes, relative to the root, without
 * a leading slash, empty for the root. It holds the bytes that the origin uses, in any encoding.
 * Immutable.
 */
public final class OriginPath {
  /** The dataset's root. */
  public static final OriginPath ROOT = new OriginPath(new byte[0]);

  private final byte[] bytes;

  private OriginPath(byte[] bytes) {
    this.bytes = bytes;
  }

  /** Returns the path with these bytes; the caller must not change them any more. */
  public static OriginPath of(byte[] bytes) {
    return bytes.length == 0 ? ROOT : new OriginPath(bytes);
  }

  /** Returns the path of a UTF-8 text. */
  public static OriginPath of(String text) {
    return of(text.getBytes(StandardCharsets.UTF_8));
  }

  /** Returns the path of an entry of this directory. */
  public OriginPath child(byte[] name) {
    if (bytes.length == 0) {
      return of(name);
    }
    byte[] joined = Arrays.copyOf(bytes, bytes.length + 1 + name.length);
    joined[bytes.length] = '/';
    System.arraycopy(name, 0, joined, bytes.length + 1, name.length);
    return new OriginPath(joined);
  }

  /** Tells whether this is the dataset's root, which has neither a directory nor a name. */
  public boolean isRoot() {
    return bytes.length == 0;
  }

  /** Returns the directory of this entry. */
  public OriginPath parent() {
    return of(Arrays.copyOf(bytes, Math.max(0, lastSlash())));
  }

  /** Returns the name of this entry in its directory. */
  public byte[] name() {
    return Arrays.copyOfRange(bytes, lastSlash() + 1, bytes.length);
  }

  private int lastSlash() {
    int at = bytes.length - 1;
    while (at >= 0 && bytes[at] != '/') {
      at--;
    }
    return at;
  }

  /** Returns the bytes themselves; the caller must not change them. */
  public byte[] bytes() {
    return bytes;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof OriginPath path && Arrays.equals(bytes, path.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  /**
   * Returns the path for people: invalid UTF-8 as replacement characters, and the root as a dot.
   */
  @Override
  public String toString() {
    return bytes.length == 0 ? "." : new String(bytes, StandardCharsets.UTF_8);
  }
}
