package io.holdfast.chaos;

import java.util.List;
import java.util.stream.IntStream;

/**
 * The names of the dataset's files, and how long each version of them is. The large ones come
 * first. Needs nothing but the JDK: readers in processes of their own use it.
 */
record VersionedFiles(int large, int small) {
  private static final int CLASSES = 8;
  private static final int MEBIBYTE = 1 << 20;

  int count() {
    return large + small;
  }

  boolean isLarge(int file) {
    return file < large;
  }

  String name(int file) {
    return isLarge(file)
        ? "large/part-%03d.tar".formatted(file)
        : "class_%d/img_%05d.jpg".formatted(file % CLASSES, file);
  }

  /** Bytes of a version. Versions that follow each other differ in it. */
  int size(int file, long version) {
    int change = (int) (version % 5) * 1371;
    return isLarge(file)
        ? (2 + file % 4) * MEBIBYTE + 4321 + 7 * change
        : 500 + file * 7919 % 60_000 + change;
  }

  /** Bytes that all versions have. */
  int leastSize(int file) {
    return size(file, 0);
  }

  List<String> directories() {
    return IntStream.rangeClosed(0, CLASSES)
        .mapToObj(i -> i == CLASSES ? "large" : "class_" + i)
        .toList();
  }

  /** The memory that all files take as whole pages, about. */
  long pageBytes() {
    return IntStream.range(0, count()).mapToLong(file -> size(file, 1) + 4096L).sum();
  }
}
