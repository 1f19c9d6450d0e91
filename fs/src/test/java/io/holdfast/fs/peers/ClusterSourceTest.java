package io.holdfast.fs.peers;

import static io.holdfast.fs.peers.PeersFixture.A;
import static io.holdfast.fs.peers.PeersFixture.B;
import static io.holdfast.fs.peers.PeersFixture.C;
import static io.holdfast.fs.peers.PeersFixture.DATASET;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.residency.Selection;
import io.holdfast.fs.transit.Item;
import io.holdfast.fs.transit.PeerSource.Arrival;
import io.holdfast.peer.Node;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.transfer.ItemRequest;
import io.holdfast.peer.transfer.Outcome;
import io.holdfast.peer.transfer.Refusal;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Whom node A asks for what, and who keeps it: with answers that the test gives for B and C. */
final class ClusterSourceTest {
  private static final long ROOM = 1 << 20;

  private final List<String> asked = new ArrayList<>();
  private final Map<Node, Outcome> answers = new HashMap<>();
  private final List<NodeAddress> told = new ArrayList<>();
  private PeersFixture node;
  private ClusterSource source;
  private FormerOwners formerOwners;

  private void start(long capacity, Selection selection) throws IOException {
    node = new PeersFixture(capacity, selection);
    node.view(A, B, C);
    formerOwners = new FormerOwners(node.residency, (peer, request) -> told.add(peer));
    source = source(Runnable::run);
  }

  private ClusterSource source(Executor threads) {
    return new ClusterSource(
        DATASET, node.cluster, node.residency, this::answer, formerOwners, threads);
  }

  private CompletableFuture<Outcome> answer(NodeAddress peer, ItemRequest request, long address) {
    asked.add(peer.host() + (request.onlyIfCached() ? " if cached" : ""));
    Node who = peer.equals(B.address()) ? B : C;
    return CompletableFuture.completedFuture(
        answers.getOrDefault(who, Outcome.refused(Refusal.NOT_CACHED)));
  }

  @AfterEach
  void close() throws IOException {
    node.close();
  }

  private Arrival fetch(Item item, boolean forPeer) {
    List<Arrival> arrivals = new ArrayList<>();
    source.fetch(item, item, forPeer, 0, arrivals::add);
    assertThat(arrivals).hasSize(1);
    return arrivals.get(0);
  }

  @Test
  void itemOfAnother_ownerHasIt_isNotKept() throws IOException {
    start(ROOM, Selection.NONE);
    answers.put(B, Outcome.FETCHED);
    assertThat(fetch(node.item(B, C), false)).isEqualTo(new Arrival(true, false));
    assertThat(asked).containsExactly("b");
  }

  /** The event loop must not wait for the origin; to pass a small item on it need not. */
  @Test
  void itemOfAnother_small_takesAThreadOnlyForTheOrigin() throws IOException {
    start(ROOM, Selection.NONE);
    List<Runnable> tasks = new ArrayList<>();
    source = source(tasks::add);
    answers.put(B, Outcome.FETCHED);
    assertThat(fetch(node.item(B, C), false)).isEqualTo(new Arrival(true, false));
    assertThat(tasks).isEmpty();

    answers.put(B, Outcome.fault("reset"));
    List<Arrival> arrivals = new ArrayList<>();
    Item item = node.item(B, C);
    source.fetch(item, item, false, 0, arrivals::add);
    assertThat(arrivals).isEmpty();
    tasks.forEach(Runnable::run);
    assertThat(arrivals).containsExactly(new Arrival(false, false));
  }

  @Test
  void itemOfAnother_ownerIsFull_theNextIsAsked() throws IOException {
    start(ROOM, Selection.NONE);
    answers.put(B, Outcome.refused(Refusal.FULL));
    answers.put(C, Outcome.FETCHED);
    assertThat(fetch(node.item(B, C), false)).isEqualTo(new Arrival(true, false));
    assertThat(asked).containsExactly("b", "c");
  }

  @Test
  void itemOfAnother_allAreFull_comesFromTheOriginAndIsNotKept() throws IOException {
    start(ROOM, Selection.NONE);
    answers.put(B, Outcome.refused(Refusal.FULL));
    answers.put(C, Outcome.refused(Refusal.FULL));
    assertThat(fetch(node.item(B, C), false)).isEqualTo(new Arrival(false, false));
  }

  @Test
  void itemOfAnother_ownerIsFullAndThisIsNext_isKeptHere() throws IOException {
    start(ROOM, Selection.NONE);
    answers.put(B, Outcome.refused(Refusal.FULL));
    assertThat(fetch(node.item(B, A), false)).isEqualTo(new Arrival(false, true));
    assertThat(asked).containsExactly("b");
  }

  @Test
  void itemOfAnother_ownerIsNotWell_comesFromTheOriginAndIsNotKept() throws IOException {
    start(ROOM, Selection.NONE);
    for (Outcome outcome :
        List.of(
            Outcome.fault("reset"),
            Outcome.SUSPECT,
            Outcome.refused(Refusal.OTHER_VERSION),
            Outcome.refused(Refusal.UNKNOWN),
            Outcome.refused(Refusal.BUSY),
            Outcome.refused(Refusal.ORIGIN_FAILED))) {
      answers.put(B, outcome);
      assertThat(fetch(node.item(B, A), false))
          .as("" + outcome)
          .isEqualTo(new Arrival(false, false));
    }
    assertThat(asked).containsOnly("b");
  }

  @Test
  void ownItem_formerOwnerHasIt_isKeptAndHandedOverOnceItIsPinned() throws IOException {
    start(ROOM, Selection.NONE);
    answers.put(B, Outcome.FETCHED);
    Item item = node.item(A, B);
    assertThat(fetch(item, false)).isEqualTo(new Arrival(true, true));
    assertThat(asked).containsExactly("b if cached");
    node.pin(item);
    assertThat(told).isEmpty();
    formerOwners.tick();
    assertThat(told).containsExactly(B.address());
    formerOwners.tick();
    assertThat(told).hasSize(1);
  }

  @Test
  void ownItem_wasNotAdmittedAfterAll_formerOwnerIsToldNothing() throws IOException {
    start(ROOM, Selection.NONE);
    answers.put(B, Outcome.FETCHED);
    Item item = node.item(A, B);
    fetch(item, false);
    formerOwners.tick();
    node.pin(item);
    formerOwners.tick();
    assertThat(told).isEmpty();
  }

  @Test
  void ownItem_noRoom_theNextMayTakeIt() throws IOException {
    start(1, Selection.NONE);
    answers.put(C, Outcome.FETCHED);
    assertThat(fetch(node.item(A, C), false)).isEqualTo(new Arrival(true, false));
    assertThat(asked).containsExactly("c");
  }

  /** Else two nodes could wait for each other. */
  @Test
  void itemForAPeer_nobodyIsAskedToFetch() throws IOException {
    start(1, Selection.NONE);
    assertThat(fetch(node.item(A, C), true)).isEqualTo(new Arrival(false, true));
    assertThat(fetch(node.item(C, A), true)).isEqualTo(new Arrival(false, true));
    assertThat(fetch(node.item(C, B), true)).isEqualTo(new Arrival(false, false));
    assertThat(asked).isEmpty();
  }

  @Test
  void formerOwner_neverHasAnything_isLeftAloneUntilTheViewChanges() throws IOException {
    start(ROOM, Selection.NONE);
    for (int i = 0; i < 100; i++) {
      assertThat(fetch(node.item(A, B), false)).isEqualTo(new Arrival(false, true));
    }
    assertThat(asked).hasSize(64);
    formerOwners.viewChanged();
    fetch(node.item(A, B), false);
    assertThat(asked).hasSize(65);
  }

  @Test
  void formerOwner_hadSomethingOnce_isAskedOn() throws IOException {
    start(ROOM, Selection.NONE);
    answers.put(B, Outcome.FETCHED);
    fetch(node.item(A, B), false);
    answers.clear();
    for (int i = 0; i < 100; i++) {
      fetch(node.item(A, B), false);
    }
    assertThat(asked).hasSize(101);
  }

  @Test
  void selection_isStrongerThanOwnership() throws IOException {
    start(ROOM, Selection.of(List.of("kept"), List.of("excluded")));
    answers.put(B, Outcome.FETCHED);
    answers.put(C, Outcome.FETCHED);
    node.view(A, B);
    Item excluded = node.write("excluded", 5000);
    assertThat(fetch(excluded, false)).isEqualTo(new Arrival(false, false));
    assertThat(asked).isEmpty();
    assertThat(fetch(node.write("kept", 5000), false)).isEqualTo(new Arrival(true, true));
  }

  @Test
  void aloneInTheView_everythingIsOwn() throws IOException {
    start(ROOM, Selection.NONE);
    node.view(A);
    assertThat(fetch(node.write("x", 5000), false)).isEqualTo(new Arrival(false, true));
    assertThat(asked).isEmpty();
  }
}
