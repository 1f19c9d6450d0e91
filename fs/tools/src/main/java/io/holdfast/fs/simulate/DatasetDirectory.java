package io.holdfast.fs.simulate;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A real dataset: the regular files below a directory, in the order of their names, so that a seed
 * gives the same result on every machine. Follows no symlinks below the directory. Not thread-safe.
 */
public final class DatasetDirectory {
  /** Learns of each file. */
  @FunctionalInterface
  interface Listener {
    /**
     * Takes a file.
     *
     * @param path relative to the directory
     * @param file its number, or {@link #EMPTY}
     */
    void found(String path, int file);

    /** A file without bytes, which has no item. */
    int EMPTY = -1;
  }

  private final Path root;
  private final List<String> leftOut = new ArrayList<>();

  /**
   * Creates a dataset; reads nothing yet.
   *
   * @throws IllegalArgumentException if there is no such directory
   */
  public DatasetDirectory(Path root) {
    this.root = root;
    if (!Files.exists(root)) {
      throw new IllegalArgumentException("'" + root + "' does not exist: give a directory");
    }
    if (!Files.isDirectory(root)) {
      throw new IllegalArgumentException("'" + root + "' is not a directory: give one");
    }
  }

  /**
   * Reads names and sizes.
   *
   * @param itemSize bytes; larger files have several items
   * @throws IllegalArgumentException if it has no file with bytes in it
   */
  public FileList read(long itemSize) {
    return read(itemSize, (path, file) -> {});
  }

  FileList read(long itemSize, Listener listener) {
    FileList.Builder files = new FileList.Builder(itemSize);
    Deque<Path> directories = new ArrayDeque<>(List.of(root));
    while (!directories.isEmpty()) {
      List<Path> below = new ArrayList<>();
      for (Path entry : entries(directories.pop())) {
        BasicFileAttributes attributes = attributes(entry);
        if (attributes == null) {
          continue;
        }
        if (attributes.isDirectory()) {
          below.add(entry);
        } else if (attributes.isRegularFile()) {
          String path = root.relativize(entry).toString();
          long size = attributes.size();
          int file = size == 0 ? Listener.EMPTY : files.add(size, path.getBytes(UTF_8));
          listener.found(path, file);
        }
      }
      Collections.reverse(below);
      below.forEach(directories::push);
    }
    if (files.isEmpty()) {
      throw new IllegalArgumentException(
          leftOut.isEmpty()
              ? "'" + root + "' has no files with bytes in them: give a dataset's directory"
              : "'" + root + "' has no files that can be read: check its permissions");
    }
    return files.build();
  }

  /**
   * Returns the paths that could not be read, relative to the directory; known after {@link #read}.
   */
  public List<String> leftOut() {
    return List.copyOf(leftOut);
  }

  private List<Path> entries(Path directory) {
    List<Path> entries = new ArrayList<>();
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(directory)) {
      stream.forEach(entries::add);
    } catch (IOException | DirectoryIteratorException e) {
      leftOut.add(root.relativize(directory).toString());
    }
    Collections.sort(entries);
    return entries;
  }

  private @Nullable BasicFileAttributes attributes(Path entry) {
    try {
      return Files.readAttributes(entry, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    } catch (IOException e) {
      leftOut.add(root.relativize(entry).toString());
      return null;
    }
  }
}
