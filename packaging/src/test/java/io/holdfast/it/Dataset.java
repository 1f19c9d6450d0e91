package io.holdfast.it;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.holdfast.posix.Posix;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.IntUnaryOperator;

/** A dataset of stamped files in class folders, as a loader of images would expect it. */
final class Dataset {
  private static final int CLASSES = 10;

  private final Path root;
  private final int firstStamp;
  private final List<String> files;
  private final List<Integer> sizes;

  private Dataset(Path root, int firstStamp, List<String> files, List<Integer> sizes) {
    this.root = root;
    this.firstStamp = firstStamp;
    this.files = files;
    this.sizes = sizes;
  }

  /** Writes {@code count} files, the i-th of {@code size(i)} bytes, all of version 1. */
  static Dataset create(Path root, int count, IntUnaryOperator size) {
    return create(root, 0, count, size);
  }

  /**
   * Writes files of the same names with other contents.
   *
   * @param firstStamp the stamp of the first file
   */
  static Dataset create(Path root, int firstStamp, int count, IntUnaryOperator size) {
    List<String> files = new ArrayList<>();
    List<Integer> sizes = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      files.add("class_%02d/img_%05d.jpg".formatted(i % CLASSES, i));
      sizes.add(size.applyAsInt(i));
    }
    Dataset dataset = new Dataset(root, firstStamp, List.copyOf(files), List.copyOf(sizes));
    try {
      for (int i = 0; i < CLASSES; i++) {
        Files.createDirectories(root.resolve("class_%02d".formatted(i)));
      }
      for (int i = 0; i < count; i++) {
        Files.write(dataset.file(i), Stamps.bytes((long) firstStamp + i, 1, 0, sizes.get(i)));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return dataset;
  }

  Path root() {
    return root;
  }

  /** How many folders the files are in. */
  int folders() {
    return Math.min(CLASSES, count());
  }

  int count() {
    return files.size();
  }

  /** The names of all files, relative to the root. */
  List<String> files() {
    return files;
  }

  Path file(int index) {
    return root.resolve(files.get(index));
  }

  int size(int index) {
    return sizes.get(index);
  }

  long bytes() {
    return sizes.stream().mapToLong(Integer::longValue).sum();
  }

  /** The memory that the files take as whole pages. */
  long pageBytes() {
    return sizes.stream().mapToLong(Dataset::pageBytes).sum();
  }

  static long pageBytes(long size) {
    return (size + Posix.PAGE - 1) / Posix.PAGE * Posix.PAGE;
  }

  /** Writes a list of all files in a new random order, for {@link Reader}. */
  Path permutation(Sandbox sandbox, Random random) {
    return list(sandbox, shuffled(random));
  }

  /** Writes a list of all files so many times, each time in a new random order. */
  Path permutations(Sandbox sandbox, Random random, int times) {
    List<Integer> orders = new ArrayList<>();
    for (int i = 0; i < times; i++) {
      orders.addAll(shuffled(random));
    }
    return list(sandbox, orders);
  }

  /**
   * Writes lists that share a new random order of all files among some readers, as jobs of several
   * nodes do in each epoch.
   */
  List<Path> shares(Sandbox sandbox, Random random, int readers) {
    List<Integer> order = shuffled(random);
    List<Path> lists = new ArrayList<>();
    for (int i = 0; i < readers; i++) {
      lists.add(
          list(
              sandbox,
              order.subList(i * order.size() / readers, (i + 1) * order.size() / readers)));
    }
    return lists;
  }

  private List<Integer> shuffled(Random random) {
    List<Integer> order = new ArrayList<>();
    for (int i = 0; i < count(); i++) {
      order.add(i);
    }
    Collections.shuffle(order, random);
    return order;
  }

  /** Writes a list of some files, for {@link Reader}. */
  Path list(Sandbox sandbox, List<Integer> indices) {
    StringBuilder lines = new StringBuilder();
    for (int i : indices) {
      lines
          .append(firstStamp + i)
          .append('\t')
          .append(sizes.get(i))
          .append('\t')
          .append(files.get(i));
      lines.append('\n');
    }
    try {
      Path list = Files.createTempFile(sandbox.root(), "order", ".list");
      return Files.writeString(list, lines, UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
