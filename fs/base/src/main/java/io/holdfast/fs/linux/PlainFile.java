package io.holdfast.fs.linux;

import static io.holdfast.fs.linux.Libc.LIBC;

import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Opens files in a directory where another user may put anything: a pipe, whose open waits for a
 * writer for ever, a device without an end, or a link to either. Stateless.
 */
public final class PlainFile {
  private PlainFile() {}

  /**
   * Opens a regular file for reading. Waits for nobody, and follows no symlink that has the file's
   * name.
   *
   * @throws IOException if it is no regular file, or cannot be opened
   */
  public static FileChannel open(Path file) throws IOException {
    long path = Linux.scratch().path();
    Memory.putString(path, Linux.pathBytes(file.toString()));
    // such a descriptor is of the file alone: the open neither waits nor has the file do anything
    int flags = Linux.O_PATH | Linux.O_NOFOLLOW | Linux.O_CLOEXEC;
    int fd = LIBC.openat(Linux.AT_FDCWD, path, flags, 0);
    if (fd < 0) {
      throw new IOException(file + ": " + Linux.describe(Linux.errno()));
    }
    try {
      return open(fd, file);
    } finally {
      LIBC.close(fd);
    }
  }

  /**
   * Opens the file that a descriptor is of.
   *
   * @param place a descriptor with O_PATH; stays the caller's
   * @param file for messages
   */
  static FileChannel open(int place, Path file) throws IOException {
    Path opened = Path.of(Linux.descriptorPath(place));
    if (!Files.isRegularFile(opened)) {
      throw new IOException(file + ": no regular file");
    }
    return FileChannel.open(opened, StandardOpenOption.READ);
  }

  /**
   * Returns the text of a small regular file.
   *
   * @param most the most bytes that it may have
   * @throws IOException if it is larger or no regular file, or cannot be read
   */
  public static String text(Path file, int most) throws IOException {
    try (InputStream in = Channels.newInputStream(open(file))) {
      return text(in, file, most);
    }
  }

  static String text(InputStream in, Path file, int most) throws IOException {
    byte[] bytes = in.readNBytes(most + 1);
    if (bytes.length > most) {
      throw new IOException("%s: larger than %d bytes".formatted(file, most));
    }
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
