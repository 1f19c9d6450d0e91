package io.holdfast.fs.transit;

/**
 * A read of a range within one item. Immutable.
 *
 * @param item the whole item
 * @param offset first byte, within the item
 * @param length bytes
 * @param reader the reader
 * @param goesOn whether the reader's last read was of the same item; the kernel may have dropped
 *     the item's pages before the reader got to them
 * @param borrower takes the answer
 * @param deadline time by which the reader must have an answer, on the clock of nanoseconds
 */
record Ask(
    Item item,
    int offset,
    int length,
    Reader reader,
    boolean goesOn,
    Borrower borrower,
    long deadline) {
  boolean isForPeer() {
    return reader.kind() == Reader.Kind.PEER;
  }

  /** Tells whether the reader needs the whole item fetched. */
  boolean wantsWhole() {
    return reader.internal();
  }

  int end() {
    return offset + length;
  }

  /** Returns the part of this read for another borrower. */
  Ask part(int from, int to, Borrower answer) {
    return new Ask(item, from, to - from, reader, goesOn, answer, deadline);
  }
}
