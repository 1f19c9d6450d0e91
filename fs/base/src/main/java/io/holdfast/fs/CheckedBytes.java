package io.holdfast.fs;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Native memory on its way to the kernel (for a reader or for its page cache) or to a peer. A reply
 * takes nothing else. Only this class makes such bytes, and it compares them with what was asked
 * for first: the memory must hold the same item in the same version, and every byte that was asked
 * for. So an error in a table or in arithmetic elsewhere fails a read, and never shows foreign
 * bytes.
 *
 * <p>Immutable. The memory belongs to its owner, which decides how long it stays.
 */
public final class CheckedBytes {
  /** No bytes: the end of a file. */
  public static final CheckedBytes NOTHING = new CheckedBytes(0, 0);

  private static final Logger log = LoggerFactory.getLogger(CheckedBytes.class);

  private final long address;
  private final int length;

  private CheckedBytes(long address, int length) {
    this.address = address;
    this.length = length;
  }

  /**
   * Hands over a part of an item.
   *
   * @param asked the item that is asked for, or a part of it
   * @param from first byte, within the range that is asked for
   * @param length bytes
   * @param held what the memory holds
   * @param memory address of the first byte that is held
   * @throws FsException IO if the memory does not hold these bytes; the log has an error then
   */
  public static CheckedBytes of(ItemRange asked, int from, int length, ItemRange held, long memory)
      throws FsException {
    long place = place(asked, from, length, held);
    if (place < 0) {
      throw refused(
          "%s, %d bytes from %d on, asked of memory of %s"
              .formatted(describe(asked), length, from, describe(held)));
    }
    return within(memory, held.length(), place, length);
  }

  /**
   * Returns the offset of the bytes within the memory that is held, or -1 if not all of them are
   * there.
   */
  static long place(ItemRange asked, int from, int length, ItemRange held) {
    boolean same = asked.key().equals(held.key()) && asked.version().equals(held.version());
    boolean isPart = from >= 0 && length >= 0 && from <= (long) asked.length() - length;
    if (!same || !isPart || asked.offset() < 0 || held.offset() < 0) {
      return -1;
    }
    long shift = asked.offset() - held.offset(); // exact: neither is negative
    if (Math.abs(shift) > Integer.MAX_VALUE) {
      return -1;
    }
    long place = shift + from;
    return place >= 0 && place <= (long) held.length() - length ? place : -1;
  }

  /**
   * Hands over a part of memory that holds only what was asked for.
   *
   * @param memory its address
   * @param held how many bytes there are
   * @param from first byte, within them
   * @param length bytes
   * @throws FsException IO if the memory has fewer bytes; the log has an error then
   */
  public static CheckedBytes within(long memory, int held, long from, int length)
      throws FsException {
    if (memory == 0 || from < 0 || length < 0 || from > (long) held - length) {
      throw refused("%d bytes from %d on, of %d at %x".formatted(length, from, held, memory));
    }
    return new CheckedBytes(memory + from, length);
  }

  private static FsException refused(String what) {
    FsException refused = new FsException(FsError.IO, "not handed over: " + what);
    log.error("a read was about to get foreign bytes, and fails: {}", what, refused);
    return refused;
  }

  private static String describe(ItemRange range) {
    return "item %s of %s [%d,+%d]"
        .formatted(range.key(), range.version(), range.offset(), range.length());
  }

  /** Returns the address of the first byte. */
  public long address() {
    return address;
  }

  /** Returns how many bytes there are. */
  public int length() {
    return length;
  }
}
