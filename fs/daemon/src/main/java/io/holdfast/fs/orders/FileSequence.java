package io.holdfast.fs.orders;

import java.util.ArrayList;
import java.util.List;

/**
 * The ids of files, one after the other, in 5 bytes each: an order may have ten million. Not
 * thread-safe while it is filled; then any thread may read it.
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

  int size() {
    return size;
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
