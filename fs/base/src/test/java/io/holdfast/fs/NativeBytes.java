package io.holdfast.fs;

/** Bytes at an address, for tests that have nothing to check. */
public final class NativeBytes {
  private NativeBytes() {}

  /** Returns bytes for a reply. */
  public static CheckedBytes at(long address, int length) {
    try {
      return CheckedBytes.within(address, length, 0, length);
    } catch (FsException e) {
      throw new AssertionError(e);
    }
  }
}
