package io.holdfast.fs.start;

import io.holdfast.fs.host.Host;
import io.holdfast.fs.host.UserDirectories;
import io.holdfast.fs.settings.SettingTable;
import io.holdfast.fs.settings.Settings;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/** Where daemons in the background log to. Knows nothing of the logging library. Stateless. */
public final class LogPath {
  private static final int TAIL = 8 * 1024;
  private static final Path ERROR_OUTPUT = Path.of("/dev/stderr");

  private LogPath() {}

  /** Returns the file of a mount's daemon. */
  static Path of(Settings settings, int uid, Map<String, String> environment) {
    return settings
        .find(SettingTable.LOG_FILE)
        .orElseGet(
            () ->
                UserDirectories.logs(uid, environment)
                    .resolve(settings.get(SettingTable.NAME) + ".log"));
  }

  /** Returns where a mount's daemon logs: a file, or the error output's device. */
  public static Path ofDaemon(Settings settings, Host host) {
    return isErrorOutput(settings) ? ERROR_OUTPUT : of(settings, host.uid(), host.environment());
  }

  /** Tells whether a mount's daemon logs to its error output. */
  static boolean isErrorOutput(Settings settings) {
    return settings.get(SettingTable.FOREGROUND) && settings.find(SettingTable.LOG_FILE).isEmpty();
  }

  /**
   * Returns the last line that was logged.
   *
   * @param since milliseconds of the epoch; a file that was not changed after it says nothing
   */
  static Optional<String> lastLine(Path file, long since) {
    try (RandomAccessFile log = new RandomAccessFile(file.toFile(), "r")) {
      if (Files.getLastModifiedTime(file).toMillis() < since) {
        return Optional.empty();
      }
      long from = Math.max(0, log.length() - TAIL);
      byte[] tail = new byte[(int) (log.length() - from)];
      log.seek(from);
      log.readFully(tail);
      return new String(tail, StandardCharsets.UTF_8)
          .lines()
          .filter(line -> !line.isBlank())
          .reduce((first, second) -> second);
    } catch (IOException e) {
      return Optional.empty();
    }
  }
}
