package io.holdfast.peer.transfer;

/** Bytes of native memory that stay valid until the lease is closed. Thread-safe. */
public interface BufferLease extends AutoCloseable {
  /** Returns the address of the first byte. */
  long address();

  /** Returns the number of bytes. */
  int length();

  /** Returns the SHA-256 of the bytes; may compute it. The caller must not change the array. */
  byte[] sha256();

  /** Releases the memory. Called once. */
  @Override
  void close();
}
