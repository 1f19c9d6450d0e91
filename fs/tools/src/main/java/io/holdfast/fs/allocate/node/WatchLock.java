package io.holdfast.fs.allocate.node;

import static io.holdfast.fs.linux.Libc.LIBC;

import io.holdfast.fs.FsException;
import io.holdfast.fs.control.ControlDirectory;
import io.holdfast.fs.host.CliException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Keeps a second {@code holdfast allocate --watch} of the same user from running: each would take
 * the other's steps for somebody's who knows better, and never judge its own. The kernel ends the
 * lock of the file {@code allocate.watch} with the process. Not thread-safe.
 */
public final class WatchLock implements AutoCloseable {
  private static final String FILE = "allocate.watch";

  private final int file;

  private WatchLock(int file) {
    this.file = file;
  }

  /**
   * Takes the lock.
   *
   * @throws CliException when another process has it
   * @throws FsException when there can be no control directory
   */
  public static WatchLock take(ControlDirectory control) throws FsException {
    control.create();
    Path path = control.path().resolve(FILE);
    try {
      int file = Reservations.open(path);
      if (LIBC.flock(file, Reservations.LOCK_EXCLUSIVE_NOW) != 0) {
        LIBC.close(file);
        throw CliException.couldNot(
            "'holdfast allocate --watch' runs already, as process %s: end that first"
                .formatted(Files.readString(path).strip()));
      }
      Files.writeString(path, ProcessHandle.current().pid() + "\n");
      return new WatchLock(file);
    } catch (IOException e) {
      throw CliException.couldNot(
          "'%s' cannot be written, which keeps a second --watch away: %s"
              .formatted(path, e.getMessage()),
          e);
    }
  }

  @Override
  public void close() {
    LIBC.close(file);
  }
}
