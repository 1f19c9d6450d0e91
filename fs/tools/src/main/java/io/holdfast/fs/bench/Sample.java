package io.holdfast.fs.bench;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * Some files of a mount, chosen at random: small and large ones, resident and not. The choice walks
 * down from the root again and again, so no dataset is too large; it takes files of directories
 * with few entries more often. Immutable.
 *
 * @param files the files by kind, relative to the mount; each list in random order
 */
public record Sample(Map<Kind, List<Path>> files) {
  /** Files from this size on are large, in bytes. */
  static final long LARGE = 4L << 20;

  private static final int ENTRIES_LISTED = 5000;
  private static final int DIRECTORIES_KEPT = 2000;
  private static final int DEEPEST = 64;
  private static final int TRIES_A_FILE = 10;

  /** The kinds of files: small or large, resident or not. */
  enum Kind {
    SMALL_RESIDENT,
    SMALL_ABSENT,
    LARGE_RESIDENT,
    LARGE_ABSENT;

    static Kind of(boolean large, boolean resident) {
      if (large) {
        return resident ? LARGE_RESIDENT : LARGE_ABSENT;
      }
      return resident ? SMALL_RESIDENT : SMALL_ABSENT;
    }
  }

  /**
   * Chooses files.
   *
   * @param root the mount
   * @param largest the most files of each kind
   * @param random the source of all choices
   * @param end when to stop the search, on the clock of {@code nanoTime}
   */
  static Sample of(Path root, int largest, Random random, LongSupplier nanoTime, long end) {
    Map<Kind, List<Path>> files = new HashMap<>();
    for (Kind kind : Kind.values()) {
      files.put(kind, new ArrayList<>());
    }
    Walk walk = new Walk(root, random);
    long tries = (long) Kind.values().length * largest * TRIES_A_FILE;
    for (long i = 0; i < tries && nanoTime.getAsLong() - end < 0; i++) {
      walk.addOne(files, largest);
    }
    return new Sample(files);
  }

  List<Path> of(Kind kind) {
    return files.getOrDefault(kind, List.of());
  }

  /** Returns the number of files. */
  int size() {
    return files.values().stream().mapToInt(List::size).sum();
  }

  /** Returns the share of the files that are resident; NaN if there are no files. */
  double residentShare() {
    int resident = of(Kind.SMALL_RESIDENT).size() + of(Kind.LARGE_RESIDENT).size();
    return size() == 0 ? Double.NaN : (double) resident / size();
  }

  private static final class Walk {
    private final Path root;
    private final Random random;
    private final Map<Path, List<Path>> listed = new HashMap<>();
    private final Set<Path> seen = new HashSet<>();

    Walk(Path root, Random random) {
      this.root = root;
      this.random = random;
    }

    void addOne(Map<Kind, List<Path>> files, int largest) {
      Path at = root;
      try {
        for (int depth = 0; depth < DEEPEST; depth++) {
          List<Path> entries = entries(at);
          if (entries.isEmpty()) {
            return;
          }
          at = entries.get(random.nextInt(entries.size()));
          BasicFileAttributes attributes =
              Files.readAttributes(at, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
          if (!attributes.isDirectory()) {
            if (attributes.isRegularFile() && attributes.size() > 0 && seen.add(at)) {
              add(files, largest, at, attributes.size());
            }
            return;
          }
        }
      } catch (IOException | DirectoryIteratorException e) {
        // the file has gone, or this user may not read it
      }
    }

    private void add(Map<Kind, List<Path>> files, int largest, Path file, long size)
        throws IOException {
      List<Path> kind = files.get(Kind.of(size >= LARGE, Residence.isResident(file)));
      if (kind != null && kind.size() < largest) {
        kind.add(root.relativize(file));
      }
    }

    private List<Path> entries(Path directory) throws IOException {
      List<Path> known = listed.get(directory);
      if (known != null) {
        return known;
      }
      List<Path> entries = new ArrayList<>();
      try (DirectoryStream<Path> stream = Files.newDirectoryStream(directory)) {
        for (Path entry : stream) {
          if (entries.size() == ENTRIES_LISTED) {
            break;
          }
          entries.add(entry);
        }
      }
      if (listed.size() < DIRECTORIES_KEPT) {
        listed.put(directory, entries);
      }
      return entries;
    }
  }
}
