package io.holdfast.fs.linux;

import com.kenai.jffi.MemoryIO;
import java.nio.ByteBuffer;

/**
 * Raw access to native memory by address. Thread-safe as memory is: callers order their own
 * accesses. An address outside the caller's own allocations ends the process, as in C.
 */
public final class Memory {
  private static final MemoryIO IO = MemoryIO.getInstance();

  private Memory() {}

  /** Reads an unsigned byte. */
  public static int getByte(long address) {
    return IO.getByte(address) & 0xff;
  }

  /** Reads an unsigned 16-bit number in the machine's order. */
  public static int getShort(long address) {
    return IO.getShort(address) & 0xffff;
  }

  /** Reads a 32-bit number in the machine's order. */
  public static int getInt(long address) {
    return IO.getInt(address);
  }

  /** Reads a 64-bit number in the machine's order. */
  public static long getLong(long address) {
    return IO.getLong(address);
  }

  /** Writes a byte. */
  public static void putByte(long address, int value) {
    IO.putByte(address, (byte) value);
  }

  /** Writes a 16-bit number in the machine's order. */
  public static void putShort(long address, int value) {
    IO.putShort(address, (short) value);
  }

  /** Writes a 32-bit number in the machine's order. */
  public static void putInt(long address, int value) {
    IO.putInt(address, value);
  }

  /** Writes a 64-bit number in the machine's order. */
  public static void putLong(long address, long value) {
    IO.putLong(address, value);
  }

  /** Copies {@code length} bytes between two places that do not overlap. */
  public static void copy(long from, long to, long length) {
    IO.copyMemory(from, to, length);
  }

  /** Fills {@code length} bytes with zeroes. */
  public static void clear(long address, long length) {
    IO.setMemory(address, length, (byte) 0);
  }

  /** Copies {@code length} bytes to a new array. */
  public static byte[] bytes(long address, int length) {
    byte[] bytes = new byte[length];
    IO.getByteArray(address, bytes, 0, length);
    return bytes;
  }

  /** Copies bytes into an array, from an offset on. */
  public static void get(long address, byte[] to, int offset, int length) {
    IO.getByteArray(address, to, offset, length);
  }

  /** Copies a NUL-terminated string's bytes, without the NUL, to a new array. */
  public static byte[] string(long address) {
    return bytes(address, (int) IO.getStringLength(address));
  }

  /** Returns a buffer over {@code length} bytes, which does not keep them alive. */
  public static ByteBuffer buffer(long address, int length) {
    return IO.newDirectByteBuffer(address, length);
  }

  /** Tells whether the memory holds the bytes of an array. */
  public static boolean equal(long address, byte[] bytes) {
    for (int i = 0; i < bytes.length; i++) {
      if (IO.getByte(address + i) != bytes[i]) {
        return false;
      }
    }
    return true;
  }

  /** Writes the bytes and a NUL behind them. */
  public static void putString(long address, byte[] bytes) {
    put(address, bytes, 0, bytes.length);
    IO.putByte(address + bytes.length, (byte) 0);
  }

  /** Writes a part of an array. */
  public static void put(long address, byte[] bytes, int offset, int length) {
    IO.putByteArray(address, bytes, offset, length);
  }
}
