package io.holdfast.fs.client;

import io.holdfast.fs.host.CliException;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Iterator;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The lines of a file, of bounded length and number; empty lines are passed over. Keeps one line in
 * memory. Not thread-safe.
 */
public final class PathLines implements AutoCloseable {
  /** The most lines: as many as a daemon takes. */
  static final int MOST = 16_000_000;

  /** The most bytes of a line: of the longest path, in Linux. */
  static final int LONGEST = 4096;

  private final String name;
  private final InputStream in;
  private final byte[] line = new byte[LONGEST];
  private long offset;
  private long start;
  private int lines;

  private PathLines(String name, InputStream in) {
    this.name = name;
    this.in = new BufferedInputStream(in, 1 << 16);
  }

  /**
   * Opens a file.
   *
   * @param name of the file, or a dash for the standard input
   */
  public static PathLines open(String name) {
    try {
      return new PathLines(
          name, name.equals("-") ? System.in : Files.newInputStream(Path.of(name)));
    } catch (IOException | InvalidPathException e) {
      throw unreadable(name, e);
    }
  }

  /** Explains that a file cannot be read. */
  static CliException unreadable(String name, Exception cause) {
    return CliException.usage("'" + name + "' cannot be read: " + reason(name, cause), cause);
  }

  private static String reason(String name, Exception cause) {
    if (cause instanceof NoSuchFileException) {
      return "there is no such file";
    }
    return cause instanceof IOException && Files.isDirectory(Path.of(name))
        ? "it is a directory: give a file with a path a line, or - for the standard input"
        : "" + cause;
  }

  /** Returns the next line, or null at the end. */
  @Nullable String next() {
    try {
      int length = nextLength();
      return length < 0 ? null : new String(line, 0, length, StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw unreadable(name, e);
    }
  }

  /** Returns the lines that are left, as they are read. */
  public Iterator<String> iterator() {
    return Stream.generate(this::next)
        .takeWhile(Objects::nonNull)
        .map(Objects::requireNonNull)
        .iterator();
  }

  /** Returns the offset of the first byte of the line that was read last. */
  long start() {
    return start;
  }

  private int nextLength() throws IOException {
    int length = 0;
    start = offset;
    for (int b = in.read(); b >= 0; b = in.read()) {
      offset++;
      if (b == '\n' && length > 0) {
        return counted(length);
      } else if (b == '\n') {
        start = offset;
      } else if (length == LONGEST) {
        throw CliException.usage(
            "'%s': line %d is longer than %d bytes: give a path a line"
                .formatted(name, lines + 1, LONGEST));
      } else {
        line[length++] = (byte) b;
      }
    }
    return length > 0 ? counted(length) : -1;
  }

  private int counted(int length) {
    lines++;
    if (lines > MOST) {
      throw CliException.usage(
          "'%s' has more than %,d lines: give an order of one epoch".formatted(name, MOST));
    }
    return length;
  }

  @Override
  public void close() throws IOException {
    in.close();
  }

  /** Returns where each line of a file begins, in 32 bits each. */
  static int[] starts(String name) throws IOException {
    int[] starts = new int[1024];
    try (PathLines lines = open(name)) {
      int count = 0;
      while (lines.next() != null) {
        if (lines.start() >= 1L << Integer.SIZE) {
          throw CliException.usage("'" + name + "' is larger than 4 GiB: give a shorter list");
        }
        if (count == starts.length) {
          starts = Arrays.copyOf(starts, count + count / 2);
        }
        starts[count++] = (int) lines.start();
      }
      return Arrays.copyOf(starts, count);
    }
  }
}
