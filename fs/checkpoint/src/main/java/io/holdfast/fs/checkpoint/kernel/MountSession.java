package io.holdfast.fs.checkpoint.kernel;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Optional;

/**
 * The agreement with the kernel, in a file for the next daemon: the kernel tells it once. A line
 * each for {@code format}, {@code device} and {@code resends}: {@code KEY=VALUE}.
 *
 * @param device number of the mount's device, MAJOR:MINOR; empty once the mount has ended. The
 *     supervisor reads it, too: it takes the mount away that has this number
 * @param resends whether the kernel can send requests again that were not answered
 */
record MountSession(String device, boolean resends) {
  /**
   * The format of everything in the state directory. A daemon cannot take over a mount of another
   * format.
   */
  private static final String FORMAT = "format=checkpoint-1";

  private static final String DEVICE = "device=";
  private static final String RESENDS = "resends=";

  /** Reads the file of an earlier daemon, if there is one. */
  static Optional<MountSession> read(Path file) throws FsException {
    try {
      List<String> lines = Files.readAllLines(file);
      if (lines.size() != 3
          || !lines.get(0).equals(FORMAT)
          || !lines.get(1).startsWith(DEVICE)
          || !lines.get(2).startsWith(RESENDS)) {
        throw new FsException(
            FsError.UNSUPPORTED, file + ": written by another version: unmount and mount again");
      }
      return Optional.of(
          new MountSession(
              lines.get(1).substring(DEVICE.length()),
              Boolean.parseBoolean(lines.get(2).substring(RESENDS.length()))));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    } catch (FsException e) {
      throw e;
    } catch (IOException e) {
      throw new FsException(FsError.IO, file + ": cannot be read: " + e, e);
    }
  }

  /** Returns what is left of it when the mount has ended. */
  MountSession withoutMount() {
    return new MountSession("", resends);
  }

  void write(Path file) throws FsException {
    Path part = file.resolveSibling(file.getFileName() + ".part");
    try {
      Files.write(part, List.of(FORMAT, DEVICE + device, RESENDS + resends));
      Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw new FsException(FsError.IO, file + ": cannot be written: " + e.getMessage(), e);
    }
  }
}
