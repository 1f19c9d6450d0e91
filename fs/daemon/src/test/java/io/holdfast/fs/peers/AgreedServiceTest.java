package io.holdfast.fs.peers;

import static io.holdfast.fs.peers.PeersFixture.A;
import static io.holdfast.fs.peers.PeersFixture.B;
import static io.holdfast.fs.peers.PeersFixture.DATASET;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.Await;
import io.holdfast.fs.FakeClock;
import io.holdfast.fs.origin.Origin;
import io.holdfast.fs.origin.posix.PosixOrigin;
import io.holdfast.fs.plan.Planned;
import io.holdfast.fs.plan.PlannedItem;
import io.holdfast.fs.residency.Selection;
import io.holdfast.fs.transit.Item;
import io.holdfast.peer.transfer.Asker;
import io.holdfast.peer.transfer.BufferLease;
import io.holdfast.peer.transfer.ItemProvider;
import io.holdfast.peer.transfer.OwnText;
import io.holdfast.peer.transfer.Refusal;
import io.holdfast.peer.transfer.Sketches;
import io.holdfast.peer.transfer.Told;
import io.holdfast.peer.transfer.TransferResult;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The requests of B that A answers: those between the datasets that both have compared. */
final class AgreedServiceTest {
  private final FakeClock clock = new FakeClock();
  private final AtomicInteger faults = new AtomicInteger();
  private final AtomicInteger asked = new AtomicInteger();
  private PeersFixture node;
  private Origin origin;
  private Item item;
  private Agreement agreement;
  private AgreedService service;
  private volatile String told = "";
  private String offer = "an offer";
  private volatile boolean silent;

  @BeforeEach
  void create() throws IOException {
    node = new PeersFixture(64 << 20, Selection.NONE);
    node.view(A, B);
    item = node.write("file", 10_000);
    origin = PosixOrigin.open(node.sandbox.root(), () -> Instant.now().plus(Duration.ofHours(1)));
    SketchMaker maker = new SketchMaker(origin, clock);
    told = maker.make().toString();
    agreement =
        new Agreement(
            DATASET.id(),
            A.address(),
            new Agreement.Parts(
                new OwnSketch(maker, clock), Runnable::run, clock, Agreement.LONGEST_WAIT),
            peer -> {
              asked.incrementAndGet();
              return silent
                  ? new CompletableFuture<>()
                  : CompletableFuture.completedFuture(
                      new Told(TransferResult.FETCHED, "name", told));
            },
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
                new FaultyPlan(),
                node.threads),
            () -> offer);
  }

  @AfterEach
  void close() throws IOException {
    origin.close();
    node.close();
  }

  /** No plan, whose faults are those of any part. */
  private final class FaultyPlan implements Planned {
    @Override
    public @Nullable PlannedItem find(Item item) {
      if (faults.getAndDecrement() > 0) {
        throw new IllegalStateException("for the test");
      }
      return Planned.super.find(item);
    }
  }

  private static String mark(String sketch) {
    return DatasetSketch.parse(sketch).mark();
  }

  /** Returns the refusal, or null where bytes were lent. */
  private Object ask(Sketches sketches) {
    CompletableFuture<Object> answer = new CompletableFuture<>();
    service.get(
        PeerRequests.of(DATASET, item, item, false),
        new Asker(B.address(), sketches),
        new ItemProvider.Answer() {
          @Override
          public void lent(BufferLease loan) {
            answer.complete(loan.length());
            loan.close();
          }

          @Override
          public void refused(Refusal refusal) {
            answer.complete(refusal);
          }
        });
    return answer.orTimeout(Await.LONGEST.toSeconds(), TimeUnit.SECONDS).join();
  }

  /** The digest of an offer was computed for each question, of which a peer may ask very many. */
  @Test
  void plan_thatHasNotChanged_isTheSameText_andOnlyForThoseWithTheSameDataset() {
    assertThat(service.plan(B.address()).is("")).as("not compared yet").isTrue();
    agreement.peers(Set.of(B.address()));
    OwnText first = service.plan(B.address());
    assertThat(first.is("an offer")).isTrue();
    assertThat(service.plan(B.address())).isSameAs(first);
    offer = "another";
    assertThat(service.plan(B.address()).is("another")).isTrue();
  }

  @Test
  void get_betweenWhatBothCompared_isLent() {
    assertThat(ask(new Sketches(mark(told), mark(told)))).isEqualTo(10_000);
    assertThat(asked).hasValue(1);
  }

  /** The request is of a node that knows nothing of datasets, or whose own dataset has changed. */
  @Test
  void get_betweenOthers_isRefused() {
    assertThat(ask(Sketches.NONE)).isEqualTo(Refusal.NOT_COMPARED);
    assertThat(ask(new Sketches(mark(told), "older"))).isEqualTo(Refusal.NOT_COMPARED);
    assertThat(ask(new Sketches("another", mark(told)))).isEqualTo(Refusal.NOT_COMPARED);
    assertThat(ask(new Sketches(mark(told), mark(told)))).isEqualTo(10_000);
  }

  @Test
  void get_askerTellsSomethingElseByNow_isComparedBeforeAnyByte() {
    String before = told;
    assertThat(ask(new Sketches(mark(before), mark(before)))).isEqualTo(10_000);
    told = before.replaceFirst(" [A-Za-z0-9_-]{43} ", " " + "A".repeat(43) + " ");
    assertThat(told).isNotEqualTo(before);
    clock.advance(Duration.ofSeconds(2));
    assertThat(ask(new Sketches(mark(told), agreement.mark()))).isEqualTo(Refusal.OTHER_DATASET);
    assertThat(asked).hasValue(2);
    assertThat(agreement.others()).isEqualTo(Set.of(B.address()));
  }

  /** Its reader waits for the answer. */
  @Test
  void get_askerCannotBeComparedAgain_isRefusedInABoundedTime() {
    assertThat(ask(new Sketches(mark(told), mark(told)))).isEqualTo(10_000);
    clock.advance(Duration.ofSeconds(2));
    silent = true;
    assertThat(ask(new Sketches("another", mark(told)))).isEqualTo(Refusal.NOT_COMPARED);
    assertThat(ask(new Sketches(mark(told), mark(told)))).isEqualTo(10_000);
  }

  /** Nothing was said: the reader on the other node waited for the end of the time. */
  @Test
  void get_thatFails_isRefused() {
    faults.set(1);
    assertThat(ask(new Sketches(mark(told), mark(told)))).isEqualTo(Refusal.ORIGIN_FAILED);
    assertThat(ask(new Sketches(mark(told), mark(told)))).isEqualTo(10_000);
  }

  /** Otherwise the node would release an item that no other node holds. */
  @Test
  void held_ofOneThatHasAnotherDataset_isNotBelieved() {
    node.pin(item);
    node.cluster.resized(new io.holdfast.peer.ClusterNode(A.address(), DATASET, 0)); // B owns all
    assertThat(node.cluster.place(item).otherOwner()).contains(B.address());
    service.held(PeerRequests.of(DATASET, item, item, true), new Asker(B.address(), Sketches.NONE));
    assertThat(node.residency.isResident(item)).isTrue();
    agreement.peers(Set.of(B.address()));
    service.held(
        PeerRequests.of(DATASET, item, item, true),
        new Asker(B.address(), new Sketches(mark(told), mark(told))));
    Await.until("it is let go of", () -> !node.residency.isResident(item));
  }
}
