package io.holdfast.fs;

/**
 * Takes the answer to a read. Exactly one of {@link #data} and {@link #failed} is called, once,
 * from any thread, at once or much later. An implementation returns quickly and throws nothing.
 */
public interface ReadReply {
  /**
   * Answers with bytes. The implementation takes the bytes before the method returns; then the
   * memory is the caller's again.
   *
   * @param bytes fewer than were asked for only at the end of the file
   */
  void data(CheckedBytes bytes);

  /**
   * Learns, before {@link #data}, where the bytes came from while the reader waited. Not called if
   * the bytes were here already.
   */
  default void waitedFor(ReadSource source) {}

  /** Answers with a failure. */
  void failed(FsException cause);
}
