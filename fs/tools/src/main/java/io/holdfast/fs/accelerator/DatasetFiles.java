package io.holdfast.fs.accelerator;

import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Scratch;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;

/**
 * The regular files of a dataset that have at least one sample. Where there are more than wanted,
 * or the time is too short for all, the files of some directories, which are chosen at random: so
 * that a part that is resident by name is not taken for the whole. Immutable.
 */
final class DatasetFiles {
  /** In a name, it stands for bytes that are no UTF-8: such a file cannot be opened by its name. */
  private static final char NOT_UTF_8 = '\ufffd';

  private final List<String> names;
  private final long[] sizes;
  private final long recordBytes;
  private final long tooSmall;
  private final boolean complete;

  private DatasetFiles(Walk walk) {
    this.names = walk.names;
    this.sizes = Arrays.copyOf(walk.sizes, walk.names.size());
    this.recordBytes = walk.recordBytes;
    this.tooSmall = walk.tooSmall;
    this.complete = !walk.cut;
  }

  /**
   * Finds files.
   *
   * @param root the mount
   * @param recordBytes the size of a record; 0 if each file is one sample
   * @param most the most files
   * @param random chooses directories
   * @param isOver whether to stop the search
   * @throws IOException if the root cannot be listed
   */
  static DatasetFiles find(
      Path root, long recordBytes, int most, Random random, BooleanSupplier isOver)
      throws IOException {
    Walk walk = new Walk(root, recordBytes, most, random, isOver);
    walk.run();
    return new DatasetFiles(walk);
  }

  int count() {
    return names.size();
  }

  /** Returns a file's path, relative to the root. */
  String name(int file) {
    return names.get(file);
  }

  long size(int file) {
    return sizes[file];
  }

  /** Returns the number of samples of a file; a rest that is no whole record is none. */
  long samples(int file) {
    return recordBytes == 0 ? 1 : sizes[file] / recordBytes;
  }

  /** Returns the size of a sample of a file. */
  long sampleBytes(int file) {
    return recordBytes == 0 ? sizes[file] : recordBytes;
  }

  /** Returns the bytes that an epoch reads. */
  long bytes() {
    long bytes = 0;
    for (int i = 0; i < names.size(); i++) {
      bytes += samples(i) * sampleBytes(i);
    }
    return bytes;
  }

  /** Returns the mean size of a sample; NaN if there are no files. */
  double meanSampleBytes() {
    long samples = 0;
    for (int i = 0; i < names.size(); i++) {
      samples += samples(i);
    }
    return samples == 0 ? Double.NaN : (double) bytes() / samples;
  }

  /** Returns the number of files that were found and are left out because no record fits. */
  long tooSmall() {
    return tooSmall;
  }

  /** Tells whether these are all files of the dataset that this user may list. */
  boolean isComplete() {
    return complete;
  }

  /** Walks depth-first, at each directory into a random one next. */
  private static final class Walk {
    private final Path root;
    private final long recordBytes;
    private final int most;
    private final Random random;
    private final BooleanSupplier isOver;
    private final List<String> names = new ArrayList<>();
    private long[] sizes = new long[64];
    private long tooSmall;
    private boolean cut;

    Walk(Path root, long recordBytes, int most, Random random, BooleanSupplier isOver) {
      this.root = root;
      this.recordBytes = recordBytes;
      this.most = most;
      this.random = random;
      this.isOver = isOver;
    }

    void run() throws IOException {
      Deque<Path> open = new ArrayDeque<>();
      list(root, open);
      while (!open.isEmpty() && !cut) {
        try {
          list(open.pop(), open);
        } catch (IOException e) {
          // it has gone, or this user may not list it
        }
      }
    }

    private void list(Path directory, Deque<Path> open) throws IOException {
      List<Path> directories = new ArrayList<>();
      try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
        for (Path entry : entries) {
          if (names.size() == most || isOver.getAsBoolean()) {
            cut = true;
            return;
          }
          look(entry, directories);
        }
      } catch (DirectoryIteratorException e) {
        throw e.getCause();
      }
      Collections.shuffle(directories, random);
      directories.forEach(open::push);
    }

    private void look(Path entry, List<Path> directories) {
      try {
        BasicFileAttributes attributes =
            Files.readAttributes(entry, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        if (attributes.isDirectory()) {
          directories.add(entry);
        } else if (attributes.isRegularFile() && attributes.size() > 0) {
          add(root.relativize(entry).toString(), attributes.size());
        }
      } catch (IOException e) {
        // it has gone
      }
    }

    private void add(String name, long size) {
      if (size < recordBytes) {
        tooSmall++;
      } else if (name.indexOf(NOT_UTF_8) < 0
          && Linux.pathBytes(name).length < Scratch.PATH_CAPACITY / 2) {
        if (names.size() == sizes.length) {
          sizes = Arrays.copyOf(sizes, 2 * sizes.length);
        }
        sizes[names.size()] = size;
        names.add(name);
      }
    }
  }
}
