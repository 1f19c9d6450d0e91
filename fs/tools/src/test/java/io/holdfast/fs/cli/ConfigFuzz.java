package io.holdfast.fs.cli;

import io.holdfast.fs.settings.ConfigFile;
import io.holdfast.fs.settings.SettingsException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A mount's file that says anything: it is taken, or refused in one line. Run by packaging/fuzz.
 */
public final class ConfigFuzz {
  private ConfigFuzz() {}

  /** One input. */
  public static void fuzzerTestOneInput(byte[] bytes) {
    Path file = null;
    try {
      file = Files.createTempFile("config", ".yaml");
      Files.write(file, bytes);
      ConfigFile.read(file);
    } catch (SettingsException e) {
      String message = String.valueOf(e.getMessage());
      if (message.isBlank() || message.contains("\n")) {
        throw new AssertionError("refused in another way: " + message, e);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      delete(file);
    }
  }

  private static void delete(Path file) {
    try {
      if (file != null) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
