package io.holdfast.fs.cli;

import io.holdfast.fs.client.Targets;
import io.holdfast.fs.host.CliException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Iterator;

/** A list of files, a path a line; empty lines are passed over. Not thread-safe. */
final class NameList implements AutoCloseable {
  private final String name;
  private final BufferedReader reader;

  private NameList(String name, InputStream in) {
    this.name = name;
    this.reader = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
  }

  /**
   * Opens a list.
   *
   * @param name of a file, or a dash for the standard input
   */
  static NameList open(String name) {
    try {
      return new NameList(name, name.equals("-") ? System.in : Files.newInputStream(Path.of(name)));
    } catch (IOException | InvalidPathException e) {
      throw CliException.usage("--list '" + name + "' cannot be read: " + reason(e), e);
    }
  }

  private static String reason(Exception e) {
    return e instanceof java.nio.file.NoSuchFileException ? "there is no such file" : "" + e;
  }

  /**
   * Returns the paths as the daemon wants them, as they are read. It fails where the list is empty.
   */
  Iterator<String> below(Path mountpoint) {
    Iterator<String> names =
        reader
            .lines()
            .filter(line -> !line.isBlank())
            .map(line -> below(line, mountpoint))
            .iterator();
    try {
      if (!names.hasNext()) {
        throw CliException.usage("--list '" + name + "' has no names: give one with some");
      }
    } catch (UncheckedIOException e) {
      throw CliException.usage("--list '" + name + "' cannot be read: " + e.getCause(), e);
    }
    return names;
  }

  private String below(String line, Path mountpoint) {
    try {
      return Targets.below(line, mountpoint);
    } catch (InvalidPathException e) {
      throw CliException.usage("--list '" + name + "': '" + line + "' is no path", e);
    }
  }

  @Override
  public void close() {
    try {
      reader.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
