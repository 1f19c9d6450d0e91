package io.holdfast.fs.transit;

import io.holdfast.fs.CheckedBytes;
import io.holdfast.fs.linux.Memory;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** Bytes of native memory that stay valid until they are given back. Thread-safe. */
public interface Loan {
  /** Returns the bytes. */
  CheckedBytes bytes();

  /** Returns the SHA-256 of the bytes; the caller does not change it. */
  byte[] checksum();

  /** Gives the memory back. Called once. */
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
