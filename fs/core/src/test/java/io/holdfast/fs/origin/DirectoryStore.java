package io.holdfast.fs.origin;

import java.io.IOException;

/** A store that has directories, and what comes with them. */
interface DirectoryStore extends OriginStore {
  void symlink(byte[] path, byte[] target) throws IOException;

  void fifo(byte[] path) throws IOException;

  /** Adds to a file, which stays the same one. */
  void append(byte[] path, byte[] content) throws IOException;

  /** Writes over a file from its beginning, which stays the same one and as long. */
  void overwrite(byte[] path, byte[] content) throws IOException;

  void attribute(byte[] path, String name, byte[] value) throws IOException;
}
