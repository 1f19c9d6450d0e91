package io.holdfast.fs.doctor;

import io.holdfast.fs.figures.NodeFigures;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Checks whether the clocks of peers agree with this machine's: certificates and the order of logs
 * need that.
 */
final class PeerClocksProbe implements Probe {
  private static final Duration DEADLINE = Duration.ofSeconds(1);
  private static final Duration BAD = Duration.ofSeconds(30);

  /** The number of peers to ask; if this machine's clock is wrong, it differs from all of them. */
  private static final int MOST_ASKED = 3;

  private final PendingAnswers pending;
  private final Clock clock;

  PeerClocksProbe(PendingAnswers pending, Clock clock) {
    this.pending = pending;
    this.clock = clock;
  }

  @Override
  public String name() {
    return "clocks";
  }

  @Override
  public List<Finding> run() throws InterruptedException {
    Answers answers = pending.answers();
    if (answers.setting("tls-cert").isPresent()) {
      return List.of(); // only clients with a certificate may ask
    }
    List<Finding> findings = new ArrayList<>();
    for (NodeFigures peer : answers.nodes()) {
      if (peer.state().equals("up") && findings.size() < MOST_ASKED) {
        ask(peer.node()).ifPresent(findings::add);
      }
    }
    return findings;
  }

  private Optional<Finding> ask(String node) throws InterruptedException {
    try {
      return new RemoteClock(clock, DEADLINE)
          .difference("http://" + node + "/healthz")
          .map(off -> judge(node, off));
    } catch (IOException e) {
      return Optional.of(
          Finding.warn(
              "%s does not say its time: %s".formatted(node, e.getMessage()),
              "'holdfast doctor' on that node"));
    }
  }

  private static Finding judge(String node, Duration off) {
    String text = "that of %s differs by %d s".formatted(node, off.toSeconds());
    return off.compareTo(BAD) > 0
        ? Finding.warn(text, "'timedatectl set-ntp true' on both nodes")
        : Finding.ok(text);
  }
}
