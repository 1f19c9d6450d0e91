package io.holdfast.fs.peers;

import io.holdfast.fs.residency.Residency;
import io.holdfast.peer.Node;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.View;
import io.holdfast.peer.transfer.PeerFigures;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What is known of the cluster at one moment, as nested maps: sizes in bytes, times in
 * microseconds. Immutable.
 */
public final class PeersReport {
  private final PeerSettings settings;
  private final Cluster cluster;
  private final View view;
  private final Residency residency;
  private final Map<NodeAddress, PeerFigures> figures;
  private final long errors;
  private final Map<String, Long> refusals;

  /**
   * What was counted.
   *
   * @param peers of each peer that is known now
   * @param errors of all there were
   * @param refusals by reason
   */
  record Counts(List<PeerFigures> peers, long errors, Map<String, Long> refusals) {
    static final Counts NONE = new Counts(List.of(), 0, Map.of());
  }

  PeersReport(PeerSettings settings, Cluster cluster, Residency residency, Counts counts) {
    this.settings = settings;
    this.cluster = cluster;
    this.view = cluster.view();
    this.residency = residency;
    this.figures =
        counts.peers().stream().collect(Collectors.toMap(PeerFigures::peer, Function.identity()));
    this.errors = counts.errors();
    this.refusals = counts.refusals();
  }

  /** Returns the summary that {@code stats.json} has under {@code cluster}. */
  public Map<String, Object> cluster() {
    Map<String, Object> summary = new LinkedHashMap<>();
    summary.put("listen", settings.listen().toString());
    summary.put("dataset", settings.dataset().id());
    summary.put("view", view.version());
    summary.put("nodes", view.sharing().size());
    summary.put("capacity_bytes", capacity());
    summary.put("share", rounded(cluster.share(view.self())));
    summary.put("suspect", figures.values().stream().filter(PeerFigures::suspect).count());
    summary.put("refusals", new LinkedHashMap<>(refusals));
    return summary;
  }

  /** Returns what all nodes that share the dataset may keep together, in bytes. */
  public long capacity() {
    return view.sharing().stream().mapToLong(Node::capacityBytes).sum();
  }

  /** Returns how many times asking a peer failed, also one that has left since. */
  public long errors() {
    return errors;
  }

  /**
   * Returns what came from each peer that is in the view: {@code items}, {@code bytes} and {@code
   * errors}, and what is being asked of it: {@code limit}, {@code in_flight} and {@code queued}.
   */
  public Map<String, Object> fetchesByNode() {
    Map<String, Object> byNode = new LinkedHashMap<>();
    for (PeerFigures peer : figures.values()) {
      Map<String, Object> fetches = new LinkedHashMap<>();
      fetches.put("items", peer.itemsIn());
      fetches.put("bytes", peer.bytesIn());
      fetches.put("errors", peer.errors());
      fetches.put("limit", peer.load().limit());
      fetches.put("in_flight", peer.load().inFlight());
      fetches.put("queued", peer.load().queued());
      byNode.put(peer.peer().toString(), fetches);
    }
    return byNode;
  }

  /** Returns a row for each node of the view. */
  public List<Map<String, Object>> peers() {
    List<Map<String, Object>> rows = new ArrayList<>();
    for (Node node : view.nodes()) {
      rows.add(row(node, figures.get(node.address())));
    }
    return rows;
  }

  private Map<String, Object> row(Node node, @Nullable PeerFigures peer) {
    boolean self = node.address().equals(settings.listen());
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("node", node.address().toString());
    row.put("dataset", node.dataset().id());
    row.put("state", self ? "self" : state(node, peer));
    row.put("since", peer == null ? "" : peer.since().toString());
    row.put("capacity_bytes", node.capacityBytes());
    row.put(
        "resident_bytes",
        self ? residency.figures().residentBytes() : peer == null ? -1 : peer.residentBytes());
    row.put("share", rounded(cluster.share(node)));
    row.put("items_in", peer == null ? 0 : peer.itemsIn());
    row.put("bytes_in", peer == null ? 0 : peer.bytesIn());
    row.put("items_out", peer == null ? 0 : peer.itemsOut());
    row.put("bytes_out", peer == null ? 0 : peer.bytesOut());
    row.put("errors", peer == null ? 0 : peer.errors());
    row.put("p50_us", peer == null ? 0 : micros(peer.p50()));
    row.put("p99_us", peer == null ? 0 : micros(peer.p99()));
    return row;
  }

  private String state(Node node, @Nullable PeerFigures peer) {
    if (!node.dataset().equals(settings.dataset())) {
      return "other dataset";
    }
    return peer != null && peer.suspect() ? "suspect" : "up";
  }

  private static long micros(Duration time) {
    return time.toNanos() / 1000;
  }

  private static double rounded(double share) {
    return Math.round(share * 10_000) / 10_000.0;
  }
}
