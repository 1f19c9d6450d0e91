package io.holdfast.fs.doctor;

import io.holdfast.fs.figures.ClusterFigures;
import io.holdfast.fs.figures.Figures;
import io.holdfast.fs.figures.NodeFigures;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Checks whether the nodes of a cluster see each other, and let each other in. */
final class PeersProbe implements Probe {
  private static final Duration DEADLINE = Duration.ofSeconds(1);

  /**
   * The most nodes that are called one by one; if more are missing, they are missing for one
   * reason.
   */
  private static final int MOST_CALLED = 3;

  private final PendingAnswers pending;

  PeersProbe(PendingAnswers pending) {
    this.pending = pending;
  }

  @Override
  public String name() {
    return "peers";
  }

  @Override
  public List<Finding> run() throws IOException, InterruptedException {
    Answers answers = pending.answers();
    if (answers.setting("listen").isEmpty()) {
      return List.of();
    }
    List<Finding> findings = new ArrayList<>();
    secret(answers.setting("cluster-secret-file")).ifPresent(findings::add);
    Set<String> view = answers.nodes().stream().map(NodeFigures::node).collect(Collectors.toSet());
    findings.add(Finding.ok("nodes in the view: " + view.size()));
    for (NodeFigures peer : answers.nodes()) {
      if (peer.state().equals("other dataset")) {
        findings.add(
            Finding.warn(
                "%s has another dataset: %s".formatted(peer.node(), peer.difference()),
                "a --dataset-id of its own for each dataset, the same on all nodes that have it"));
      }
      if (peer.state().equals("suspect")) {
        findings.add(
            Finding.warn(
                peer.node() + " failed lately and is left alone for a while",
                "'holdfast doctor' on that node"));
      }
    }
    answers
        .figures()
        .flatMap(Figures::cluster)
        .ifPresent(cluster -> findings.addAll(refusals(cluster)));
    findings.addAll(missing(answers.setting("peers").orElse(""), view));
    return findings;
  }

  private static List<Finding> refusals(ClusterFigures cluster) {
    List<Finding> findings = new ArrayList<>();
    new TreeMap<>(cluster.refusals())
        .forEach(
            (reason, count) -> {
              if (count > 0) {
                findings.add(
                    Finding.warn(
                        "connections that were refused (%s): %d".formatted(reason, count),
                        "the same secret or certificates, and --item-size, on all nodes"));
              }
            });
    return findings;
  }

  private static List<Finding> missing(String peers, Set<String> view) {
    if (peers.startsWith("dns:") || peers.startsWith("dir:")) {
      return List.of();
    }
    List<String> missing =
        List.of(peers.split(",", -1)).stream()
            .map(String::strip)
            .filter(node -> node.contains(":") && !view.contains(node))
            .toList();
    List<Finding> findings = new ArrayList<>();
    for (int i = 0; i < missing.size(); i++) {
      String why = i < MOST_CALLED ? call(missing.get(i)) : "not called";
      findings.add(
          Finding.warn(
              "%s is not in the view: %s".formatted(missing.get(i), why),
              "start its mount; open its port and the next one between the nodes; the same"
                  + " secret on both"));
    }
    return findings;
  }

  /** Opens a connection and sends nothing. */
  private static String call(String node) {
    int colon = node.lastIndexOf(':');
    try (Socket socket = new Socket()) {
      int port = Integer.parseInt(node.substring(colon + 1));
      InetSocketAddress address = new InetSocketAddress(node.substring(0, colon), port);
      if (address.isUnresolved()) {
        return "its name is unknown";
      }
      socket.connect(address, (int) DEADLINE.toMillis());
      return "it can be reached, but is of another cluster or does not let this node in";
    } catch (IOException | IllegalArgumentException e) {
      return String.valueOf(e.getMessage());
    }
  }

  private static Optional<Finding> secret(Optional<String> file)
      throws IOException, InterruptedException {
    if (file.isEmpty()) {
      return Optional.empty();
    }
    Optional<BoundedCommand.Output> output =
        BoundedCommand.run(DEADLINE, 1 << 12, List.of("stat", "-L", "-c", "%a", "--", file.get()));
    String mode = output.map(BoundedCommand.Output::text).orElse("no answer");
    if (mode.matches("[0-7]00")) {
      return Optional.of(Finding.ok("the secret is readable by its owner only"));
    }
    boolean tooOpen = mode.matches("[0-7]+");
    return Optional.of(
        Finding.fail(
            "%s: %s".formatted(file.get(), tooOpen ? "its mode is " + mode : mode),
            "chmod 600 " + file.get()));
  }
}
