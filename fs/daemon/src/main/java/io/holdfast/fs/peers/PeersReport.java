package io.holdfast.fs.peers;

import io.holdfast.fs.figures.ClusterFigures;
import io.holdfast.fs.figures.FetchFigures;
import io.holdfast.fs.figures.NodeFigures;
import io.holdfast.fs.figures.PlanFigures;
import io.holdfast.fs.residency.Residency;
import io.holdfast.peer.ClusterNode;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.View;
import io.holdfast.peer.transfer.PeerFigures;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A report on the cluster at one moment. Immutable. */
public final class PeersReport {
  private final PeerSettings settings;
  private final Cluster cluster;
  private final View view;
  private final Residency residency;
  private final Map<NodeAddress, PeerFigures> figures;
  private final long errors;
  private final Map<String, Long> refusals;
  private final Agreement agreement;

  /**
   * The counters.
   *
   * @param peers figures of the current peers
   * @param errors errors of all peers, including former ones
   * @param refusals refusals by reason
   */
  record Counts(List<PeerFigures> peers, long errors, Map<String, Long> refusals) {
    static final Counts NONE = new Counts(List.of(), 0, Map.of());
  }

  PeersReport(
      PeerSettings settings,
      Cluster cluster,
      Residency residency,
      Counts counts,
      Agreement agreement) {
    this.settings = settings;
    this.cluster = cluster;
    this.view = cluster.view();
    this.residency = residency;
    this.figures =
        counts.peers().stream().collect(Collectors.toMap(PeerFigures::peer, Function.identity()));
    this.errors = counts.errors();
    this.refusals = counts.refusals();
    this.agreement = agreement;
  }

  /**
   * Returns the summary.
   *
   * @param plannedHitRatio expected ratio of hits here or at a peer, from the second epoch on
   * @param plan the plan that the nodes follow
   */
  public ClusterFigures cluster(double plannedHitRatio, PlanFigures plan) {
    return new ClusterFigures(
        settings.listen().toString(),
        settings.dataset().id(),
        view.version(),
        cluster.sharing().size(),
        agreement.others().size(),
        capacity(),
        rounded(cluster.share(view.self())),
        view.nodes().stream().filter(node -> isSuspect(figures.get(node.address()))).count(),
        refusals,
        plannedHitRatio,
        plan);
  }

  /** Tells whether a peer is left alone for a while; there are no figures of this node itself. */
  private static boolean isSuspect(@Nullable PeerFigures peer) {
    return peer != null && peer.suspect();
  }

  /** Returns the capacity of all nodes that share the dataset, in bytes; at most 2^63-1. */
  public long capacity() {
    long sum = 0;
    for (ClusterNode node : cluster.sharing()) {
      sum += Math.min(node.capacityBytes(), Long.MAX_VALUE - sum);
    }
    return sum;
  }

  /** Returns how many questions to peers have failed, including peers that have left. */
  public long errors() {
    return errors;
  }

  /** Returns the fetches from each peer in the view, and the load of each. */
  public Map<String, FetchFigures.Node> fetchesByNode() {
    Map<String, FetchFigures.Node> byNode = new LinkedHashMap<>();
    for (PeerFigures peer : figures.values()) {
      byNode.put(
          peer.peer().toString(),
          new FetchFigures.Node(
              peer.itemsIn(),
              peer.bytesIn(),
              peer.errors(),
              peer.load().limit(),
              peer.load().inFlight(),
              peer.load().queued()));
    }
    return byNode;
  }

  /** Returns a row for each node of the view. */
  public List<NodeFigures> nodes() {
    return view.nodes().stream().map(node -> row(node, figures.get(node.address()))).toList();
  }

  private NodeFigures row(ClusterNode node, @Nullable PeerFigures peer) {
    boolean self = node.address().equals(settings.listen());
    return new NodeFigures(
        node.address().toString(),
        node.dataset().id(),
        self ? "self" : state(node, peer),
        self ? "" : difference(node),
        peer == null ? "" : peer.since().toString(),
        node.capacityBytes(),
        self ? residency.figures().residentBytes() : peer == null ? -1 : peer.residentBytes(),
        rounded(cluster.share(node)),
        peer == null ? 0 : peer.itemsIn(),
        peer == null ? 0 : peer.bytesIn(),
        peer == null ? 0 : peer.itemsOut(),
        peer == null ? 0 : peer.bytesOut(),
        peer == null ? 0 : peer.errors(),
        peer == null ? 0 : micros(peer.p50()),
        peer == null ? 0 : micros(peer.p99()));
  }

  /** Returns why a node shares nothing with this one; empty where it does. */
  private String difference(ClusterNode node) {
    if (!node.dataset().equals(settings.dataset())) {
      return "it has " + node.dataset() + ", and this node " + settings.dataset();
    }
    return agreement.known(node.address()).map(Verdict::detail).orElse("");
  }

  private String state(ClusterNode node, @Nullable PeerFigures peer) {
    if (!node.dataset().equals(settings.dataset())) {
      return "other dataset";
    }
    Verdict verdict = agreement.known(node.address()).orElse(Verdict.unknown(""));
    if (!verdict.isSame()) {
      return verdict.kind() == Verdict.Kind.OTHER ? "other dataset" : "comparing";
    }
    return isSuspect(peer) ? "suspect" : "up";
  }

  private static long micros(Duration time) {
    return time.toNanos() / 1000;
  }

  private static double rounded(double share) {
    return Math.round(share * 10_000) / 10_000.0;
  }
}
