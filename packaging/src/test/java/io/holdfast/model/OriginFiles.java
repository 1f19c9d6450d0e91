package io.holdfast.model;

import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A directory of the dataset that changes behind the mount's back. Not thread-safe. */
final class OriginFiles {
  private final Path root;
  private final Path fresh;

  /**
   * Makes the directory.
   *
   * @param fresh a place on the same filesystem where a file is before it is moved to its own
   */
  OriginFiles(Path root, Path fresh) {
    this.root = root;
    this.fresh = fresh;
    run(() -> Files.createDirectory(root));
  }

  private interface Change {
    Object make() throws IOException;
  }

  private static void run(Change change) {
    try {
      change.make();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static FileTime time(long seconds) {
    return FileTime.from(seconds, TimeUnit.SECONDS);
  }

  private Path path(String path) {
    return root.resolve(path);
  }

  /** Puts a new file in the place of an entry. */
  void replace(String path, byte[] content, long modified) {
    write(
        fresh, content, modified, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING);
    run(() -> Files.move(fresh, path(path), ATOMIC_MOVE, REPLACE_EXISTING));
  }

  /** Writes over a file, or behind its end, in place. */
  void write(String path, byte[] bytes, long modified, StandardOpenOption... how) {
    write(path(path), bytes, modified, how);
  }

  private static void write(Path path, byte[] bytes, long modified, StandardOpenOption... how) {
    OpenOption[] options =
        Stream.concat(Stream.of(StandardOpenOption.WRITE), Stream.of(how))
            .toArray(OpenOption[]::new);
    run(() -> Files.write(path, bytes, options));
    run(() -> Files.setLastModifiedTime(path, time(modified)));
  }

  void directory(String path) {
    run(() -> Files.createDirectory(path(path)));
  }

  void link(String path, String target) {
    run(() -> Files.createSymbolicLink(path(path), Path.of(target)));
  }

  void move(String from, String to) {
    run(() -> Files.move(path(from), path(to), ATOMIC_MOVE, REPLACE_EXISTING));
  }

  /** Removes the entries at a path and below. */
  void remove(String path) {
    if (!Files.exists(path(path), LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    try (Stream<Path> all = Files.walk(path(path))) {
      List<Path> deepestFirst = all.sorted(Comparator.reverseOrder()).toList();
      for (Path each : deepestFirst) {
        Files.delete(each);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
