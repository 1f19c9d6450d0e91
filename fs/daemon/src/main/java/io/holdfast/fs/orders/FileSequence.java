package io.holdfast.fs.orders;

import java.io.DataInputStream;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * The ids of files, one after the other, in 5 bytes each once it is {@linkplain #trim trimmed}: an
 * order may have ten million. Not thread-safe while it is filled; then any thread may read it.
 */
final class FileSequence {
  /** The largest id: no mount gives so many. */
  static final long LARGEST = (1L << 40) - 1;

  private static final int BYTES = 5;
  private static final int IDS = 1 << 14;

  private final List<byte[]> pieces = new ArrayList<>();
  private int size;

  /** Adds an id, which is from 0 to {@link #LARGEST}. */
  void add(long id) {
    if (id < 0 || id > LARGEST) {
      throw new IllegalArgumentException("no id of a file: " + id);
    }
    if (size % IDS == 0) {
      pieces.add(new byte[IDS * BYTES]);
    }
    byte[] piece = pieces.get(size / IDS);
    int at = size % IDS * BYTES;
    for (int i = 0; i < BYTES; i++) {
      piece[at + i] = (byte) (id >>> (8 * i));
    }
    size++;
  }

  /** Gives back the memory that no id takes. No id may be added afterwards. */
  void trim() {
    int last = pieces.size() - 1;
    if (last >= 0) {
      pieces.set(last, Arrays.copyOf(pieces.get(last), (size - last * IDS) * BYTES));
    }
  }

  int size() {
    return size;
  }

  /** Returns how many bytes {@link #write} writes. */
  long bytes() {
    return Integer.BYTES + (long) size * BYTES + Long.BYTES;
  }

  /** Writes all, with a checksum, for {@link #read}. */
  void write(DataOutput out) throws IOException {
    CRC32C checksum = new CRC32C();
    out.writeInt(size);
    for (int from = 0; from < size; from += IDS) {
      int length = Math.min(size - from, IDS) * BYTES;
      out.write(pieces.get(from / IDS), 0, length);
      checksum.update(pieces.get(from / IDS), 0, length);
    }
    out.writeLong(checksum.getValue());
  }

  /**
   * Reads what was written.
   *
   * @throws IOException if that is damaged, or nothing
   */
  static FileSequence read(DataInputStream in) throws IOException {
    CRC32C checksum = new CRC32C();
    FileSequence read = new FileSequence();
    read.size = in.readInt();
    for (int from = 0; from < read.size; from += IDS) {
      byte[] piece = new byte[Math.min(read.size - from, IDS) * BYTES];
      in.readFully(piece);
      checksum.update(piece);
      read.pieces.add(piece);
    }
    if (read.size <= 0 || in.readLong() != checksum.getValue()) {
      throw new IOException("the files of a pass are damaged");
    }
    return read;
  }

  long get(int index) {
    byte[] piece = pieces.get(index / IDS);
    int at = index % IDS * BYTES;
    long id = 0;
    for (int i = 0; i < BYTES; i++) {
      id |= (piece[at + i] & 0xffL) << (8 * i);
    }
    return id;
  }
}
