package io.holdfast.fs.stats;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Opens by applications, per process. Thread-safe. The processes that opened most recently are kept
 * apart up to a bound; what others had opened counts in the total alone.
 */
public final class OpenCounts {
  private static final int MOST_PROCESSES = 4096;

  private final LongAdder total = new LongAdder();
  private final ConcurrentHashMap<Integer, LongAdder> byProcess = new ConcurrentHashMap<>();
  private final ConcurrentHashMap<Integer, Integer> processOf = new ConcurrentHashMap<>();

  /** Counts one open by a thread, whose process is found out. */
  public void opened(int thread) {
    if (processOf.size() > MOST_PROCESSES) {
      processOf.clear();
    }
    counted(processOf.computeIfAbsent(thread, OpenCounts::process), 1);
  }

  /** Counts opens by a process. */
  public void counted(int process, long opens) {
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

  private static int process(int thread) {
    try {
      for (String line : Files.readAllLines(Path.of("/proc/" + thread + "/status"))) {
        if (line.startsWith("Tgid:")) {
          return Integer.parseInt(line.substring("Tgid:".length()).strip());
        }
      }
    } catch (IOException | NumberFormatException e) {
      return thread; // it has ended already
    }
    return thread;
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
