package io.holdfast.fs.transit;

import io.holdfast.fs.linux.Memory;
import java.util.zip.CRC32C;

/** Bytes of native memory that stay valid until they are given back. Thread-safe. */
public interface Loan {
  /** Returns the address of the first byte. */
  long address();

  /** Returns how many bytes there are. */
  int length();

  /** Returns the CRC32C (RFC 3720) of the bytes. */
  int checksum();

  /** Gives the memory back. Called once. */
  void release();

  /** Computes the CRC32C of native memory; some 0.1 ms a MiB. */
  static int checksum(long address, int length) {
    CRC32C crc = new CRC32C();
    crc.update(Memory.buffer(address, length));
    return (int) crc.getValue();
  }
}
