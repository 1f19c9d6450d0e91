package io.holdfast.fs.mount.kernel;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.MountId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The agreement with the kernel, in a file, because the kernel sends INIT once and a mount may have
 * several daemons, one after the other. The file has a line for each of {@code format}, {@code
 * device} and {@code mount} (the numbers in the mount table), {@code minor}, {@code readahead} and
 * {@code flags}: {@code KEY=VALUE}. The supervisor reads it, too.
 */
record Session(MountId mount, Negotiation negotiation) {
  /**
   * The format of everything in the state directory. A daemon cannot take over a mount of another
   * format.
   */
  private static final int FORMAT = 4;

  /** Reads the file of an earlier daemon, if there is one. */
  static Optional<Session> read(Path file) throws FsException {
    try {
      Map<String, String> values = new HashMap<>();
      for (String line : Files.readAllLines(file)) {
        int equals = line.indexOf('=');
        values.put(line.substring(0, Math.max(0, equals)), line.substring(equals + 1));
      }
      if (number(values, "format") != FORMAT) {
        throw new FsException(
            FsError.UNSUPPORTED, file + ": written by another version: unmount and mount again");
      }
      return Optional.of(
          new Session(
              new MountId(values.getOrDefault("device", ""), (int) number(values, "mount")),
              new Negotiation(
                  (int) number(values, "minor"),
                  (int) number(values, "readahead"),
                  number(values, "flags"))));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    } catch (FsException e) {
      throw e;
    } catch (IOException | NumberFormatException e) {
      throw new FsException(FsError.IO, file + ": cannot be read: " + e, e);
    }
  }

  private static long number(Map<String, String> values, String key) {
    return Long.parseLong(values.getOrDefault(key, ""));
  }

  void write(Path file) throws FsException {
    Path part = file.resolveSibling(file.getFileName() + ".part");
    String text =
        "format=%d%ndevice=%s%nmount=%d%nminor=%d%nreadahead=%d%nflags=%d%n"
            .formatted(
                FORMAT,
                mount.device(),
                mount.number(),
                negotiation.minor(),
                negotiation.maxReadahead(),
                negotiation.flags());
    try {
      Files.writeString(part, text);
      Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw new FsException(FsError.IO, file + ": cannot be written: " + e.getMessage(), e);
    }
  }
}
