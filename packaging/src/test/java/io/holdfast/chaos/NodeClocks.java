package io.holdfast.chaos;

import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * The time of day of each node, which can be set while its processes run: libfaketime stands
 * between them and the C library. Clocks that nobody can set, and times of files, are left alone.
 * Thread-safe.
 */
final class NodeClocks {
  /** How long the library uses a time that it has read, in seconds. */
  private static final int CACHED = 1;

  /** A line may be that much later in the log than its time stamp was taken. */
  private static final long SLACK_MILLIS = 2_000;

  /** The files that the library keeps for each process, by its number. */
  private static final Pattern LEFT = Pattern.compile("(?:sem\\.faketime_sem|faketime_shm)_(\\d+)");

  private final FileTime made = FileTime.from(Instant.now());
  private final Path folder;
  private final Path library;
  private final List<Jump> jumps = new ArrayList<>();

  private record Jump(int node, long offsetMillis, long begin, long end) {
    private boolean mayHaveStamped(long at) {
      return at >= begin && at - CACHED * 1000L - SLACK_MILLIS <= end;
    }
  }

  /**
   * Clocks that are right.
   *
   * @param folder where to keep how wrong they are
   */
  NodeClocks(Path folder, int nodes) {
    this.folder = folder;
    library = findLibrary();
    for (int node = 0; node < nodes; node++) {
      set(node, Duration.ZERO);
    }
  }

  private static Path findLibrary() {
    try (Stream<Path> folders = Files.list(Path.of("/usr/lib"))) {
      return folders
          .map(each -> each.resolve("faketime/libfaketime.so.1"))
          .filter(Files::exists)
          .findFirst()
          .orElseThrow(() -> new IllegalStateException("no libfaketime: packaging/chaos has it"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the environment that the processes of a node need. */
  Map<String, String> environment(int node) {
    return Map.of(
        "LD_PRELOAD",
        library.toString(),
        "FAKETIME_TIMESTAMP_FILE",
        file(node).toString(),
        "FAKETIME_CACHE_DURATION",
        Integer.toString(CACHED),
        "FAKETIME_DONT_FAKE_MONOTONIC",
        "1",
        "FAKETIME_FORCE_MONOTONIC_FIX",
        "0",
        "NO_FAKE_STAT",
        "1");
  }

  private Path file(int node) {
    return folder.resolve("node" + node);
  }

  /** Has the clock of a node that far from the right time, within a second. */
  synchronized void set(int node, Duration offset) {
    long now = System.currentTimeMillis();
    for (int i = 0; i < jumps.size(); i++) {
      Jump jump = jumps.get(i);
      if (jump.node == node && jump.end == Long.MAX_VALUE) {
        jumps.set(i, new Jump(node, jump.offsetMillis, jump.begin, now));
      }
    }
    jumps.add(new Jump(node, offset.toMillis(), now, Long.MAX_VALUE));
    try {
      Path fresh = folder.resolve("fresh" + node);
      Files.writeString(fresh, "%+d%n".formatted(offset.toSeconds()));
      Files.move(fresh, file(node), ATOMIC_MOVE);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns when it may have been what a node took for this time, in milliseconds since 1970. */
  synchronized LongStream whenStamped(int node, long stamp) {
    return LongStream.of(
        jumps.stream()
            .filter(jump -> jump.node == node && jump.mayHaveStamped(stamp - jump.offsetMillis))
            .mapToLong(jump -> stamp - jump.offsetMillis)
            .toArray());
  }

  /**
   * Removes what the library has left in shared memory of processes that were killed since these
   * clocks were made; to be called when all have ended.
   */
  void removeLeft() {
    try (Stream<Path> files = Files.list(Path.of("/dev/shm"))) {
      for (Path file : files.toList()) {
        Matcher name = LEFT.matcher(file.getFileName().toString());
        if (name.matches()
            && !Files.exists(Path.of("/proc", name.group(1)))
            && Files.getLastModifiedTime(file).compareTo(made) >= 0) {
          Files.deleteIfExists(file);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
