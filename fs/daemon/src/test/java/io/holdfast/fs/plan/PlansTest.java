package io.holdfast.fs.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.ItemKey;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.origin.Version;
import io.holdfast.fs.sampler.TorchSampler;
import io.holdfast.fs.transit.Item;
import java.math.BigInteger;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Nodes that offer their parts to each other, begin plans and leave them, without a network. */
final class PlansTest {
  private static final int FILES = 400;
  private static final int PAGE = 4096;

  private final List<Node> nodes = new ArrayList<>();

  @TempDir private Path marks;
  private long now;

  /** A node that answers nobody, and one that cannot be asked; empty if there is none. */
  private String hung = "";

  private String broken = "";

  /** Changes the offers of nodes on their way. */
  private UnaryOperator<String> onTheWay = UnaryOperator.identity();

  /** A node with room for so many files. */
  private final class Node implements Plans.Items, Plans.Residents, Plans.Peers {
    final String name;
    final Set<Item> residents = new LinkedHashSet<>();
    final Plans plans;
    long room;
    int changes;
    int number;

    Node(String name, int room) {
      this.name = name;
      this.room = room;
      plans =
          new Plans(
              new Plans.Parts(
                  this,
                  this,
                  () -> (long) FILES * PAGE,
                  Runnable::run,
                  marks.resolve(name),
                  () -> now));
      plans.peers(this);
    }

    @Override
    public long count(long id) {
      return 1;
    }

    @Override
    public @Nullable Item item(long id) {
      return new Item(
          new ItemKey(id, 0), () -> OriginPath.of("f" + id), new Version(9, 1, 1, ""), 0, 9);
    }

    @Override
    public long weight(Item item) {
      return PAGE;
    }

    @Override
    public long capacity() {
      return room * PAGE;
    }

    @Override
    public long bytes() {
      return (long) residents.size() * PAGE;
    }

    @Override
    public void forEach(Consumer<Item> taker) {
      List.copyOf(residents).forEach(taker);
    }

    @Override
    public boolean has(Item item) {
      return residents.stream().anyMatch(each -> each.key().equals(item.key()));
    }

    @Override
    public void release(Item item) {
      residents.removeIf(each -> each.key().equals(item.key()));
    }

    @Override
    public CompletableFuture<String> offer(String peer, String last) {
      if (peer.equals(hung)) {
        return new CompletableFuture<>();
      }
      if (peer.equals(broken)) {
        throw new IllegalStateException("for the test");
      }
      return nodes.stream()
          .filter(node -> node.name.equals(peer))
          .findFirst()
          .map(node -> CompletableFuture.completedFuture(onTheWay.apply(node.plans.ownOffer())))
          .orElseGet(() -> CompletableFuture.failedFuture(new IllegalStateException("gone")));
    }

    /** Without a plan, the nodes of the view divide the files by their numbers. */
    @Override
    public boolean isPlacedHere(Item item) {
      return nodes.get((int) (item.node() % nodes.size())) == this;
    }

    @Override
    public void planChanged() {
      changes++;
    }

    String state() {
      return plans.figures().state();
    }

    void announce(int seed, int world, int rank, int epoch) {
      TorchSampler sampler =
          new TorchSampler(
              BigInteger.valueOf(seed), epoch, true, new TorchSampler.Replica(rank, world, false));
      assertThat(plans.announce("job", sampler, ids())).isEmpty();
      number = plans.ordered("job");
    }
  }

  private static long[] ids() {
    return LongStream.range(100, 100 + FILES).toArray();
  }

  private void start(int room, String... names) {
    for (String name : names) {
      nodes.add(new Node(name, room));
    }
    view();
  }

  private void view() {
    for (Node node : nodes) {
      List<String> members = new ArrayList<>(List.of(node.name));
      nodes.stream()
          .map(each -> each.name)
          .filter(name -> !members.contains(name))
          .forEach(members::add);
      node.plans.view(members);
    }
  }

  private void ticks() {
    for (int i = 0; i < 8; i++) {
      now += 600_000_000;
      nodes.forEach(node -> node.plans.tick());
    }
  }

  private void startPlanned() {
    start(140, "a", "b");
    nodes.get(0).announce(7, 2, 0, 0);
    nodes.get(1).announce(7, 2, 1, 0);
    ticks();
    assertThat(nodes).extracting(Node::state).containsOnly("followed");
  }

  @Test
  void announce_ofAllRanks_isPlannedByAllFromTheSameOffers() {
    startPlanned();

    for (long id : ids()) {
      Item item = nodes.get(0).item(id);
      PlannedItem one = nodes.get(0).plans.find(item);
      PlannedItem other = nodes.get(1).plans.find(item);
      assertThat(one.holder()).isEqualTo(other.holder());
      assertThat(one.isHere()).isEqualTo(one.holder().equals("a"));
      assertThat(one.holder())
          .as("in the first epoch the origin's readers keep them")
          .isIn("a", "b", "");
    }
    assertThat(nodes).extracting(node -> node.changes).containsOnly(1);
    assertThat(nodes.get(0).plans.find(nodes.get(0).item(99))).isNull();
  }

  @Test
  void announce_ofOrdersThatDiffer_isNotPlannedAndSaysWhy() {
    start(140, "a", "b");
    nodes.get(0).announce(7, 2, 0, 0);
    ticks();
    assertThat(nodes.get(0).state()).isEqualTo("1 of 2 nodes have offered their parts");
    assertThat(nodes.get(1).state()).isEqualTo("no order of several ranks is announced");
    nodes.get(1).announce(8, 2, 1, 0);
    ticks();
    assertThat(nodes.get(0).state()).isEqualTo("b reads another order");
    nodes.get(1).announce(7, 2, 1, 3);
    ticks();
    assertThat(nodes.get(0).state()).isEqualTo("b begins epoch 3, and this node 0");
    nodes.get(1).announce(7, 2, 0, 0);
    ticks();
    assertThat(nodes.get(0).state()).isEqualTo("the nodes have 1 different ranks of 2");
    nodes.get(1).room = 100;
    nodes.get(1).announce(7, 2, 1, 0);
    ticks();
    assertThat(nodes.get(0).state()).isEqualTo("b has another capacity");
    nodes.get(1).plans.forget("job");
    nodes.get(1).room = 140;
    nodes.get(1).announce(7, 2, 1, 0);
    ticks();
    assertThat(nodes).extracting(Node::state).containsOnly("followed");
  }

  /** A rank beyond this node's world made the plan fail, and the node forgot its orders. */
  @Test
  void offer_ofTheSameOrderInALargerWorld_isAnotherOrder() {
    onTheWay = offer -> offer.replace("world 2 ", "world 9 ").replace("ranks 1", "ranks 5");
    start(140, "a", "b");
    nodes.get(0).announce(7, 2, 0, 0);
    nodes.get(1).announce(7, 2, 1, 0);
    ticks();
    assertThat(nodes.get(0).state()).isEqualTo("b reads another order");
    onTheWay = UnaryOperator.identity();
    ticks();
    assertThat(nodes).extracting(Node::state).containsOnly("followed");
  }

  /** One that hung delayed the others' offers by half a minute. */
  @Test
  void offer_ofAPeerThatHangsOrFails_delaysNoOther() {
    start(140, "a", "b", "c");
    hung = "c";
    nodes.get(0).announce(7, 3, 0, 0);
    ticks();
    nodes.get(1).announce(7, 3, 1, 0);
    ticks();
    assertThat(nodes.get(0).state()).isEqualTo("2 of 3 nodes have offered their parts");

    nodes.remove(2);
    view();
    hung = "";
    broken = "b";
    for (int rank = 0; rank < 2; rank++) {
      nodes.get(rank).announce(8, 2, rank, 0);
    }
    ticks();
    broken = "";
    ticks();
    assertThat(nodes).extracting(Node::state).containsOnly("followed");
  }

  @Test
  void announce_toNodesWithoutRoom_isNotPlanned() {
    start(0, "a", "b");
    nodes.get(0).announce(7, 2, 0, 0);
    nodes.get(1).announce(7, 2, 1, 0);
    ticks();
    assertThat(nodes)
        .extracting(Node::state)
        .containsOnly("files that are not in the list take the room");
  }

  @Test
  void view_ofANodeLess_endsThePlan_andWhatBelongsElsewhereMakesWay() {
    start(140, "a", "b", "c");
    for (int rank = 0; rank < 3; rank++) {
      nodes.get(rank).announce(7, 3, rank, 0);
    }
    ticks();
    assertThat(nodes).extracting(Node::state).containsOnly("followed");
    Node a = nodes.get(0);
    Item even = a.item(200);
    Item odd = a.item(201);
    a.residents.add(even);
    a.residents.add(odd);
    nodes.remove(2);

    view();
    ticks();

    assertThat(a.state()).isEqualTo("the nodes have changed");
    assertThat(a.plans.ownOffer()).isEmpty();
    assertThat(a.plans.find(even)).isNull();
    a.room = 2;
    assertThat(a.plans.wants(a.item(202))).isTrue();
    assertThat(a.plans.wants(a.item(203))).as("it belongs elsewhere").isFalse();
    assertThat(a.plans.victim(a.item(202), 0, 0)).isEqualTo(odd.key());
    assertThat(a.plans.victim(a.item(204), 0, 0)).isNull();
    assertThat(a.plans.wants(a.item(204))).isFalse();
  }

  @Test
  void strays_onceAllNodesAreBackAndNoneIsLeft_areForgottenWithThePlan() {
    startPlanned();
    Node a = nodes.get(0);
    Node b = nodes.remove(1);
    view();
    ticks();
    assertThat(marks.resolve("a")).as("b may come back").hasContent("2");
    assertThat(LongStream.of(ids()).mapToObj(a::item).map(a.plans::formerHolder)).contains("b");

    Item odd = a.item(201);
    a.residents.add(odd);
    nodes.add(b);
    view();
    ticks();
    assertThat(marks.resolve("a")).exists();
    a.room = 1;
    assertThat(a.plans.victim(a.item(202), 0, 0)).isEqualTo(odd.key());
    ticks();

    assertThat(marks.resolve("a")).doesNotExist();
    assertThat(LongStream.of(ids()).mapToObj(a::item).map(a.plans::formerHolder)).containsOnly("");
  }

  /** Strays were found once, so a node that came back never got its part of the room. */
  @Test
  void view_ofANodeThatComesBack_makesWayForOtherResidents() {
    start(140, "a", "b", "c");
    for (int rank = 0; rank < 3; rank++) {
      nodes.get(rank).announce(7, 3, rank, 0);
    }
    ticks();
    assertThat(isFollowed()).isTrue();
    Node a = nodes.get(0);
    List.of(200L, 202L, 204L).forEach(id -> a.residents.add(a.item(id)));
    Node c = nodes.remove(2);
    view();
    ticks();
    assertThat(a.plans.wants(a.item(206))).as("no resident belongs elsewhere").isFalse();

    nodes.add(c);
    view();
    ticks();

    a.room = 3;
    assertThat(a.plans.wants(a.item(207))).isTrue();
    assertThat(a.plans.victim(a.item(207), 0, 0)).isEqualTo(a.item(200).key());
    nodes.remove(2);
    assertThat(a.plans.victim(a.item(206), 0, 0)).as("the rest belongs here again").isNull();
  }

  @Test
  void opened_ofTheNextEpochs_goesOn_andOfAnEarlierOne_endsThePlan() {
    startPlanned();
    for (int epoch = 1; epoch < 3; epoch++) {
      for (Node node : nodes) {
        node.plans.opened("job", node.number, epoch, 0);
      }
      ticks();
      assertThat(nodes).extracting(node -> node.plans.figures().epoch()).containsOnly((long) epoch);
    }
    for (Node node : nodes) {
      node.plans.opened("job", node.number, 1, 10);
    }
    ticks();
    assertThat(nodes).extracting(Node::state).contains("the job reads an epoch again");
  }

  @Test
  void notThere_ofManyItems_endsThePlanOnAllNodes_untilTheNextEpoch() {
    startPlanned();
    Node a = nodes.get(0);
    for (int i = 0; i < 40; i++) {
      a.plans.notThere(a.item(100 + i));
    }
    ticks();
    assertThat(a.state()).isEqualTo("33 files of epoch 0 were elsewhere");
    assertThat(nodes.get(1).state()).isEqualTo("the offer of a node has changed");
    ticks();
    assertThat(nodes).extracting(Node::state).doesNotContain("followed");

    for (Node node : nodes) {
      node.plans.opened("job", node.number, 1, 0);
    }
    ticks();

    assertThat(nodes).extracting(Node::state).containsOnly("followed");
    assertThat(nodes).extracting(node -> node.plans.figures().epoch()).containsOnly(1L);
  }

  /** The monitor of another component may be held, and must not be while the log waits. */
  @Test
  void forget_endsThePlanAtOnce_andItsPeersLearnOfItOnTheThread() {
    startPlanned();
    Node a = nodes.get(0);

    a.plans.forget("job");

    assertThat(a.plans.find(a.item(200))).isNull();
    assertThat(a.changes).isEqualTo(1);
    ticks();
    assertThat(a.changes).isEqualTo(2);
  }

  private List<ItemKey> leavers(Node node) {
    return Stream.generate(() -> node.plans.victim(node.item(99), 0, 0))
        .takeWhile(Objects::nonNull)
        .toList();
  }

  /** One whose swap failed stayed as long as the plan. */
  @Test
  void victim_thatHasNotMadeWay_isReturnedAgainInALaterEpoch() {
    start(140, "a", "b");
    Node a = nodes.get(0);
    LongStream.of(ids()).limit(140).mapToObj(a::item).forEach(a.residents::add);
    a.announce(7, 2, 0, 0);
    nodes.get(1).announce(7, 2, 1, 0);
    ticks();
    begin(1);
    assertThat(isFollowed()).isTrue();
    List<ItemKey> first = leavers(a);
    assertThat(first).isNotEmpty();
    assertThat(leavers(a)).isEmpty();

    begin(2);

    assertThat(leavers(a)).containsAnyElementsOf(first);
  }

  private void begin(int epoch) {
    for (Node node : nodes) {
      node.plans.opened("job", node.number, epoch, 0);
    }
    ticks();
  }

  private void lose() {
    Node a = nodes.get(0);
    for (int i = 0; i < 40; i++) {
      a.plans.notThere(a.item(100 + i));
    }
    ticks();
  }

  private boolean isFollowed() {
    return nodes.stream().allMatch(node -> node.state().equals("followed"));
  }

  /** A plan that is wrong in each epoch and the way back to the owners could alternate for ever. */
  @Test
  void plans_thatEndInTheirFirstEpochs_areMadeMoreAndMoreSeldom() {
    startPlanned();
    List<Integer> planned = new ArrayList<>();
    for (int epoch = 1; epoch < 20; epoch++) {
      lose();
      begin(epoch);
      if (isFollowed()) {
        planned.add(epoch);
      }
    }
    assertThat(planned).containsExactly(1, 3, 7, 15);

    begin(31);
    begin(32);
    lose();
    begin(33);
    assertThat(isFollowed()).as("an epoch was followed to its end").isTrue();
  }

  /** Nodes waited for the epoch after the one in which the plan had ended. */
  @Test
  void announce_ofAnEarlierEpochAfterThePlan_isOfferedAtOnce() {
    startPlanned();
    begin(1);
    lose();
    for (int rank = 0; rank < 2; rank++) {
      nodes.get(rank).announce(7, 2, rank, 0);
    }
    ticks();
    assertThat(isFollowed()).isTrue();
  }

  @Test
  void announce_inTheMiddleOfAnEpoch_isPlannedFromTheNextOneOn() {
    start(140, "a", "b");
    nodes.get(0).announce(7, 2, 0, 0);
    nodes.get(0).plans.opened("job", nodes.get(0).number, 0, 100);
    ticks();
    nodes.get(1).announce(7, 2, 1, 0);
    ticks();
    assertThat(nodes).extracting(Node::state).doesNotContain("followed");
    for (Node node : nodes) {
      node.plans.opened("job", node.number, 1, 0);
    }
    ticks();
    assertThat(nodes).extracting(Node::state).containsOnly("followed");
  }

  @Test
  void lists_whoseOrdersDoNotCome_areForgotten_andAreFewEnough() {
    start(140, "a", "b");
    Plans plans = nodes.get(0).plans;
    TorchSampler ranks =
        new TorchSampler(BigInteger.ONE, 0, true, new TorchSampler.Replica(0, 2, false));
    for (int i = 0; i < 32; i++) {
      assertThat(plans.announce("job" + i, ranks, ids())).isEmpty();
    }
    assertThat(plans.announce("more", ranks, ids())).isEqualTo("32 lists wait for their orders");
    plans.forgetList("job1");
    assertThat(plans.ordered("job1")).as("its order is not drawn from the list").isZero();
    assertThat(plans.announce("more", ranks, ids())).isEmpty();
    assertThat(plans.ordered("job2")).isPositive();
    now += 601_000_000_000L;
    plans.tick();
    assertThat(plans.ordered("job3")).isZero();
  }

  @Test
  void announce_ofWhatCannotBePlanned_saysWhy() {
    start(140, "a", "b");
    Plans plans = nodes.get(0).plans;
    TorchSampler alone = new TorchSampler(BigInteger.ONE, 0, true, null);
    TorchSampler ranks =
        new TorchSampler(BigInteger.ONE, 0, true, new TorchSampler.Replica(0, 2, false));
    assertThat(plans.announce("job", alone, ids())).isEqualTo("it has no ranks");
    assertThat(plans.announce("job", ranks, new long[] {1, 2, 1, 4})).contains("a file twice");
    assertThat(plans.announce("job", ranks, new long[] {1, 2, 3})).contains("too short");
    assertThat(plans.ordered("job")).isZero();
  }
}
