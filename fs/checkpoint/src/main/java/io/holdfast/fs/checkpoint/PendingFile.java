package io.holdfast.fs.checkpoint;

import io.holdfast.fs.checkpoint.PendingOperations.Pending;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A file of the front with bytes that the store does not have durably: which ranges of it are still
 * as they were written, and by which operation. Ranges do not overlap; what a later operation
 * destroys is cut out first. Not thread-safe; the {@link Front} guards it.
 */
final class PendingFile {
  /** A range of the file that is as an operation wrote it. */
  record Piece(Pending write, long offset, int length) {
    long end() {
      return offset + length;
    }
  }

  private final TreeMap<Long, Piece> pieces = new TreeMap<>();
  private int writes;
  private boolean isSynced;

  /** Notes a write, whose range must be free. */
  void add(Pending pending, Operation.Write write) {
    pieces.put(write.offset(), new Piece(pending, write.offset(), write.length()));
    writes++;
    isSynced = false;
  }

  boolean isSynced() {
    return isSynced;
  }

  /** Notes whether the bytes survive a crash of the machine; returns whether that is new. */
  boolean setSynced(boolean synced) {
    boolean isNew = synced != isSynced;
    isSynced = synced;
    return isNew;
  }

  /** Notes that a write is durable, or did not happen; returns whether it was the last one. */
  boolean remove(Pending pending, Operation.Write write) {
    pieces.subMap(write.offset(), write.end()).values().removeIf(p -> p.write() == pending);
    writes--;
    return writes == 0;
  }

  /** Returns the pieces that have bytes in a range. */
  List<Piece> overlapping(long from, long to) {
    Map.Entry<Long, Piece> before = pieces.floorEntry(from);
    long first = before != null && before.getValue().end() > from ? before.getKey() : from;
    return first >= to ? List.of() : List.copyOf(pieces.subMap(first, to).values());
  }

  /** Returns how many bytes of a range the pieces have. */
  long bytes(long from, long to) {
    return overlapping(from, to).stream()
        .mapToLong(piece -> Math.min(to, piece.end()) - Math.max(from, piece.offset()))
        .sum();
  }

  /** Takes a range out of the pieces. */
  void cut(long from, long to) {
    for (Piece piece : overlapping(from, to)) {
      pieces.remove(piece.offset());
      if (piece.offset() < from) {
        int length = (int) (from - piece.offset());
        pieces.put(piece.offset(), new Piece(piece.write(), piece.offset(), length));
      }
      if (piece.end() > to) {
        pieces.put(to, new Piece(piece.write(), to, (int) (piece.end() - to)));
      }
    }
  }
}
