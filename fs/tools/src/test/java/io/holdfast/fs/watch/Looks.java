package io.holdfast.fs.watch;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Makes looks at a mount that there is not. */
final class Looks {
  private final Map<String, Object> stats = new LinkedHashMap<>();
  private final List<Object> jobs = new ArrayList<>();
  private final List<Map<String, Object>> processes = new ArrayList<>();
  private final List<Map<String, Object>> peers = new ArrayList<>();
  private long nanos;

  Looks() {
    stats.put("name", "data-set");
    stats.put("mountpoint", "/data/set");
    stats.put("mounted_at", "2026-11-21T10:00:00Z");
    stats.put("uptime_seconds", 100L);
    stats.put("dataset", Map.of("files", 1000L, "bytes", 100_000_000L, "scanned", true));
    stats.put(
        "cache",
        Map.of(
            "policy",
            "minio",
            "capacity_bytes",
            80_000_000L,
            "resident_bytes",
            40_000_000L,
            "planned_hit_ratio",
            0.8));
    stats.put("jobs", Map.of("by", "cgroup", "jobs", jobs));
    stats.put("processes", processes);
    opens(0, 0).fetched(0, 0, 0, 0).stalled(0);
  }

  Looks at(double seconds) {
    nanos = (long) (seconds * 1e9);
    stats.put("uptime_seconds", (long) (100 + seconds));
    return this;
  }

  Looks with(String key, Object value) {
    stats.put(key, value);
    return this;
  }

  /** Has files of one item opened. */
  Looks opens(long total, long misses) {
    return opens(total, total, misses);
  }

  Looks opens(long total, long items, long misses) {
    stats.put("opens", Map.of("counted", true, "total", total, "items", items, "misses", misses));
    return this;
  }

  Looks fetched(long peerItems, long peerBytes, long originItems, long originBytes) {
    stats.put(
        "fetches",
        Map.of(
            "peer",
            Map.of("items", peerItems, "bytes", peerBytes, "errors", 0),
            "origin",
            Map.of("items", originItems, "bytes", originBytes, "errors", 0)));
    return this;
  }

  Looks stalled(double seconds) {
    stats.put("reads", Map.of("stall_seconds", seconds, "errors", 0));
    return this;
  }

  Looks job(String name, long opens, long misses, long bytes, double stalled) {
    Map<String, Object> job = work(opens, misses, bytes, stalled);
    job.put("job", name);
    job.put("processes", 2L);
    job.put("epoch", 3L);
    job.put("verdict", stalled > 0 ? "storage" : "unknown");
    jobs.add(job);
    return this;
  }

  Looks process(long pid, String job, long opens, long misses, double stalled) {
    Map<String, Object> process = work(opens, misses, misses * 1000, stalled);
    process.put("pid", pid);
    process.put("job", job);
    process.put("command", "python");
    processes.add(process);
    return this;
  }

  Looks ended(long pid, String job, String command, long opens) {
    process(pid, job, opens, 1, 0);
    processes.get(processes.size() - 1).put("ended", true);
    processes.get(processes.size() - 1).put("command", command);
    return this;
  }

  private static Map<String, Object> work(long opens, long misses, long bytes, double stalled) {
    Map<String, Object> work = new LinkedHashMap<>();
    work.put("opens", opens);
    work.put("items", opens);
    work.put("misses", misses);
    work.put("fetched_bytes", bytes);
    work.put("stall_seconds", stalled);
    return work;
  }

  Looks peer(String node, String state, long bytesIn) {
    peers.add(Map.of("node", node, "state", state, "bytes_in", bytesIn, "p50_us", 1234L));
    return this;
  }

  Snapshot look() {
    return Snapshot.of(stats, peers, nanos);
  }
}
