package io.holdfast.fs.mount;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import io.holdfast.fs.transit.Reader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Tells whose memory cgroup a reader's pages are charged to, from /proc. Thread-safe. An answer is
 * kept for a second, since the same thread reads many files and seldom moves.
 */
final class CallerMemory {
  private static final Duration KEEP = Duration.ofSeconds(1);
  private static final long MOST_THREADS = 10_000;

  private final @Nullable String own;
  private final LoadingCache<Integer, Reader> readers;

  CallerMemory() {
    own = cgroup("self");
    readers =
        Caffeine.newBuilder()
            .expireAfterWrite(KEEP)
            .maximumSize(MOST_THREADS)
            .executor(Runnable::run)
            .build(this::find);
  }

  Reader reader(int thread) {
    return readers.get(thread);
  }

  private Reader find(int thread) {
    if (Files.exists(Path.of("/proc/self/task/" + thread))) {
      return new Reader(thread, true, false);
    }
    String other = thread == 0 ? null : cgroup(Integer.toString(thread));
    return new Reader(thread, false, other == null || !other.equals(own));
  }

  /** Returns the line of the memory controller, or of the unified hierarchy where there is none. */
  private static @Nullable String cgroup(String process) {
    try {
      List<String> lines = Files.readAllLines(Path.of("/proc/" + process + "/cgroup"));
      String unified = null;
      for (String line : lines) {
        if (line.contains(":memory:") || line.contains(",memory") || line.contains("memory,")) {
          return line;
        }
        if (line.startsWith("0::")) {
          unified = line;
        }
      }
      return unified;
    } catch (IOException e) {
      return null; // it has ended, or is of another pid namespace
    }
  }
}
