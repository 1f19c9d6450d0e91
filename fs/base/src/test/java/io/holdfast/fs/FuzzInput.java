package io.holdfast.fs;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Takes the bytes of a fuzzer apart. Where they end, all further numbers are 0 and all texts empty.
 * Not thread-safe.
 */
public final class FuzzInput {
  private final byte[] bytes;
  private int at;

  /** Begins with the first byte. */
  public FuzzInput(byte[] bytes) {
    this.bytes = bytes;
  }

  /** Tells whether there are more bytes. */
  public boolean isLeft() {
    return at < bytes.length;
  }

  /** Returns a byte as a number from 0 to 255. */
  public int next() {
    return isLeft() ? bytes[at++] & 0xff : 0;
  }

  /** Returns a number of eight bytes. */
  public long number() {
    long value = 0;
    for (int i = 0; i < Long.BYTES; i++) {
      value = value << Byte.SIZE | next();
    }
    return value;
  }

  /** Returns bytes, as many as the next one says, if there are so many. */
  public byte[] some() {
    int length = Math.min(next(), bytes.length - at);
    at += length;
    return Arrays.copyOfRange(bytes, at - length, at);
  }

  /** Returns a text of {@link #some()}. */
  public String text() {
    return new String(some(), StandardCharsets.UTF_8);
  }

  /** Returns all that is left. */
  public byte[] rest() {
    byte[] rest = Arrays.copyOfRange(bytes, at, bytes.length);
    at = bytes.length;
    return rest;
  }
}
