package io.holdfast.chaos;

import io.holdfast.it.Await;
import io.holdfast.it.Cluster;
import io.holdfast.it.Cluster.Node;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Checks that everything is as at the start, once no fault is active any more. */
final class Aftermath {
  private static final Duration WHOLE_AGAIN = Duration.ofSeconds(60);
  private static final Duration CALM = Duration.ofSeconds(60);

  /** The figures of things under way. */
  private static final List<String> GAUGES =
      List.of(
          "fetches.in_flight",
          "fetches.origin.in_flight",
          "fetches.origin.queued",
          "fetches.origin.stuck",
          "transit.used_bytes",
          "cache.pin_backlog_bytes",
          "transit.window_bytes");

  private final Cluster cluster;
  private final Findings findings;
  private final LogCheck logs;
  private final List<Footprint> before = new ArrayList<>();

  /** Remembers what the daemons take now. */
  Aftermath(VerifyingReaders.Setting setting, LogCheck logs) {
    cluster = setting.cluster();
    findings = setting.findings();
    this.logs = logs;
    cluster.nodes().forEach(node -> before.add(Footprint.of(node.mount())));
  }

  void awaitWhole() {
    attempt(
        "the cluster is not whole again",
        () -> {
          for (Node node : cluster.nodes()) {
            if (node.mount().supervisor() != 0) {
              node.mount().findAgain(WHOLE_AGAIN);
            }
          }
          cluster.awaitWhole(WHOLE_AGAIN);
        });
  }

  void refresh() {
    for (Node node : cluster.nodes()) {
      attempt("no refresh", () -> node.mount().refresh());
    }
  }

  void check() {
    for (int i = 0; i < before.size(); i++) {
      Node node = cluster.node(i);
      Footprint then = before.get(i);
      for (String gauge : GAUGES) {
        attempt(gauge + " of node " + i, () -> awaitNothing(node, gauge));
      }
      awaitNothingFromPeers(i);
      attempt(
          "node " + i + " has grown",
          () ->
              Await.value(
                  CALM,
                  "as little as " + then,
                  () -> Footprint.of(node.mount()),
                  now -> now.isAsSmallAs(then)));
      findings.say("node %d: %s; before: %s".formatted(i, Footprint.of(node.mount()), then));
      checkLog(i);
    }
  }

  private static void awaitNothing(Node node, String gauge) {
    Await.value(
        CALM,
        gauge + " back to 0",
        () -> node.mount().stats().number(gauge),
        number -> number == 0);
  }

  private void awaitNothingFromPeers(int i) {
    for (Node peer : cluster.nodes()) {
      for (String figure : List.of("in_flight", "queued")) {
        attempt(
            figure + " of node " + i,
            () ->
                Await.value(
                    CALM,
                    "nothing asked of " + peer.address(),
                    () -> cluster.node(i).mount().stats().ofPeer(peer.address(), figure),
                    number -> number == 0));
      }
    }
  }

  private void checkLog(int node) {
    try (Stream<String> lines = Files.lines(cluster.node(node).mount().log())) {
      lines
          .filter(line -> logs.isUnexplained(node, line))
          .forEach(line -> findings.violation("log of node " + node + ": " + line));
    } catch (IOException e) {
      findings.violation("no log of node " + node + ": " + e);
    }
  }

  void unmountAll() {
    for (Node node : cluster.nodes()) {
      attempt("no umount", () -> node.mount().umount().mustSucceed());
    }
  }

  private void attempt(String otherwise, Runnable task) {
    try {
      task.run();
    } catch (AssertionError | RuntimeException e) {
      findings.violation(otherwise + ": " + e.getMessage());
    }
  }
}
