package io.holdfast.fs.peers;

import static io.holdfast.fs.peers.PeersFixture.A;
import static io.holdfast.fs.peers.PeersFixture.B;
import static io.holdfast.fs.peers.PeersFixture.C;
import static io.holdfast.fs.peers.PeersFixture.DATASET;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.plan.Planned;
import io.holdfast.fs.plan.PlannedItem;
import io.holdfast.fs.residency.Selection;
import io.holdfast.fs.transit.Content;
import io.holdfast.fs.transit.Item;
import io.holdfast.fs.transit.PeerSource.Arrival;
import io.holdfast.peer.ClusterNode;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.transfer.ItemRequest;
import io.holdfast.peer.transfer.Refusal;
import io.holdfast.peer.transfer.TransferResult;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Whom node A asks for what, and who keeps it: with answers that the test gives for B and C. */
final class ClusterSourceTest {
  private static final long ROOM = 1 << 20;

  private final List<String> asked = new ArrayList<>();
  private final Map<ClusterNode, TransferResult> answers = new HashMap<>();
  private final List<NodeAddress> told = new ArrayList<>();
  private PeersFixture node;
  private ClusterSource source;
  private FormerOwners formerOwners;
  private Planned planned = Planned.NONE;

  private void start(long capacity, Selection selection) throws IOException {
    node = new PeersFixture(capacity, selection);
    node.view(A, B, C);
    formerOwners = new FormerOwners(node.residency, (peer, request) -> told.add(peer));
    source = source(Runnable::run);
  }

  private ClusterSource source(Executor threads) {
    return new ClusterSource(
        DATASET, node.cluster, node.residency, this::answer, formerOwners, planned, threads);
  }

  private void answer(
      NodeAddress peer, ItemRequest request, long address, Consumer<TransferResult> answered) {
    asked.add(peer.host() + (request.onlyIfCached() ? " if cached" : ""));
    ClusterNode who = peer.equals(B.address()) ? B : C;
    answered.accept(answers.getOrDefault(who, TransferResult.refused(Refusal.NOT_CACHED)));
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
    answers.put(B, TransferResult.FETCHED);
    assertThat(fetch(node.item(B, C), false)).isEqualTo(new Arrival(true, false));
    assertThat(asked).containsExactly("b");
  }

  /** A plan that says one thing of every item, and counts what was not as it says. */
  private static class OnePlan implements Planned {
    private final @Nullable PlannedItem says;
    private final String former;
    private int elsewhere;
    private int fetched;
    private boolean isPromised;

    OnePlan(@Nullable PlannedItem says, String former) {
      this.says = says;
      this.former = former;
    }

    @Override
    public @Nullable PlannedItem find(Item item) {
      return says;
    }

    @Override
    public boolean keeps(Item item) {
      return says != null && says.keeps();
    }

    @Override
    public String formerHolder(Item item) {
      return former;
    }

    @Override
    public void notThere(Item item) {
      elsewhere++;
    }

    @Override
    public boolean fetched(Item item) {
      fetched++;
      return isPromised;
    }

    @Override
    public void sent(Item item, String to) {}
  }

  private OnePlan plan(String holder, boolean here, boolean keeps) throws IOException {
    OnePlan plan = new OnePlan(new PlannedItem(holder, here, keeps), "");
    planned = plan;
    start(ROOM, Selection.NONE);
    return plan;
  }

  @Test
  void planned_holderHasIt_itIsKeptIfThePlanSaysSo() throws IOException {
    OnePlan plan = plan(C.address().toString(), false, true);
    answers.put(C, TransferResult.FETCHED);
    assertThat(fetch(node.item(B, C), false)).isEqualTo(new Arrival(true, true));
    assertThat(asked).containsExactly("c");
    assertThat(plan.elsewhere).isZero();
  }

  @Test
  void planned_holderHasItNot_theOwnerIsAskedForWhatItHas_andThenTheOrigin() throws IOException {
    OnePlan plan = plan(C.address().toString(), false, false);
    answers.put(C, TransferResult.refused(Refusal.FULL));
    assertThat(fetch(node.item(B, C), false)).isEqualTo(new Arrival(false, false));
    assertThat(asked).containsExactly("c", "b if cached");
    answers.put(C, TransferResult.fault("reset"));
    answers.put(B, TransferResult.FETCHED);
    assertThat(fetch(node.item(B, C), false)).isEqualTo(new Arrival(true, false));
    assertThat(plan.elsewhere).isEqualTo(2);
  }

  @Test
  void planned_hereOrNowhere_comesFromTheOriginAtOnce() throws IOException {
    OnePlan here = plan(A.address().toString(), true, true);
    assertThat(fetch(node.item(B, C), false)).isEqualTo(new Arrival(false, true));
    assertThat(fetch(node.item(B, C), true)).isEqualTo(new Arrival(false, true));
    assertThat(here.fetched).isEqualTo(2);
    node.close();
    plan("", false, false);
    assertThat(fetch(node.item(B, C), false)).isEqualTo(new Arrival(false, false));
    assertThat(asked).isEmpty();
  }

  /** Another job's read of an item that this node has handed over took it from the origin. */
  @Test
  void planned_shouldBeHereAndIsNot_theOwnerIsAskedForWhatItHas() throws IOException {
    OnePlan here = plan(A.address().toString(), true, false);
    here.isPromised = true;
    assertThat(fetch(node.item(B, C), false)).isEqualTo(new Arrival(false, false));
    answers.put(B, TransferResult.FETCHED);
    assertThat(fetch(node.item(B, C), false)).isEqualTo(new Arrival(true, false));
    assertThat(fetch(node.item(A, C), false))
        .as("it is its owner")
        .isEqualTo(new Arrival(false, false));
    assertThat(asked).containsExactly("b if cached", "b if cached");
  }

  /** A user may pin a file while a plan is followed, which says that this node does not keep it. */
  @Test
  void planned_keptByName_isKeptWhateverThePlanSays() throws IOException {
    planned = new OnePlan(new PlannedItem(C.address().toString(), false, false), "");
    start(ROOM, Selection.of(List.of("kept"), List.of()));
    Item kept = node.write("kept", 5000);
    assertThat(fetch(kept, false)).isEqualTo(new Arrival(false, true));
    answers.put(C, TransferResult.FETCHED);
    assertThat(fetch(kept, false)).isEqualTo(new Arrival(true, true));
  }

  /** The node has gone meanwhile: its name is no member's. */
  @Test
  void planned_holderHasGone_comesFromTheOrigin() throws IOException {
    plan("gone:7070", false, true);
    assertThat(fetch(node.item(B, C), false)).isEqualTo(new Arrival(false, true));
    assertThat(asked).isEmpty();
  }

  @Test
  void ownItem_afterAPlan_theFormerHolderIsAskedBeforeTheNext() throws IOException {
    planned = new OnePlan(null, C.address().toString());
    start(ROOM, Selection.NONE);
    answers.put(C, TransferResult.FETCHED);
    assertThat(fetch(node.item(A, B), false)).isEqualTo(new Arrival(true, true));
    assertThat(asked).containsExactly("c if cached");

    asked.clear();
    answers.clear();
    assertThat(fetch(node.item(A, B), false)).isEqualTo(new Arrival(false, true));
    assertThat(asked).containsExactly("c if cached", "b if cached");
    asked.clear();
    fetch(node.item(A, C), false);
    assertThat(asked).as("both are one").containsExactly("c if cached");
  }

  /** A path that no request can have made the fetch fail, and the read with it. */
  @Test
  void item_pathTooLongForPeers_comesFromTheOrigin() throws IOException {
    start(ROOM, Selection.NONE);
    answers.put(B, TransferResult.FETCHED);
    Item item = node.item(B, C);
    for (int length : new int[] {4096, 4097, 10_000}) {
      OriginPath path = OriginPath.of("d".repeat(length));
      Item deep = node.layout.itemAt(new Content(item.key().node(), () -> path, item.version()), 0);
      boolean another = !node.cluster.place(deep).isOwn();
      asked.clear();
      Arrival arrival = fetch(deep, false);
      if (length > 4096) {
        assertThat(arrival).isEqualTo(new Arrival(false, false));
        assertThat(asked).isEmpty();
      } else {
        assertThat(asked).hasSize(another ? 1 : 0);
      }
    }
  }

  /** The event loop must not wait for the origin; to pass a small item on it need not. */
  @Test
  void itemOfAnother_small_takesAThreadOnlyForTheOrigin() throws IOException {
    start(ROOM, Selection.NONE);
    List<Runnable> tasks = new ArrayList<>();
    source = source(tasks::add);
    answers.put(B, TransferResult.FETCHED);
    assertThat(fetch(node.item(B, C), false)).isEqualTo(new Arrival(true, false));
    assertThat(tasks).isEmpty();

    answers.put(B, TransferResult.fault("reset"));
    Item item = node.item(B, C);
    List<Arrival> arrivals = new ArrayList<>();
    source.fetch(item, item, false, 0, arrivals::add);
    assertThat(arrivals).isEmpty();
    tasks.forEach(Runnable::run);
    assertThat(arrivals).containsExactly(new Arrival(false, false));
  }

  private static Stream<Throwable> failures() {
    return Stream.of(
        new OutOfMemoryError("unable to create native thread"), new IllegalStateException("a bug"));
  }

  /** The search had no end then, and the memory of the fetch was in use until the daemon ended. */
  @ParameterizedTest
  @MethodSource("failures")
  void itemOfAnother_searchFailsAfterTheAnswer_comesFromTheOrigin(Throwable failure)
      throws IOException {
    start(ROOM, Selection.NONE);
    source =
        source(
            task -> {
              if (failure instanceof Error error) {
                throw error;
              }
              throw (RuntimeException) failure;
            });
    answers.put(B, TransferResult.fault("reset"));
    assertThat(fetch(node.item(B, C), false)).isEqualTo(new Arrival(false, false));
  }

  /** The event loop read the item from a local origin then, and its other peers stood still. */
  @ParameterizedTest
  @MethodSource("failures")
  void itemOfAnother_searchFailsOnce_goesOnOnAThread(Throwable failure) throws IOException {
    planned =
        new OnePlan(new PlannedItem(B.address().toString(), false, false), "") {
          @Override
          public void notThere(Item item) {
            if (failure instanceof Error error) {
              throw error;
            }
            throw (RuntimeException) failure;
          }
        };
    start(ROOM, Selection.NONE);
    List<Runnable> tasks = new ArrayList<>();
    source = source(tasks::add);
    answers.put(B, TransferResult.fault("reset"));
    Item item = node.item(B, C);
    List<Arrival> arrivals = new ArrayList<>();
    source.fetch(item, item, false, 0, arrivals::add);
    assertThat(arrivals).isEmpty();
    tasks.forEach(Runnable::run);
    assertThat(arrivals).containsExactly(new Arrival(false, false));
  }

  @Test
  void itemOfAnother_ownerIsFull_theNextIsAsked() throws IOException {
    start(ROOM, Selection.NONE);
    answers.put(B, TransferResult.refused(Refusal.FULL));
    answers.put(C, TransferResult.FETCHED);
    assertThat(fetch(node.item(B, C), false)).isEqualTo(new Arrival(true, false));
    assertThat(asked).containsExactly("b", "c");
  }

  @Test
  void itemOfAnother_allAreFull_comesFromTheOriginAndIsNotKept() throws IOException {
    start(ROOM, Selection.NONE);
    answers.put(B, TransferResult.refused(Refusal.FULL));
    answers.put(C, TransferResult.refused(Refusal.FULL));
    assertThat(fetch(node.item(B, C), false)).isEqualTo(new Arrival(false, false));
  }

  @Test
  void itemOfAnother_ownerIsFullAndThisIsNext_isKeptHere() throws IOException {
    start(ROOM, Selection.NONE);
    answers.put(B, TransferResult.refused(Refusal.FULL));
    assertThat(fetch(node.item(B, A), false)).isEqualTo(new Arrival(false, true));
    assertThat(asked).containsExactly("b");
  }

  @Test
  void itemOfAnother_ownerIsNotWell_comesFromTheOriginAndIsNotKept() throws IOException {
    start(ROOM, Selection.NONE);
    for (TransferResult outcome :
        List.of(
            TransferResult.fault("reset"),
            TransferResult.SUSPECT,
            TransferResult.refused(Refusal.OTHER_VERSION),
            TransferResult.refused(Refusal.UNKNOWN),
            TransferResult.refused(Refusal.BUSY),
            TransferResult.refused(Refusal.ORIGIN_FAILED))) {
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
    answers.put(B, TransferResult.FETCHED);
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
    answers.put(B, TransferResult.FETCHED);
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
    answers.put(C, TransferResult.FETCHED);
    assertThat(fetch(node.item(A, C), false)).isEqualTo(new Arrival(true, false));
    assertThat(asked).containsExactly("c");
  }

  /** Otherwise two nodes could wait for each other. */
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
    answers.put(B, TransferResult.FETCHED);
    fetch(node.item(A, B), false);
    answers.clear();
    for (int i = 0; i < 100; i++) {
      fetch(node.item(A, B), false);
    }
    assertThat(asked).hasSize(101);
  }

  private static Stream<TransferResult> noAnswers() {
    return Stream.of(
        TransferResult.SUSPECT,
        TransferResult.fault("closed"),
        TransferResult.refused(Refusal.NOT_COMPARED),
        TransferResult.refused(Refusal.BUSY));
  }

  /** A node that joined was not compared yet, and read its whole share from the origin then. */
  @ParameterizedTest
  @MethodSource("noAnswers")
  void formerOwner_cannotBeAsked_isAskedOn(TransferResult outcome) throws IOException {
    start(ROOM, Selection.NONE);
    answers.put(B, outcome);
    for (int i = 0; i < 100; i++) {
      assertThat(fetch(node.item(A, B), false)).isEqualTo(new Arrival(false, true));
    }
    answers.put(B, TransferResult.FETCHED);
    assertThat(fetch(node.item(A, B), false)).isEqualTo(new Arrival(true, true));
  }

  @Test
  void selection_isStrongerThanOwnership() throws IOException {
    start(ROOM, Selection.of(List.of("kept"), List.of("excluded")));
    answers.put(B, TransferResult.FETCHED);
    answers.put(C, TransferResult.FETCHED);
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
