package io.holdfast.fs.log;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** The systemd journal, as the place that the error output leads to. Stateless. */
public final class Journal {
  private static final Path ERROR_OUTPUT = Path.of("/proc/self/fd/2");

  private Journal() {}

  /**
   * Tells whether the error output is the socket that systemd gave to this service; it says device
   * and inode of that in {@code JOURNAL_STREAM}.
   */
  public static boolean isErrorOutput(Map<String, String> environment) {
    return isJournal(environment, ERROR_OUTPUT);
  }

  static boolean isJournal(Map<String, String> environment, Path file) {
    try {
      return (Files.getAttribute(file, "unix:dev") + ":" + Files.getAttribute(file, "unix:ino"))
          .equals(environment.get("JOURNAL_STREAM"));
    } catch (IOException e) {
      return false; // closed
    }
  }
}
