package io.holdfast.fs.peers;

import static io.holdfast.fs.peers.PeersFixture.A;
import static io.holdfast.fs.peers.PeersFixture.B;
import static io.holdfast.fs.peers.PeersFixture.DATASET;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.Await;
import io.holdfast.fs.FakeClock;
import io.holdfast.fs.Sandbox;
import io.holdfast.fs.origin.Origin;
import io.holdfast.fs.origin.posix.PosixOrigin;
import io.holdfast.fs.plan.Planned;
import io.holdfast.fs.residency.Selection;
import io.holdfast.fs.transit.Item;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.transfer.Asker;
import io.holdfast.peer.transfer.BufferLease;
import io.holdfast.peer.transfer.ItemProvider;
import io.holdfast.peer.transfer.Refusal;
import io.holdfast.peer.transfer.Sketches;
import io.holdfast.peer.transfer.Told;
import io.holdfast.peer.transfer.TransferResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two nodes that compare their datasets, and ask each other for items meanwhile. */
final class MutualAgreementTest {
  private static final int FILES = 10;

  private final FakeClock clock = new FakeClock();
  private PeersFixture node;
  private Sandbox sandbox;
  private Item item;
  private Side one;
  private Side other;

  @BeforeEach
  void create() throws IOException {
    node = new PeersFixture(64 << 20, Selection.NONE);
    node.view(A, B);
    sandbox = Sandbox.create();
    item = node.write(name(0), 10_000);
    for (int i = 1; i < FILES; i++) {
      node.write(name(i), 10_000 + i);
    }
    copy(name(0));
    one = new Side(A.address(), node.sandbox.root());
    other = new Side(B.address(), sandbox.root());
  }

  @AfterEach
  void close() throws IOException {
    one.origin.close();
    other.origin.close();
    sandbox.close();
    node.close();
  }

  private static String name(int number) {
    return "file-" + number;
  }

  private void copy(String name) throws IOException {
    Path here = node.sandbox.path(name);
    Path there = Files.copy(here, sandbox.path(name));
    Files.setLastModifiedTime(there, Files.getLastModifiedTime(here));
  }

  /** A node with its dataset. Both have the items of one fixture: only agreement is of interest. */
  private final class Side {
    private final NodeAddress address;
    private final Origin origin;
    private final Agreement agreement;
    private final AgreedService service;
    private final AgreedAsking asking;

    Side(NodeAddress address, Path root) throws IOException {
      this.address = address;
      origin = PosixOrigin.open(root, () -> Instant.now().plus(Duration.ofHours(1)));
      agreement =
          new Agreement(
              DATASET.id(),
              address,
              new Agreement.Parts(
                  new OwnSketch(new SketchMaker(origin, clock), clock),
                  Runnable::run,
                  clock,
                  Agreement.LONGEST_WAIT),
              peer ->
                  peer(peer)
                      .service
                      .sketch(address)
                      .thenApply(text -> new Told(TransferResult.FETCHED, "name", text)),
              () -> {});
      service =
          new AgreedService(
              agreement,
              new PeerService(
                  node.cluster,
                  node.tree,
                  node.layout,
                  node.transit,
                  node.residency,
                  Planned.NONE,
                  node.threads),
              () -> "");
      asking = new AgreedAsking(agreement, () -> null);
    }

    private Side peer(NodeAddress peer) {
      return peer.equals(A.address()) ? one : other;
    }

    /** Misses the item, and asks a peer with the same dataset; returns whether it had the bytes. */
    boolean asks(Side peer) {
      Verdict verdict = agreement.with(peer.address).join();
      if (!verdict.isSame()) {
        return false;
      }
      CompletableFuture<TransferResult> answer = new CompletableFuture<>();
      peer.service.get(
          PeerRequests.of(DATASET, item, item, false),
          new Asker(address, new Sketches(agreement.mark(), verdict.theirs())),
          new ItemProvider.Answer() {
            @Override
            public void lent(BufferLease loan) {
              loan.close();
              answer.complete(TransferResult.FETCHED);
            }

            @Override
            public void refused(Refusal refusal) {
              answer.complete(TransferResult.refused(refusal));
            }
          });
      TransferResult outcome = answer.orTimeout(Await.LONGEST.toSeconds(), TimeUnit.SECONDS).join();
      asking.learn(peer.address, outcome);
      return outcome.isFetched();
    }
  }

  /**
   * One dataset was a part of the other, so one side found that and the other heard of it. Each
   * refused what the other asked for because of what it had heard, and the other took that for a
   * finding, in turns, for as long as both were reading.
   */
  @Test
  void ask_bothAskWhileTheirDatasetsBecomeEqual_shareInTheEnd() throws IOException {
    one.agreement.peers(Set.of(B.address()));
    other.agreement.peers(Set.of(A.address()));
    clock.advance(Duration.ofSeconds(5));
    assertThat(other.asks(one)).as("it has found a difference").isFalse();
    assertThat(one.asks(other)).as("it is told so").isFalse();
    assertThat(one.agreement.others()).containsExactly(B.address());
    for (int i = 1; i < FILES; i++) {
      copy(name(i));
    }
    // so that one knows the last sketch of the other, which has not looked again yet
    clock.advance(Duration.ofMinutes(1));
    one.agreement.tick();
    assertThat(one.agreement.others()).as("it is told so still").containsExactly(B.address());
    clock.advance(Duration.ofSeconds(10));
    for (int second = 0; second < 200; second += 5) {
      clock.advance(Duration.ofSeconds(5));
      one.agreement.tick();
      other.agreement.tick();
      one.asks(other);
      other.asks(one);
    }
    assertThat(one.asks(other)).isTrue();
    assertThat(other.asks(one)).isTrue();
  }
}
