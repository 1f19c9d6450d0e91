package io.holdfast.fs.plot;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.UUID;

/** A file that is written as a whole, or stays as it is. Immutable. */
public record WholeFile(Path path) {
  /**
   * Names a file, and checks that it can be written. Writes nothing.
   *
   * @throws IllegalArgumentException if it cannot
   */
  public static WholeFile of(String text) {
    Path file;
    try {
      file = Path.of(text).toAbsolutePath();
    } catch (InvalidPathException e) {
      throw new IllegalArgumentException("'" + text + "' is no file's name: choose another", e);
    }
    Path folder = file.resolveSibling("");
    if (!Files.isDirectory(folder)) {
      throw new IllegalArgumentException(
          "'" + text + "' is in a folder that does not exist: make it first, or choose another");
    }
    if (Files.isDirectory(file)) {
      throw new IllegalArgumentException("'" + text + "' is a directory: give a file");
    }
    if (!Files.isWritable(folder) || (Files.exists(file) && !Files.isWritable(file))) {
      throw new IllegalArgumentException(
          "'" + text + "' cannot be written: choose another place, or check the permissions");
    }
    return new WholeFile(file);
  }

  /** Writes the file. */
  public void write(byte[] bytes) throws IOException {
    Path temporary = path.resolveSibling("." + path.getFileName() + "." + UUID.randomUUID());
    try {
      Files.write(temporary, bytes, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
      Files.move(temporary, path, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(temporary);
    }
  }
}
