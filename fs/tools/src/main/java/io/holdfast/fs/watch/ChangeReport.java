package io.holdfast.fs.watch;

import io.holdfast.fs.figures.Figures;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Turns a change of a mount's figures into nested maps, for JSON. Sizes are in bytes, rates per
 * second, shares from 0 to 1; an unknown figure is null. Stateless.
 */
public final class ChangeReport {
  private ChangeReport() {}

  /** Returns the rates of the mount as a whole. */
  public static Map<String, @Nullable Object> rates(Change change) {
    Map<String, @Nullable Object> rates = new LinkedHashMap<>();
    rates.put("seconds", rounded(change.seconds()));
    rates.put("since_mount", change.isSinceMount());
    rates.put("hit_ratio", rounded(change.hitRatio()));
    rates.put("opens", change.countsOpens() ? rate(change, change.opens()) : null);
    rates.put("peer_items", rate(change, change.peerItems()));
    rates.put("peer_bytes", rate(change, change.peerBytes()));
    rates.put("origin_items", rate(change, change.originItems()));
    rates.put("origin_bytes", rate(change, change.originBytes()));
    rates.put("stall_share", rounded(change.stallShare()));
    rates.put("stalled_readers", rounded(change.stalledReaders()));
    rates.put("errors", rate(change, change.errors()));
    return rates;
  }

  /** Returns everything that the screen shows. */
  public static Map<String, @Nullable Object> all(Change change) {
    Figures now = change.now();
    Map<String, @Nullable Object> all = new LinkedHashMap<>();
    all.put("name", now.name());
    all.put("mountpoint", now.mountpoint());
    all.put("uptime_seconds", now.uptimeSeconds());
    all.put("dataset_files", now.dataset().files());
    all.put("dataset_bytes", now.dataset().bytes());
    all.put("resident_bytes", now.cache().residentBytes());
    all.put("capacity_bytes", now.cache().capacityBytes());
    all.put("rates", rates(change));
    all.put("tiers", Tier.of(change).stream().map(tier -> tier(change, tier)).toList());
    all.put("jobs", change.jobs().stream().map(job -> job(change, job)).toList());
    all.put("processes", change.processes().stream().map(each -> process(change, each)).toList());
    all.put("peers", peers(change));
    return all;
  }

  private static Map<String, @Nullable Object> tier(Change change, Tier tier) {
    Map<String, @Nullable Object> map = new LinkedHashMap<>();
    map.put("tier", tier.name());
    map.put("items", rate(change, tier.items()));
    map.put("bytes", rate(change, tier.bytes()));
    map.put("bytes_are_a_guess", tier.guessed());
    map.put("share", rounded(tier.share()));
    return map;
  }

  private static Map<String, @Nullable Object> job(Change change, Usage job) {
    Map<String, @Nullable Object> map = new LinkedHashMap<>();
    map.put("job", job.name());
    map.put("processes", job.processes());
    map.put("epoch", job.epoch() < 0 ? null : job.epoch());
    map.put("verdict", job.waitsFor());
    addWork(map, change, job);
    return map;
  }

  private static Map<String, @Nullable Object> process(Change change, Usage process) {
    Map<String, @Nullable Object> map = new LinkedHashMap<>();
    map.put("pid", process.pid());
    map.put("command", process.command());
    map.put("job", process.name());
    addWork(map, change, process);
    return map;
  }

  private static void addWork(Map<String, @Nullable Object> map, Change change, Usage usage) {
    Map<String, @Nullable Object> rates = new LinkedHashMap<>();
    rates.put("hit_ratio", rounded(usage.recent().hitRatio()));
    rates.put("opens", rate(change, usage.recent().opens()));
    rates.put("misses", rate(change, usage.recent().misses()));
    rates.put("fetched_bytes", rate(change, usage.recent().fetchedBytes()));
    rates.put("stall_share", rounded(usage.stallShare(change.seconds())));
    rates.put("stall_seconds", rate(change, usage.recent().stallSeconds()));
    map.put("rates", rates);
    map.put("opens", usage.total().opens());
    map.put("misses", usage.total().misses());
    map.put("fetched_bytes", usage.total().fetchedBytes());
    map.put("stall_seconds", usage.total().stallSeconds());
  }

  private static List<Map<String, @Nullable Object>> peers(Change change) {
    List<Map<String, @Nullable Object>> peers = new ArrayList<>();
    for (Change.PeerUse peer : change.peers()) {
      Map<String, @Nullable Object> map = new LinkedHashMap<>();
      map.put("node", peer.row().node());
      map.put("state", peer.row().state());
      map.put("bytes_in", peer.row().bytesIn());
      map.put("bytes_out", peer.row().bytesOut());
      map.put("errors", peer.row().errors());
      map.put("p50_us", peer.row().p50Us());
      map.put("p99_us", peer.row().p99Us());
      Map<String, @Nullable Object> rates = new LinkedHashMap<>();
      rates.put("bytes_in", rate(change, peer.bytesIn()));
      rates.put("bytes_out", rate(change, peer.bytesOut()));
      map.put("rates", rates);
      peers.add(map);
    }
    return peers;
  }

  private static @Nullable Double rate(Change change, long count) {
    return rounded(change.rate(count));
  }

  private static @Nullable Double rate(Change change, double count) {
    return rounded(change.rate(count));
  }

  private static @Nullable Double rounded(double value) {
    return Double.isNaN(value) ? null : Math.round(value * 10_000) / 10_000.0;
  }
}
