package io.holdfast.fs.origin;

import io.holdfast.fs.FsException;

/** A regular file of the origin, open for reading. Used by one thread at a time. */
public interface OriginFile extends AutoCloseable {
  /**
   * Returns the version of the content as it is now. A caller compares it after each read: if it is
   * the version that the caller knew before it opened the file, the bytes are of that version.
   *
   * @throws FsException STALE where this is no regular file
   */
  Version version() throws FsException;

  /**
   * Returns the version as {@link #version()} does, but asks the store itself, where a cache on the
   * way may have the version of before the file was opened. Costs a round trip there.
   *
   * @throws FsException STALE where this is no regular file
   */
  default Version storedVersion() throws FsException {
    return version();
  }

  /**
   * Reads until the length is reached or the file ends.
   *
   * @param offset first byte
   * @param address native memory with room for {@code length} bytes
   * @return bytes read; fewer than {@code length} only at the end of the file
   */
  int read(long offset, long address, int length) throws FsException;

  /**
   * Tells the store that this range will not be read again here, so that it holds no second copy of
   * it in memory.
   */
  void discard(long offset, long length);

  @Override
  void close();
}
