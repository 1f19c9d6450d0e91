package io.holdfast.peer.transfer;

import static io.holdfast.peer.transfer.Nodes.await;
import static io.holdfast.peer.transfer.Nodes.fetch;
import static io.holdfast.peer.transfer.Nodes.whole;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.transfer.Nodes.TestNode;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Which peers are left alone, and until when. */
final class SuspectTest {
  private static final int LENGTH = 300_000;

  private final Nodes nodes = new Nodes();

  @AfterEach
  void close() {
    nodes.close();
  }

  private static PeerFigures figures(TestNode asker) {
    return asker.transfer().figures().get(0);
  }

  /** A peer that nobody read from any more stayed suspect, and its alert went on. */
  @Test
  void suspect_nobodyAsksAfterAFault_isTriedAgain() {
    Wiretap road = nodes.closing(new Wiretap("127.0.0.6"));
    TestNode owner = road.node(nodes);
    owner.shelf().sketch.complete("sketch");
    TestNode asker = nodes.start("127.0.0.5");
    road.questions = (bytes, length, at) -> 0;
    assertThat(fetch(asker, owner.address(), whole("a", LENGTH), nodes.memory(LENGTH)).kind())
        .isEqualTo(TransferResult.Kind.FAULT);
    assertThat(figures(asker).suspect()).isTrue();
    road.questions = null;

    Eventually.holds("it is well again", () -> !figures(asker).suspect());

    assertThat(owner.shelf().asked).isEmpty();
  }

  /**
   * A node whose disk hangs answers all the same. Each refusal counted as health, so that its part
   * of all misses waited for it without end.
   */
  @Test
  void fetch_originOfThePeerIsSlow_leftAloneUntilAnItemComes() {
    TestNode slow = nodes.start(nodes.wantsAnswers("127.0.0.6", 1800)); // refuses after 1,200 ms
    slow.put("a", LENGTH);
    slow.shelf().sketch.complete("sketch");
    AtomicInteger asked = new AtomicInteger();
    slow.shelf().instead = answer -> asked.incrementAndGet();
    TestNode other = nodes.start(nodes.wantsAnswers("127.0.0.5", 6000)); // 1,000 ms are long for it
    List<CompletableFuture<TransferResult>> outcomes = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      outcomes.add(
          other.ask(
              slow.address(),
              Sketches.NONE,
              whole("a", LENGTH),
              nodes.memory(LENGTH).memoryAddress()));
    }
    outcomes.forEach(
        each -> assertThat(await(each)).isEqualTo(TransferResult.refused(Refusal.ORIGIN_FAILED)));

    assertThat(fetch(other, slow.address(), whole("a", LENGTH), nodes.memory(LENGTH)))
        .isEqualTo(TransferResult.SUSPECT);
    assertThat(figures(other).suspect()).isTrue();
    assertThat(other.transfer().errors()).isZero();
    assertThat(asked).hasValue(3);

    Eventually.holds(
        "it tells its sketch",
        () -> other.transfer().sketch(slow.address()).join().outcome().isFetched());
    assertThat(figures(other).suspect()).isTrue();
    slow.shelf().instead = null;
    assertThat(fetch(other, slow.address(), whole("a", LENGTH), nodes.memory(LENGTH)).isFetched())
        .isTrue();
    assertThat(figures(other).suspect()).isFalse();
  }

  /**
   * Each new connection looked the name up, and each lookup that was late was a fault of a peer
   * that answered at the same time.
   */
  @Test
  void fetch_nameServerFallsSilent_newConnectionToTheLastAddress() {
    Wiretap road = nodes.closing(new Wiretap("127.0.0.6"));
    NodeAddress named = new NodeAddress("named.invalid", road.address().port());
    nodes.start(Nodes.config(named, Nodes.SECRET), road.behind()).put("a", LENGTH);
    CompletableFuture<Void> silence = nodes.gate();
    AtomicInteger lookups = new AtomicInteger();
    TestNode hasty =
        startWithLookup(
            "127.0.0.5",
            name -> {
              if (lookups.getAndIncrement() > 0) {
                silence.join();
              }
              return road.address().resolve();
            });
    assertThat(fetch(hasty, named, whole("a", LENGTH), nodes.memory(LENGTH)).isFetched()).isTrue();
    road.cut();

    for (int i = 0; i < 2; i++) {
      assertThat(fetch(hasty, named, whole("a", LENGTH), nodes.memory(LENGTH)))
          .isEqualTo(TransferResult.FETCHED);
      road.cut();
    }

    assertThat(road.connections()).isEqualTo(3);
    assertThat(lookups).hasValue(2);
    assertThat(figures(hasty).suspect()).isFalse();
    assertThat(hasty.transfer().errors()).isZero();
  }

  /** Starts a node that waits for 4 s for a connection. */
  private TestNode startWithLookup(String host, Function<NodeAddress, InetSocketAddress> lookup) {
    NodeAddress address = Nodes.free(host);
    Transfer.Config config =
        new Transfer.Config(
            address,
            Nodes.DATASET,
            Nodes.SECRET,
            Nodes.deadlines(4000, 60_000, 60_000),
            Transfer.Limits.DEFAULT);
    return nodes.start(config, address.resolve(), lookup);
  }
}
