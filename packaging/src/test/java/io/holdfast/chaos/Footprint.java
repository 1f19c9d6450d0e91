package io.holdfast.chaos;

import io.holdfast.it.Mount;
import io.holdfast.it.Stats;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * The resources of the machine that a daemon takes at one moment.
 *
 * @param mappings without those of residents, of which each has one
 */
record Footprint(long descriptors, long threads, long mappings) {
  /** Connections to peers and pools of threads come and go a little. */
  private static final int MORE_DESCRIPTORS = 32;

  private static final int MORE_THREADS = 24;
  private static final int MORE_MAPPINGS = 200;

  static Footprint of(Mount mount) {
    Path process = Path.of("/proc", Long.toString(mount.pid()));
    Stats stats = mount.stats();
    return new Footprint(
        entries(process.resolve("fd")),
        entries(process.resolve("task")),
        lines(process.resolve("maps")) - stats.residentItems());
  }

  /** Whether it is hardly more than an earlier one. */
  boolean isAsSmallAs(Footprint before) {
    return descriptors <= before.descriptors + MORE_DESCRIPTORS
        && threads <= before.threads + MORE_THREADS
        && mappings <= before.mappings + MORE_MAPPINGS;
  }

  private static long entries(Path directory) {
    try (Stream<Path> all = Files.list(directory)) {
      return all.count();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static long lines(Path file) {
    try {
      return Files.readString(file).lines().count();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public String toString() {
    return "%d descriptors, %d threads, %d mappings".formatted(descriptors, threads, mappings);
  }
}
