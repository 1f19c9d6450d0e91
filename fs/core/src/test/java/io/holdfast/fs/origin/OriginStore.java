package io.holdfast.fs.origin;

import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * The changes that the contract test makes behind an origin's back. Makes directories as needed.
 */
interface OriginStore {
  /** Makes a new file take a name, also one that is taken. */
  void file(byte[] path, byte[] content) throws IOException;

  void directory(byte[] path) throws IOException;

  void remove(byte[] path) throws IOException;

  /** Returns how many files and directories the origin holds open. */
  long open() throws IOException;

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
