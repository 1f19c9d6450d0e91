package io.holdfast.fs.daemon;

import io.holdfast.fs.mount.Binding;
import io.holdfast.fs.origin.Origin;
import io.holdfast.fs.origin.OriginHealth;
import io.holdfast.fs.peers.PeersReport;
import io.holdfast.fs.residency.Residency;
import io.holdfast.fs.stats.Activity;
import io.holdfast.fs.stats.OpenWatcher;
import io.holdfast.fs.stats.OwnProcess;
import io.holdfast.fs.stats.ReadStats;
import io.holdfast.fs.transit.Fetchers;
import io.holdfast.fs.transit.Transit;
import io.holdfast.fs.tree.DatasetScan;
import io.holdfast.policy.Policies;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * What {@code stats.json} says: counters since the mount, sizes in bytes, times in seconds.
 * Thread-safe; touches neither the origin nor the own mount.
 */
final class StatsReport {
  /** From what a local disk takes to the deadline. */
  private static final long[] BOUNDS_MICROS = {
    100,
    250,
    500,
    1_000,
    2_500,
    5_000,
    10_000,
    25_000,
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    30_000_000,
    60_000_000
  };

  private final Sources sources;
  private final Instant mountedAt = Instant.now().truncatedTo(ChronoUnit.SECONDS);
  private final long startNanos;

  /**
   * Where the figures come from.
   *
   * @param version Holdfast's version
   * @param restarts how many daemons this mount has had before this one
   * @param entriesLoaded how many entries were known from a mount before this one
   * @param opensCounted whether opens are being counted, one way or the other
   */
  record Sources(
      Settings settings,
      String version,
      long restarts,
      DatasetScan scan,
      LongSupplier entriesLoaded,
      Residency residency,
      Origin origin,
      Transit transit,
      ReadStats reads,
      Activity activity,
      Supplier<Map<String, Object>> accesses,
      Supplier<Map<String, Object>> memory,
      OpenWatcher watcher,
      BooleanSupplier opensCounted,
      Binding binding,
      Supplier<@Nullable PeersReport> peers,
      Supplier<List<Map<String, Object>>> tasks,
      LongSupplier nanoTime) {}

  StatsReport(Sources sources) {
    this.sources = sources;
    this.startNanos = sources.nanoTime.getAsLong();
  }

  Map<String, Object> stats() {
    sources.watcher.flush();
    Residency.Figures cache = sources.residency.figures();
    Map<String, Object> all = new LinkedHashMap<>();
    all.put("name", sources.settings.name());
    all.put("version", sources.version);
    all.put("origin", sources.settings.origin().toString());
    all.put("mountpoint", sources.settings.mountpoint().toString());
    all.put("mounted_at", mountedAt.toString());
    all.put("uptime_seconds", (sources.nanoTime.getAsLong() - startNanos) / 1_000_000_000L);
    all.put("dataset", dataset());
    all.put("cache", cache(cache));
    all.put("opens", opens());
    PeersReport peers = sources.peers.get();
    all.put("fetches", fetches(peers));
    if (peers != null) {
      all.put("cluster", cluster(peers));
    }
    all.put("reads", reads());
    all.put("jobs", JobsReport.jobs(sources.activity));
    all.put("processes", JobsReport.processes(sources.activity));
    all.put("transit", transit(cache));
    all.put("kernel", kernel(cache));
    all.put("memory", sources.memory.get());
    all.put("tasks", sources.tasks.get());
    all.put("errors", errors());
    all.put("process", process());
    all.put("access_log", sources.accesses.get());
    return all;
  }

  private Map<String, Object> dataset() {
    Map<String, Object> dataset = new LinkedHashMap<>();
    dataset.put("files", sources.scan.files());
    dataset.put("bytes", sources.scan.bytes());
    dataset.put("scanned", sources.scan.isComplete());
    dataset.put("entries_loaded", sources.entriesLoaded.getAsLong());
    dataset.put("scan_seconds", sources.scan.took().toMillis() / 1000.0);
    dataset.put("scan_age_seconds", sources.scan.age().toSeconds());
    dataset.put("names", sources.scan.names());
    dataset.put("names_bytes", sources.scan.memoryBytes());
    return dataset;
  }

  private Map<String, Object> cache(Residency.Figures figures) {
    Map<String, Object> cache = new LinkedHashMap<>();
    cache.put("policy", sources.residency.policyName());
    cache.put("capacity_bytes", figures.capacityBytes());
    cache.put("resident_bytes", figures.residentBytes());
    cache.put("resident_items", figures.residentItems());
    cache.put("kept_bytes", figures.keptBytes());
    cache.put("kept_items", figures.keptItems());
    cache.put("admitted_items", figures.admittedItems());
    cache.put("refused_items", figures.refusedItems());
    cache.put("evicted_items", figures.evictedItems());
    cache.put("pin_failures", figures.pinFailures());
    cache.put("planned_hit_ratio", plannedHitRatio());
    cache.put("pin", sources.residency.isHard() ? "hard" : "soft");
    return cache;
  }

  /** What each epoch from the second on will hit, by bytes; of what has been counted so far. */
  double plannedHitRatio() {
    if (sources.settings.policy().equals(Policies.NONE)) {
      return 0;
    }
    return hitRatio(sources.residency.figures().capacityBytes());
  }

  private double hitRatio(long capacity) {
    long whole = sources.scan.pageBytes();
    return whole == 0 ? 1 : Math.min(1, Math.round(10_000.0 * capacity / whole) / 10_000.0);
  }

  private Map<String, Object> opens() {
    Map<String, Object> opens = new LinkedHashMap<>();
    opens.put("counted", sources.opensCounted.getAsBoolean());
    opens.put("total", sources.activity.opens());
    return opens;
  }

  private Map<String, Object> cluster(PeersReport peers) {
    Map<String, Object> cluster = peers.cluster();
    cluster.put("planned_hit_ratio", plannedClusterHitRatio());
    return cluster;
  }

  /** What each epoch from the second on will hit here or at a peer, by bytes. */
  double plannedClusterHitRatio() {
    PeersReport peers = sources.peers.get();
    return peers == null ? plannedHitRatio() : hitRatio(peers.capacity());
  }

  private Map<String, Object> fetches(@Nullable PeersReport peers) {
    Map<String, Object> origin = new LinkedHashMap<>();
    origin.put("items", sources.transit.stats().originItems.sum());
    origin.put("bytes", sources.transit.stats().originBytes.sum());
    origin.put("errors", sources.transit.stats().originErrors.sum());
    origin.put("retries", sources.transit.stats().originRetries.sum());
    Fetchers.Figures turns = sources.transit.fetches();
    origin.put("limit", turns.limit());
    origin.put("in_flight", turns.inFlight());
    origin.put("queued", turns.queued());
    origin.put("stuck", turns.stuck());
    OriginHealth health = sources.origin.health();
    origin.put("silent", health.silent());
    origin.put("silences", health.silences());
    origin.put("unanswered_seconds", health.unansweredSeconds());
    origin.put("p50_us", micros(50));
    origin.put("p99_us", micros(99));
    origin.put("durations", durations());
    Map<String, Object> peer = new LinkedHashMap<>();
    peer.put("items", sources.transit.stats().peerItems.sum());
    peer.put("bytes", sources.transit.stats().peerBytes.sum());
    peer.put("errors", peers == null ? 0 : peers.errors());
    peer.put("by_node", peers == null ? Map.of() : peers.fetchesByNode());
    Map<String, Object> fetches = new LinkedHashMap<>();
    fetches.put("origin", origin);
    fetches.put("peer", peer);
    fetches.put("coalesced", sources.transit.stats().coalesced.sum());
    fetches.put("in_flight", sources.transit.stats().inFlight.sum());
    return fetches;
  }

  private long micros(double percent) {
    Histogram micros = sources.transit.stats().originMicros;
    return micros.getTotalCount() == 0 ? 0 : micros.getValueAtPercentile(percent);
  }

  /** How many took no longer than each bound: what monitoring computes quantiles of a time from. */
  private Map<String, Object> durations() {
    // a mean cannot be taken of one that grows meanwhile
    Histogram micros = sources.transit.stats().originMicros.copy();
    long count = micros.getTotalCount();
    Map<String, Object> upTo = new LinkedHashMap<>();
    for (long bound : BOUNDS_MICROS) {
      upTo.put(Double.toString(bound / 1e6), Math.min(count, upTo(micros, bound)));
    }
    Map<String, Object> durations = new LinkedHashMap<>();
    durations.put("count", count);
    durations.put("seconds", Math.round(micros.getMean() * count / 1000) / 1000.0);
    durations.put("up_to", upTo);
    return durations;
  }

  private static long upTo(Histogram micros, long bound) {
    return micros.getTotalCount() == 0 ? 0 : micros.getCountBetweenValues(0, bound);
  }

  private Map<String, Object> errors() {
    Map<String, Object> errors = new LinkedHashMap<>();
    errors.put("read", sources.reads.errorsByCause());
    errors.put("fetch", sources.transit.stats().errors.byCause());
    return errors;
  }

  private Map<String, Object> process() {
    Map<String, Object> process = new LinkedHashMap<>();
    process.put("memory_limit_bytes", sources.settings.memoryBytes());
    process.putAll(OwnProcess.now());
    return process;
  }

  private Map<String, Object> reads() {
    Map<String, Object> reads = new LinkedHashMap<>();
    reads.put("requests", sources.reads.requests());
    reads.put("bytes", sources.reads.bytes());
    reads.put("errors", sources.reads.errors());
    reads.put("stall_seconds", Math.round(sources.reads.stallSeconds() * 1000) / 1000.0);
    return reads;
  }

  private Map<String, Object> transit(Residency.Figures figures) {
    Map<String, Object> transit = new LinkedHashMap<>();
    transit.put("capacity_bytes", sources.transit.capacity());
    transit.put("used_bytes", sources.transit.used());
    transit.put("reclaimable_bytes", sources.transit.reclaimable());
    transit.put("window_bytes", figures.windowBytes());
    transit.put("dropped_bytes", figures.droppedBytes());
    return transit;
  }

  private Map<String, Object> kernel(Residency.Figures figures) {
    Map<String, Object> kernel = new LinkedHashMap<>();
    kernel.put("cached_bytes", figures.residentBytes() + figures.windowBytes());
    kernel.put("binding", sources.binding.name());
    kernel.put("daemon_restarts", sources.restarts);
    kernel.put("requests", sources.binding.requests());
    return kernel;
  }
}
