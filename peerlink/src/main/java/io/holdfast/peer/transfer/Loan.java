package io.holdfast.peer.transfer;

/** Bytes of native memory that stay valid until they are given back. Thread-safe. */
public interface Loan extends AutoCloseable {
  /** Returns the address of the first byte. */
  long address();

  /** Returns how many bytes there are. */
  int length();

  /** Returns the SHA-256 of the bytes; may compute it. The caller does not change it. */
  byte[] sha256();

  /** Gives the memory back. Called once. */
  @Override
  void close();
}
