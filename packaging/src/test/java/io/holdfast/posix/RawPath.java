package io.holdfast.posix;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.file.Path;
import java.util.Arrays;

/** A path in bytes: what the kernel knows, whatever Java's strings can hold. */
public final class RawPath implements Comparable<RawPath> {
  private final byte[] bytes;

  private RawPath(byte[] bytes) {
    this.bytes = bytes;
  }

  public static RawPath of(Path path) {
    return of(path.toString());
  }

  public static RawPath of(String path) {
    return new RawPath(path.getBytes(UTF_8));
  }

  public static RawPath of(byte[] path) {
    return new RawPath(path.clone());
  }

  /** The path {@code this/name}; {@code name} may have slashes. */
  public RawPath child(RawPath name) {
    if (name.bytes.length == 0) {
      return this;
    }
    if (bytes.length == 0) {
      return name;
    }
    byte[] joined = Arrays.copyOf(bytes, bytes.length + 1 + name.bytes.length);
    joined[bytes.length] = '/';
    System.arraycopy(name.bytes, 0, joined, bytes.length + 1, name.bytes.length);
    return new RawPath(joined);
  }

  public RawPath child(String name) {
    return child(of(name));
  }

  /** The bytes with the NUL that ends them in C. */
  public byte[] cString() {
    return Arrays.copyOf(bytes, bytes.length + 1);
  }

  public byte[] toBytes() {
    return bytes.clone();
  }

  @Override
  public int compareTo(RawPath other) {
    return Arrays.compareUnsigned(bytes, other.bytes);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof RawPath path && Arrays.equals(bytes, path.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  /** Returns a printable text: bytes that are not plain ASCII are {@code \xNN}. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    for (char c : new String(bytes, ISO_8859_1).toCharArray()) {
      if (c < 0x20 || c > 0x7e || c == '\\') {
        text.append(String.format("\\x%02x", (int) c));
      } else {
        text.append(c);
      }
    }
    return text.toString();
  }
}
