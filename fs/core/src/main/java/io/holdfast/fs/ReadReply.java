package io.holdfast.fs;

/**
 * Where the answer to a read goes. Exactly one of the two methods is called, once, from any thread,
 * at once or much later; an implementation returns quickly and throws nothing.
 */
public interface ReadReply {
  /**
   * Answers with bytes. They are taken before the method returns; the memory belongs to the caller
   * again afterwards.
   *
   * @param bytes fewer than were asked for only at the end of the file
   */
  void data(CheckedBytes bytes);

  /**
   * Learns, before {@link #data}, what the bytes came from while the reader waited. Not called
   * where they were here already.
   */
  default void waitedFor(ReadSource source) {}

  /** Answers with a failure. */
  void failed(FsException cause);
}
