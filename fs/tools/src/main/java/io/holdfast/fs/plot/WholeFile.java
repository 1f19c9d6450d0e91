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
   * Names a file, and checks that it can be written: makes a file beside it, and removes that.
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
    WholeFile whole = new WholeFile(file);
    if (!whole.isWritable()) {
      throw new IllegalArgumentException(
          "'" + text + "' cannot be written: choose another place, or check the permissions");
    }
    return whole;
  }

  private boolean isWritable() {
    if (Files.exists(path) && !Files.isWritable(path)) {
      return false;
    }
    try {
      Path temporary = temporary();
      Files.createFile(temporary);
      Files.delete(temporary);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  private Path temporary() {
    return path.resolveSibling("." + path.getFileName() + "." + UUID.randomUUID());
  }

  /** Writes the file. */
  public void write(byte[] bytes) throws IOException {
    Path temporary = temporary();
    try {
      Files.write(temporary, bytes, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
      Files.move(temporary, path, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(temporary);
    }
  }
}
