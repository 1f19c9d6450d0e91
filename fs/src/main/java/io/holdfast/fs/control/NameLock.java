package io.holdfast.fs.control;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import org.jspecify.annotations.Nullable;

/**
 * A daemon's claim on its name: the locked process file. The claim ends with {@link #close()} or
 * with the process.
 *
 * <p>The file may be deleted by its last holder between another's opening and locking it. So a
 * claim counts only when the path leads to the same file before opening and after locking. The file
 * must not be opened a second time by this process: closing any descriptor of it frees the lock.
 */
final class NameLock implements AutoCloseable {
  /** Others look at the lock for some microseconds; a living daemon keeps it. */
  private static final int ATTEMPTS = 20;

  private static final long PAUSE_MILLIS = 25;

  private static final FileAttribute<?> MODE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-r--r--"));

  private final Path file;
  private final FileChannel channel;

  private NameLock(Path file, FileChannel channel) {
    this.file = file;
    this.channel = channel;
  }

  static NameLock acquire(ControlDirectory directory, String name, Path mountpoint)
      throws FsException {
    Path file = directory.processFile(name);
    String text = ProcessHandle.current().pid() + "\n" + mountpoint + "\n";
    try {
      for (int i = 0; i < ATTEMPTS; i++) {
        NameLock lock = tryAcquire(file, text);
        if (lock != null) {
          return lock;
        }
        Thread.sleep(PAUSE_MILLIS);
      }
    } catch (IOException e) {
      throw new FsException(
          FsError.ACCESS_DENIED, "the process file " + file + " cannot be written: " + e, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new FsException(FsError.UNAVAILABLE, "interrupted at start", e);
    }
    throw new FsException(
        FsError.UNAVAILABLE,
        "the name '"
            + name
            + "' is in use by another mount"
            + directory.running(name).map(d -> " at " + d.mountpoint()).orElse("")
            + ": choose another one with --name");
  }

  private static @Nullable NameLock tryAcquire(Path file, String text) throws IOException {
    FileChannel channel;
    Object key;
    try {
      if (Files.notExists(file)) {
        Files.createFile(file, MODE);
      }
      key = fileKey(file);
      channel = FileChannel.open(file, StandardOpenOption.WRITE);
    } catch (FileAlreadyExistsException | NoSuchFileException e) {
      return null;
    }
    try {
      if (ControlDirectory.tryLock(channel, false) != null && key.equals(fileKey(file))) {
        channel.truncate(0);
        channel.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)), 0);
        return new NameLock(file, channel);
      }
    } catch (NoSuchFileException e) {
      // Its last holder has just deleted it.
    } catch (IOException e) {
      channel.close();
      throw e;
    }
    channel.close();
    return null;
  }

  private static Object fileKey(Path file) throws IOException {
    return Files.readAttributes(file, BasicFileAttributes.class).fileKey();
  }

  /** Removes the file and gives the name free. */
  @Override
  public void close() throws IOException {
    Files.deleteIfExists(file);
    channel.close();
  }
}
