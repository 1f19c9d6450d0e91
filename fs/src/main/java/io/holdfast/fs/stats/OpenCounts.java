package io.holdfast.fs.stats;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import io.holdfast.fs.linux.Linux;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Opens by applications, per process; those of this process do not count. Thread-safe. The
 * processes that opened most recently are kept apart up to a bound; what others had opened counts
 * in the total alone.
 */
public final class OpenCounts {
  private static final int MOST_PROCESSES = 4096;

  private final LongAdder total = new LongAdder();
  private final ConcurrentHashMap<Integer, LongAdder> byProcess = new ConcurrentHashMap<>();
  private final int ownProcess = (int) ProcessHandle.current().pid();

  /**
   * Kept as long as a thread opens files, and a while longer; its number is used again much later.
   */
  private final LoadingCache<Integer, Integer> processOf =
      Caffeine.newBuilder()
          .expireAfterAccess(Duration.ofSeconds(10))
          .maximumSize(2 * MOST_PROCESSES)
          .executor(Runnable::run)
          .build(Linux::processOf);

  /** Counts opens by a thread, whose process is found out. */
  public void opened(int thread, long opens) {
    int process = processOf.get(thread);
    if (process != ownProcess) {
      counted(process, opens);
    }
  }

  private void counted(int process, long opens) {
    total.add(opens);
    LongAdder count = byProcess.get(process);
    if (count == null) {
      if (byProcess.size() >= MOST_PROCESSES) {
        byProcess.keySet().removeIf(pid -> !Files.exists(Path.of("/proc/" + pid)));
      }
      count = byProcess.computeIfAbsent(process, pid -> new LongAdder());
    }
    count.add(opens);
  }

  /** Returns the opens since the mount. */
  public long total() {
    return total.sum();
  }

  /** Returns the opens since the mount by process id, in its order. */
  public Map<Integer, Long> byProcess() {
    Map<Integer, Long> all = new TreeMap<>();
    byProcess.forEach((process, count) -> all.put(process, count.sum()));
    return all;
  }
}
