package io.holdfast.fs.tree;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.util.zip.CRC32C;

/** Writes records in blocks; {@link TreeImage} describes the layout. Not thread-safe. */
final class BlockOutput {
  /** Most bytes of records in a block. */
  static final int LONGEST = 256 << 10;

  /** More than any record takes: a name, an etag and some numbers. */
  private static final int LONGEST_RECORD = 68 << 10;

  static final int HEAD = 8;
  private static final int CHECKSUM_AT = 4;
  private static final int MORE = 0x80;

  private final FileChannel channel;
  private final long time;
  private final ByteBuffer block =
      ByteBuffer.allocate(HEAD + LONGEST).order(ByteOrder.LITTLE_ENDIAN).position(HEAD);
  private final byte[] bytes = block.array();
  private int at = HEAD;
  private int number;

  BlockOutput(FileChannel channel, long time) {
    this.channel = channel;
    this.time = time;
  }

  /** Starts a new block if the next record may not fit. Called before each record. */
  void beginRecord() throws IOException {
    if (at + LONGEST_RECORD > bytes.length) {
      flush();
    }
  }

  void putByte(int value) {
    bytes[at++] = (byte) value;
  }

  void putNumber(long value) {
    long rest = value;
    while ((rest & -MORE) != 0) {
      bytes[at++] = (byte) (rest | MORE);
      rest >>>= 7;
    }
    bytes[at++] = (byte) rest;
  }

  void putSigned(long value) {
    putNumber(value << 1 ^ value >> 63);
  }

  void putBytes(byte[] value) {
    putNumber(value.length);
    System.arraycopy(value, 0, bytes, at, value.length);
    at += value.length;
  }

  /** Writes the current block, if it has records. */
  void flush() throws IOException {
    if (at == HEAD) {
      return;
    }
    int length = at - HEAD;
    block.putInt(0, length);
    block.putInt(CHECKSUM_AT, checksum(time, number, bytes, length));
    writeFully(channel, block.position(0).limit(at));
    block.clear();
    at = HEAD;
    number++;
  }

  /** Computes the checksum of a block; its records follow its head. */
  static int checksum(long time, int number, byte[] block, int length) {
    ByteBuffer place = ByteBuffer.allocate(Long.BYTES + 2 * Integer.BYTES);
    place.order(ByteOrder.LITTLE_ENDIAN).putLong(time).putInt(number).putInt(length).flip();
    CRC32C crc = new CRC32C();
    crc.update(place);
    crc.update(block, HEAD, length);
    return (int) crc.getValue();
  }

  static void writeFully(FileChannel channel, ByteBuffer buffer) throws IOException {
    while (buffer.hasRemaining()) {
      channel.write(buffer);
    }
  }
}
