package io.holdfast.fs.checkpoint.kernel;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.MountId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Optional;

/**
 * The agreement with the kernel, in a file for the next daemon: the kernel tells it once. A line
 * each for {@code format}, {@code device} and {@code mount} (the numbers in the mount table) and
 * {@code resends}: {@code KEY=VALUE}.
 *
 * @param mount {@link MountId#NONE} once the mount has ended. The supervisor reads it, too: it
 *     takes this mount away
 * @param resends whether the kernel can send requests again that were not answered
 */
record MountSession(MountId mount, boolean resends) {
  /**
   * The format of everything in the state directory. A daemon cannot take over a mount of another
   * format.
   */
  private static final String FORMAT = "format=checkpoint-2";

  private static final String DEVICE = "device=";
  private static final String MOUNT = "mount=";
  private static final String RESENDS = "resends=";

  /** Reads the file of an earlier daemon, if there is one. */
  static Optional<MountSession> read(Path file) throws FsException {
    try {
      List<String> lines = Files.readAllLines(file);
      if (lines.size() != 4
          || !lines.get(0).equals(FORMAT)
          || !lines.get(1).startsWith(DEVICE)
          || !lines.get(2).startsWith(MOUNT)
          || !lines.get(3).startsWith(RESENDS)) {
        throw new FsException(
            FsError.UNSUPPORTED, file + ": written by another version: unmount and mount again");
      }
      return Optional.of(
          new MountSession(
              new MountId(
                  lines.get(1).substring(DEVICE.length()),
                  Integer.parseInt(lines.get(2).substring(MOUNT.length()))),
              Boolean.parseBoolean(lines.get(3).substring(RESENDS.length()))));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    } catch (FsException e) {
      throw e;
    } catch (IOException | NumberFormatException e) {
      throw new FsException(FsError.IO, file + ": cannot be read: " + e, e);
    }
  }

  /** Returns what is left of it when the mount has ended. */
  MountSession withoutMount() {
    return new MountSession(MountId.NONE, resends);
  }

  void write(Path file) throws FsException {
    Path part = file.resolveSibling(file.getFileName() + ".part");
    try {
      Files.write(
          part,
          List.of(FORMAT, DEVICE + mount.device(), MOUNT + mount.number(), RESENDS + resends));
      Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw new FsException(FsError.IO, file + ": cannot be written: " + e.getMessage(), e);
    }
  }
}
