package io.holdfast.fs.control;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import org.jspecify.annotations.Nullable;

/**
 * A daemon's claim on its name: the locked lock file. The claim ends with {@link #close()} or with
 * the process. The kernel keeps the lock of a killed daemon while one of its threads waits for a
 * source that does not answer; the next daemon makes a new lock file then. Only the daemon's user
 * may open the lock file: any process that can read a file can lock it, and would take the name
 * between the end of one daemon and the start of the next. The process file beside it is readable
 * by all.
 *
 * <p>The last holder may delete the lock file after another process has opened it and before that
 * process locks it. So a claim is valid only if the path leads to the same file before opening and
 * after locking. This process must not open the file a second time: closing any descriptor of the
 * file releases the lock.
 */
final class NameLock implements AutoCloseable {
  /**
   * Attempts to lock. A process that checks a lock holds it for some microseconds; a living daemon
   * keeps it.
   */
  static final int ATTEMPTS = 20;

  private static final long PAUSE_MILLIS = 25;

  private static final FileAttribute<?> OF_OWNER =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  private static final FileAttribute<?> FOR_ALL =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-r--r--"));

  private final Path file;
  private final Path processFile;
  private final FileChannel channel;

  private NameLock(Path file, Path processFile, FileChannel channel) {
    this.file = file;
    this.processFile = processFile;
    this.channel = channel;
  }

  static NameLock acquire(ControlDirectory directory, String name, Path mountpoint)
      throws FsException {
    Path file = directory.lockFile(name);
    Path processFile = directory.processFile(name);
    try {
      NameLock lock = keepTrying(file, processFile);
      if (lock == null && directory.isHeldByTheDead(name)) {
        // a new file is another file: the lock of the old one means nothing any more
        Files.deleteIfExists(file);
        lock = tryAcquire(file, processFile);
      }
      if (lock != null) {
        lock.tellFirst(mountpoint);
        return lock;
      }
    } catch (InterruptedIOException e) {
      throw new FsException(FsError.UNAVAILABLE, "interrupted at start", e);
    } catch (IOException e) {
      throw new FsException(
          FsError.ACCESS_DENIED, "the files of the name '" + name + "' cannot be written: " + e, e);
    }
    throw new FsException(
        FsError.UNAVAILABLE,
        "the name '"
            + name
            + "' is in use by another mount"
            + directory.running(name).map(d -> " at " + d.mountpoint()).orElse("")
            + ": choose another one with --name");
  }

  private static @Nullable NameLock keepTrying(Path file, Path processFile) throws IOException {
    for (int i = 0; i < ATTEMPTS; i++) {
      NameLock lock = tryAcquire(file, processFile);
      if (lock != null) {
        return lock;
      }
      pause();
    }
    return null;
  }

  /** Waits until a process that only checks a lock has released it. */
  static void pause() throws InterruptedIOException {
    try {
      Thread.sleep(PAUSE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while another looks at a lock");
    }
  }

  private static @Nullable NameLock tryAcquire(Path file, Path processFile) throws IOException {
    FileChannel channel;
    Object key;
    try {
      if (Files.notExists(file)) {
        Files.createFile(file, OF_OWNER);
      }
      key = fileKey(file);
      channel = FileChannel.open(file, StandardOpenOption.WRITE);
    } catch (FileAlreadyExistsException | NoSuchFileException e) {
      return null;
    }
    try {
      if (ControlDirectory.tryLock(channel, false) != null && key.equals(fileKey(file))) {
        return new NameLock(file, processFile, channel);
      }
    } catch (NoSuchFileException e) {
      // The last holder has just deleted it.
    } catch (IOException e) {
      channel.close();
      throw e;
    }
    channel.close();
    return null;
  }

  private void tellFirst(Path mountpoint) throws IOException {
    try {
      tell(mountpoint);
    } catch (IOException e) {
      close();
      throw e;
    }
  }

  /**
   * Writes the process file atomically: a process that looks for the daemon meanwhile finds the
   * previous file, and never none.
   */
  void tell(Path mountpoint) throws IOException {
    Path next = ControlDirectory.next(processFile);
    Files.deleteIfExists(next);
    Files.createFile(next, FOR_ALL);
    Files.writeString(next, ProcessHandle.current().pid() + "\n" + mountpoint + "\n");
    Files.move(next, processFile, StandardCopyOption.ATOMIC_MOVE);
  }

  private static Object fileKey(Path file) throws IOException {
    return Files.readAttributes(file, BasicFileAttributes.class).fileKey();
  }

  /** Removes the files and releases the name. */
  @Override
  public void close() throws IOException {
    try (channel) {
      Files.deleteIfExists(processFile);
      Files.deleteIfExists(file);
    }
  }
}
