package io.holdfast.fs.transit;

import io.holdfast.fs.CheckedBytes;
import io.holdfast.fs.linux.Memory;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** Bytes of native memory, lent to a reader until it releases them. Thread-safe. */
public interface Loan {
  /** Returns the bytes. */
  CheckedBytes bytes();

  /** Returns the SHA-256 of the bytes; the caller must not change the array. */
  byte[] checksum();

  /** Releases the memory. Called once. */
  void release();

  /** Computes the SHA-256 of native memory; some 0.6 ms a MiB. */
  static byte[] checksum(long address, int length) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update(Memory.buffer(address, length));
      return digest.digest();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
