package io.holdfast.fs.plot;

import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;

/**
 * A file that is written as a whole, or stays as it is. Another file takes its place, so it must be
 * a plain one: a device or a link would be gone, for all programs where root writes. Immutable.
 */
public record WholeFile(Path path) {
  private static final Set<StandardOpenOption> NEW_FILE =
      Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);

  /** Belongs to the user that runs this process. */
  private static final Path OWN_PROCESS = Path.of("/proc/self");

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
    if (Files.isSymbolicLink(file)) {
      throw new IllegalArgumentException("'" + text + "' is a link: name the file itself");
    }
    if (Files.exists(file) && !Files.isRegularFile(file)) {
      throw new IllegalArgumentException("'" + text + "' is no regular file: give another");
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

  /** Writes the file. Users who could not read the file before still cannot. */
  public void write(byte[] bytes) throws IOException {
    Path temporary = temporary();
    try {
      try (WritableByteChannel channel = Files.newByteChannel(temporary, NEW_FILE, rights())) {
        Channels.newOutputStream(channel).write(bytes);
      }
      Files.move(temporary, path, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(temporary);
    }
  }

  private FileAttribute<?> rights() throws IOException {
    Set<PosixFilePermission> rights = PosixFilePermissions.fromString("rw-rw-rw-");
    try {
      Map<String, Object> is =
          Files.readAttributes(path, "unix:uid,permissions", LinkOption.NOFOLLOW_LINKS);
      if (Objects.equals(is.get("uid"), Files.getAttribute(OWN_PROCESS, "unix:uid"))
          && is.get("permissions") instanceof Set<?> permissions) {
        rights.retainAll(permissions);
      }
    } catch (NoSuchFileException e) {
      // a new file
    }
    return PosixFilePermissions.asFileAttribute(rights);
  }
}
