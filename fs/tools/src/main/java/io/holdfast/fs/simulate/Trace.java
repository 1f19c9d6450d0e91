package io.holdfast.fs.simulate;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.units.Human;
import io.holdfast.fs.units.Sizes;
import io.holdfast.policy.simulator.AccessOrder;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToIntFunction;
import java.util.stream.IntStream;

/**
 * A recorded list of accesses. A file has one access a line; a line {@code # epoch} begins the next
 * epoch. Immutable.
 *
 * @param files the files that are read
 * @param epochs the files of each epoch, in order; at least one, none of them empty
 */
public record Trace(FileList files, List<int[]> epochs) {
  private static final String EPOCH = "# epoch";
  private static final char SEPARATOR = '\t';

  /**
   * Reads a trace whose lines are numbers of files, from 0.
   *
   * @throws FsException if it cannot be read to its end
   * @throws IllegalArgumentException if it is not there, or names an unknown file
   */
  public static Trace ofNumbers(Path trace, FileList files) throws FsException {
    return new Trace(files, read(trace, line -> number(line, files.files())));
  }

  /**
   * Reads a trace whose lines are paths of files, relative to a dataset's directory.
   *
   * @param itemSize bytes; larger files have several items
   * @throws FsException if it cannot be read to its end
   * @throws IllegalArgumentException if it is not there, or names an unknown file, or the directory
   *     has none
   */
  public static Trace ofPaths(Path trace, DatasetDirectory directory, long itemSize)
      throws FsException {
    requireFile(trace);
    Map<String, Integer> numbers = new HashMap<>();
    FileList files = directory.read(itemSize, numbers::put);
    return new Trace(files, read(trace, line -> path(line, numbers)));
  }

  /**
   * Reads a trace whose lines are names and sizes with a tab between; after a name's first line,
   * the size may be left out.
   *
   * @param itemSize bytes; larger files have several items
   * @throws FsException if it cannot be read to its end
   * @throws IllegalArgumentException if the trace is not there, or if a size is missing, wrong, or
   *     differs from an earlier one
   */
  public static Trace ofSizes(Path trace, long itemSize) throws FsException {
    Named named = new Named(itemSize);
    List<int[]> epochs = read(trace, named::file);
    return new Trace(named.files.build(), epochs);
  }

  /** Returns the order of items that was recorded. */
  public AccessOrder order() {
    return AccessOrder.recorded(epochs.stream().map(files::items).toList());
  }

  private static int number(String line, int files) {
    try {
      int number = Integer.parseInt(line);
      if (number >= 0 && number < files) {
        return number;
      }
    } catch (NumberFormatException e) {
      // one message for all mistakes
    }
    throw new IllegalArgumentException(
        "'%s' is no item: with --files they are the numbers from 0 to %s"
            .formatted(line, Human.grouped(files - 1)));
  }

  private static int path(String line, Map<String, Integer> numbers) {
    Integer number = numbers.get(line.startsWith("./") ? line.substring(2) : line);
    if (number == null) {
      throw new IllegalArgumentException(
          "'" + line + "' is no file of the directory: give its path relative to it");
    }
    return number;
  }

  /** Collects files, each from its first line. */
  private static final class Named {
    private final FileList.Builder files;
    private final Map<String, Integer> numbers = new HashMap<>();
    private final List<Long> sizes = new ArrayList<>();

    Named(long itemSize) {
      files = new FileList.Builder(itemSize);
    }

    int file(String line) {
      int separator = line.lastIndexOf(SEPARATOR);
      String name = separator < 0 ? line : line.substring(0, separator);
      Integer known = numbers.get(name);
      if (separator < 0) {
        if (known == null) {
          throw new IllegalArgumentException(
              "'" + name + "' is unknown: its first line must give its bytes, NAME<TAB>BYTES");
        }
        return known;
      }
      long size = Sizes.parse(line.substring(separator + 1).strip());
      if (size < 1) {
        throw new IllegalArgumentException("'" + name + "' has 0 bytes: an item has at least 1");
      }
      if (known == null) {
        int number = files.add(size, name.getBytes(UTF_8));
        numbers.put(name, number);
        sizes.add(size);
        return number;
      }
      if (sizes.get(known) != size) {
        throw new IllegalArgumentException(
            "'%s' has %d bytes here, and %d before: give it one size"
                .formatted(name, size, sizes.get(known)));
      }
      return known;
    }
  }

  private static List<int[]> read(Path trace, ToIntFunction<String> fileOf) throws FsException {
    requireFile(trace);
    List<int[]> epochs = new ArrayList<>();
    IntStream.Builder epoch = IntStream.builder();
    long lines = 0;
    // bytes that are no UTF-8 are read as Java reads names of files with such bytes
    try (InputStream bytes = Files.newInputStream(trace);
        BufferedReader text = new BufferedReader(new InputStreamReader(bytes, UTF_8))) {
      for (String line = text.readLine(); line != null; line = text.readLine()) {
        lines++;
        if (line.strip().equals(EPOCH)) {
          end(epoch, epochs);
          epoch = IntStream.builder();
        } else if (!line.isBlank()) {
          int file = fileOf.applyAsInt(line);
          if (file != DatasetDirectory.Listener.EMPTY) {
            epoch.add(file);
          }
        }
      }
    } catch (IOException e) {
      throw new FsException(
          FsError.IO, "the trace '" + trace + "' cannot be read: " + e.getMessage(), e);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "the trace '" + trace + "', line " + lines + ": " + e.getMessage(), e);
    }
    end(epoch, epochs);
    if (epochs.isEmpty()) {
      throw new IllegalArgumentException(
          "the trace '" + trace + "' has no accesses: give one a line");
    }
    return epochs;
  }

  private static void end(IntStream.Builder epoch, List<int[]> epochs) {
    int[] files = epoch.build().toArray();
    if (files.length > 0) {
      epochs.add(files);
    }
  }

  private static void requireFile(Path trace) {
    if (!Files.exists(trace)) {
      throw new IllegalArgumentException("the trace '" + trace + "' does not exist: give a file");
    }
    if (Files.isDirectory(trace)) {
      throw new IllegalArgumentException("the trace '" + trace + "' is a directory: give a file");
    }
    if (!Files.isReadable(trace)) {
      throw new IllegalArgumentException(
          "the trace '" + trace + "' cannot be read: check its permissions");
    }
  }
}
