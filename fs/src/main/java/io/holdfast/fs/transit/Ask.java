package io.holdfast.fs.transit;

import io.holdfast.fs.ReadReply;

/**
 * What a reader asks of an item. Immutable.
 *
 * @param item the whole item
 * @param offset first byte, within the item
 * @param length bytes
 * @param reader who reads
 * @param goesOn whether the reader's last read was of this item too; its pages may have been
 *     dropped before it got to them
 * @param reply where the answer goes
 * @param deadline when the reader must have an answer, as the clock of nanoseconds tells it
 */
record Ask(
    Item item,
    int offset,
    int length,
    Reader reader,
    boolean goesOn,
    ReadReply reply,
    long deadline) {
  boolean isForPeer() {
    return reply instanceof Borrower;
  }

  /** Tells whether it is not for an application: then parts of the item are of no use. */
  boolean wantsWhole() {
    return isForPeer() || reader.internal();
  }

  int end() {
    return offset + length;
  }

  /** Returns a part of this ask, whose answer goes elsewhere. */
  Ask part(int from, int to, ReadReply answer) {
    return new Ask(item, from, to - from, reader, goesOn, answer, deadline);
  }
}
