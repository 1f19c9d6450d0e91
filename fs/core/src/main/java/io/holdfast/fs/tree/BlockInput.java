package io.holdfast.fs.tree;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.util.Arrays;

/** Reads and verifies blocks that {@link BlockOutput} wrote. Not thread-safe. */
final class BlockInput {
  private static final String DAMAGED = "it is damaged: a checksum is wrong";

  private final FileChannel channel;
  private final long time;
  private final ByteBuffer block =
      ByteBuffer.allocate(BlockOutput.HEAD + BlockOutput.LONGEST).order(ByteOrder.LITTLE_ENDIAN);
  private final byte[] bytes = block.array();
  private long left;
  private int number;
  private int at;
  private int end;

  /**
   * Reads from the channel's current position.
   *
   * @param length bytes of all blocks
   * @param time the time in the file's header
   */
  BlockInput(FileChannel channel, long length, long time) {
    this.channel = channel;
    this.left = length;
    this.time = time;
  }

  /** Reads the next block; returns false at the end. */
  boolean next() throws IOException {
    if (left == 0) {
      return false;
    }
    fill(0, BlockOutput.HEAD);
    int length = block.getInt(0);
    if (length <= 0 || length > BlockOutput.LONGEST || length > left - BlockOutput.HEAD) {
      throw new IOException(DAMAGED);
    }
    fill(BlockOutput.HEAD, BlockOutput.HEAD + length);
    if (block.getInt(Integer.BYTES) != BlockOutput.checksum(time, number, bytes, length)) {
      throw new IOException(DAMAGED);
    }
    left -= BlockOutput.HEAD + length;
    number++;
    at = BlockOutput.HEAD;
    end = at + length;
    return true;
  }

  private void fill(int from, int to) throws IOException {
    readFully(channel, block.limit(to).position(from));
  }

  private static void readFully(FileChannel channel, ByteBuffer buffer) throws IOException {
    while (buffer.hasRemaining()) {
      if (channel.read(buffer) < 0) {
        throw new IOException("it is truncated");
      }
    }
  }

  /** Returns the first bytes of a file. */
  static byte[] read(FileChannel channel, int length) throws IOException {
    byte[] bytes = new byte[length];
    readFully(channel.position(0), ByteBuffer.wrap(bytes));
    return bytes;
  }

  /** Tells whether another record follows, in this block or the next one. */
  boolean hasRecord() throws IOException {
    return at < end || next();
  }

  int getByte() throws IOException {
    require(1);
    return bytes[at++] & 0xff;
  }

  long getNumber() throws IOException {
    long value = 0;
    for (int shift = 0; shift < Long.SIZE; shift += 7) {
      int next = getByte();
      value |= (next & 0x7fL) << shift;
      if (next < 0x80) {
        return value;
      }
    }
    throw new IOException("it has a number without end");
  }

  long getSigned() throws IOException {
    long value = getNumber();
    return value >>> 1 ^ -(value & 1);
  }

  byte[] getBytes() throws IOException {
    long length = getNumber();
    require(length);
    byte[] value = Arrays.copyOfRange(bytes, at, at + (int) length);
    at += (int) length;
    return value;
  }

  private void require(long count) throws IOException {
    if (count < 0 || count > end - at) {
      throw new IOException("it has a record that is not whole");
    }
  }
}
