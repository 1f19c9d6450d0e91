package io.holdfast.fs.linux;

import static io.holdfast.fs.linux.Libc.LIBC;

import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;

/**
 * A directory that another user owns, in one that the user owns too, such as {@code
 * /run/user/1000}. The user may have put a symlink in any place there, or a filesystem of their own
 * that never answers. So no symlink is followed, no mount is crossed, and nothing waits. Used by
 * one thread.
 */
public final class ForeignDirectory implements AutoCloseable {
  private static final int PLACE = Linux.O_PATH | Linux.O_NOFOLLOW | Linux.O_CLOEXEC;

  private final Path directory;
  private final int fd;

  private ForeignDirectory(Path directory, int fd) {
    this.directory = directory;
    this.fd = fd;
  }

  /**
   * Opens a directory.
   *
   * @throws IOException if it is not there, is no directory, or is on another filesystem than its
   *     parent
   */
  public static ForeignDirectory open(Path directory) throws IOException {
    Path parent = directory.toAbsolutePath().getParent();
    if (parent == null) {
      throw new IOException(directory + ": in no directory");
    }
    int above = check(Linux.openDirectory(parent), parent);
    try {
      if (isFuse(above)) {
        throw new IOException(parent + ": on a file system of a user's own");
      }
      byte[] name = Linux.pathBytes(String.valueOf(directory.getFileName()));
      int fd = Linux.openOnSameMount(above, name, PLACE | Linux.O_DIRECTORY);
      return new ForeignDirectory(directory, check(fd, directory));
    } finally {
      LIBC.close(above);
    }
  }

  /** In doubt, it is one: a user may have mounted and unmounted it meanwhile. */
  private static boolean isFuse(int opened) throws IOException {
    int number = Linux.mountNumber(opened);
    return MountTable.read().numbered(number).map(MountTable.Mount::isFuse).orElse(true);
  }

  private static int check(int fd, Path path) throws IOException {
    if (fd < 0) {
      throw new IOException(path + ": " + Linux.describe(-fd));
    }
    return fd;
  }

  /** Returns a path that leads to this directory itself, for as long as it is open. */
  public Path path() {
    return Path.of(Linux.descriptorPath(fd));
  }

  /**
   * Opens a regular file for reading.
   *
   * @param file relative
   * @throws IOException if it is no regular file, or cannot be opened
   */
  public FileChannel open(String file) throws IOException {
    int place = place(file);
    try {
      return PlainFile.open(place, directory.resolve(file));
    } finally {
      LIBC.close(place);
    }
  }

  /**
   * Returns the text of a small regular file.
   *
   * @param file relative
   * @param most the most bytes that it may have
   * @throws IOException if it is larger or no regular file, or cannot be read
   */
  public String text(String file, int most) throws IOException {
    try (InputStream in = Channels.newInputStream(open(file))) {
      return PlainFile.text(in, directory.resolve(file), most);
    }
  }

  /** Returns when an entry was changed last. */
  public FileTime modified(String file) throws IOException {
    int place = place(file);
    try {
      return Files.getLastModifiedTime(Path.of(Linux.descriptorPath(place)));
    } finally {
      LIBC.close(place);
    }
  }

  private int place(String file) throws IOException {
    return check(Linux.openOnSameMount(fd, Linux.pathBytes(file), PLACE), directory.resolve(file));
  }

  @Override
  public void close() {
    LIBC.close(fd);
  }
}
