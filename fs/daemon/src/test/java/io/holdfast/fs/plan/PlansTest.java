package io.holdfast.fs.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.ItemKey;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.origin.Version;
import io.holdfast.fs.sampler.TorchSampler;
import io.holdfast.fs.stats.JobLife;
import io.holdfast.fs.transit.Item;
import java.math.BigInteger;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BinaryOperator;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Nodes that offer their parts to each other, begin plans and leave them, without a network. */
final class PlansTest {
  private static final int FILES = 400;
  private static final int PAGE = 4096;
  private static final long TICK = 600_000_000;

  private final List<Node> nodes = new ArrayList<>();

  @TempDir private Path marks;
  private long now;

  /** A node that answers nobody, and one that cannot be asked; empty if there is none. */
  private String hung = "";

  private String broken = "";

  /** A peer whose next question finds the heap full; empty if there is none. */
  private String withoutHeap = "";

  /** How many times in a row no thread can be started for the work. */
  private int threadsMissing;

  /** Changes the offers of nodes, by their names, on their way. */
  private BinaryOperator<String> onTheWay = (node, offer) -> offer;

  /** The answers of peers that answer later. */
  private final List<Runnable> late = new ArrayList<>();

  private boolean areLate;
  private long questions;
  private long letters;

  /** A node with room for so many files. */
  private final class Node implements PlanParts.Items, PlanParts.Residents, PlanPeers {
    final String name;
    final Set<Item> residents = new LinkedHashSet<>();
    final PlanParts parts;
    final Plans plans;
    long room;
    int changes;
    int number;
    JobLife life = JobLife.UNKNOWN;

    /** The file that is empty; 0 if none is. */
    long empty;

    Node(String name, int room) {
      this.name = name;
      this.room = room;
      parts =
          new PlanParts(
              this,
              this,
              job -> life,
              () -> (long) FILES * PAGE,
              this::work,
              marks.resolve(name),
              () -> now);
      plans = new Plans(parts);
      plans.peers(this);
    }

    private void work(Runnable task) {
      if (threadsMissing > 0) {
        threadsMissing--;
        throw new OutOfMemoryError("unable to create native thread");
      }
      task.run();
    }

    @Override
    public long count(long id) {
      return id == empty ? 0 : 1;
    }

    /** Names of files are those of their turns in the list without the empty one. */
    @Override
    public @Nullable Item item(long id) {
      long turn = empty == 0 || id < empty ? id : id - 1;
      return id == empty
          ? null
          : new Item(
              new ItemKey(id, 0), () -> OriginPath.of("f" + turn), new Version(9, 1, 1, ""), 0, 9);
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
    public CompletableFuture<Answer> offer(String peer, String known, int longest) {
      questions++;
      if (peer.equals(hung)) {
        return new CompletableFuture<>();
      }
      if (peer.equals(broken)) {
        throw new IllegalStateException("for the test");
      }
      if (peer.equals(withoutHeap)) {
        withoutHeap = "";
        throw new OutOfMemoryError("for the test");
      }
      Node asked = nodes.stream().filter(node -> node.name.equals(peer)).findFirst().orElse(null);
      if (asked == null) {
        return CompletableFuture.failedFuture(new IllegalStateException("gone"));
      }
      String offer = onTheWay.apply(peer, asked.plans.ownOffer());
      String name = PlanFiles.digest(offer);
      String sent = name.equals(known) ? "" : offer;
      letters += sent.length();
      Answer answer = new Answer(name, sent.substring(0, Math.min(sent.length(), longest + 1)));
      CompletableFuture<Answer> future = new CompletableFuture<>();
      if (areLate) {
        late.add(() -> future.complete(answer));
      } else {
        future.complete(answer);
      }
      return future;
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
      number = announce("job", seed, world, rank, epoch);
    }

    int announce(String job, int seed, int world, int rank, int epoch) {
      assertThat(announceList(plans, job, sampler(seed, world, rank, epoch), ids())).isEmpty();
      return plans.ordered(job);
    }

    /** The job is in a pass that others follow. */
    void opened(int pass, int position) {
      plans.opened("job", number, new JobPlace(pass, position, false));
    }

    /** The job is in the last pass. */
    void openedLast(int pass, int position) {
      plans.opened("job", number, new JobPlace(pass, position, true));
    }

    @Nullable PlannedItem find(long id) {
      return plans.planned().find(item(id));
    }
  }

  private static TorchSampler sampler(int seed, int world, int rank, int epoch) {
    return sampler(BigInteger.valueOf(seed), world, rank, epoch);
  }

  private static TorchSampler sampler(BigInteger seed, int world, int rank, int epoch) {
    return new TorchSampler(seed, epoch, true, new TorchSampler.Replica(rank, world, false));
  }

  private static String announceList(Plans plans, String job, TorchSampler sampler, long[] ids) {
    return plans.announce(job, sampler, ids.length, place -> ids[place]);
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
      now += TICK;
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
      PlannedItem one = nodes.get(0).find(id);
      PlannedItem other = nodes.get(1).find(id);
      assertThat(one.holder()).isEqualTo(other.holder());
      assertThat(one.isHere()).isEqualTo(one.holder().equals("a"));
      assertThat(one.holder())
          .as("in the first epoch the origin's readers keep them")
          .isIn("a", "b", "");
    }
    assertThat(nodes).extracting(node -> node.changes).containsOnly(1);
    assertThat(nodes.get(0).find(99)).isNull();
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
    onTheWay = (node, offer) -> offer.replace("world 2 ", "world 9 ").replace("ranks 1", "ranks 5");
    start(140, "a", "b");
    nodes.get(0).announce(7, 2, 0, 0);
    nodes.get(1).announce(7, 2, 1, 0);
    ticks();
    assertThat(nodes.get(0).state()).isEqualTo("b reads another order");
    onTheWay = (node, offer) -> offer;
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

  /** The work was never done again, and nothing ended a plan any more. */
  @Test
  void work_thatFindsNoThread_isDoneLater() {
    start(140, "a", "b");
    nodes.get(0).announce(7, 2, 0, 0);
    nodes.get(1).announce(7, 2, 1, 0);
    threadsMissing = 2;
    ticks();
    ticks();
    assertThat(nodes).extracting(Node::state).containsOnly("followed");
  }

  /** The node never asked that peer again, nor the peers behind it. */
  @Test
  void offer_thatFindsTheHeapFull_isAskedForAgain() {
    start(140, "a", "b", "c");
    withoutHeap = "b";
    for (int rank = 0; rank < 3; rank++) {
      nodes.get(rank).announce(7, 3, rank, 0);
    }
    ticks();
    ticks();
    assertThat(nodes).extracting(Node::state).containsOnly("followed");
  }

  /** A node whose view changed and came back made another plan of the same offers. */
  @Test
  void plan_thatIsMadeTwiceOfTheSameOffers_isTheSame() {
    BitSet residents = new BitSet();
    residents.set(0, 100);
    start(140, "a", "b");
    PlanFiles files = PlanFiles.of(ids(), nodes.get(0).parts);
    RankJob job = new RankJob(1, sampler(7, 2, 0, 0), files);
    PlanOffer mine = offer(job, 0, (BitSet) residents.clone());
    PlanOffer other = offer(job, 1, residents);
    Offers offers =
        new Offers(
            List.of("a", "b"),
            mine,
            Map.of(
                "b",
                new PeerOffer(
                    new PlanPeers.Answer("other", other.toString()), PlanOffer.longest(FILES))));
    PlanMaker maker = new PlanMaker(offers, job);
    assertThat(maker.objection()).isEmpty();

    maker.make();

    assertThat(mine.residents()).isEqualTo(residents);
  }

  /** Each rank of a node kept a list of its own until the next one. */
  @Test
  void lists_thatWaitForTheirOrders_areSharedToo() {
    start(140, "a", "b");
    PlanFiles files = PlanFiles.of(ids(), nodes.get(0).parts);
    LocalRanks ranks = new LocalRanks(now);
    assertThat(ranks.await("job", sampler(7, 2, 0, 0), files, now)).isEmpty();
    assertThat(ranks.files()).containsExactly(files);
  }

  private static PlanOffer offer(RankJob job, int rank, BitSet residents) {
    return new PlanOffer(
        job.order,
        0,
        2,
        List.of(rank),
        FILES,
        140L * PAGE,
        140L * PAGE,
        (long) FILES * PAGE,
        residents);
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
    assertThat(a.plans.planned().find(even)).isNull();
    a.room = 2;
    assertThat(a.plans.swaps().wants(a.item(202))).isTrue();
    assertThat(a.plans.swaps().wants(a.item(203))).as("it belongs elsewhere").isFalse();
    assertThat(a.plans.swaps().victim(a.item(202), 0, 0)).isEqualTo(odd.key());
    assertThat(a.plans.swaps().victim(a.item(204), 0, 0)).isNull();
    assertThat(a.plans.swaps().wants(a.item(204))).isFalse();
  }

  @Test
  void strays_onceAllNodesAreBackAndNoneIsLeft_areForgottenWithThePlan() {
    startPlanned();
    Node a = nodes.get(0);
    Node b = nodes.remove(1);
    view();
    ticks();
    assertThat(marks.resolve("a")).as("b may come back").hasContent("2");
    assertThat(LongStream.of(ids()).mapToObj(a::item).map(a.plans.planned()::formerHolder))
        .contains("b");

    Item odd = a.item(201);
    a.residents.add(odd);
    nodes.add(b);
    view();
    ticks();
    assertThat(marks.resolve("a")).exists();
    a.room = 1;
    assertThat(a.plans.swaps().victim(a.item(202), 0, 0)).isEqualTo(odd.key());
    ticks();

    assertThat(marks.resolve("a")).doesNotExist();
    assertThat(LongStream.of(ids()).mapToObj(a::item).map(a.plans.planned()::formerHolder))
        .containsOnly("");
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
    assertThat(a.plans.swaps().wants(a.item(206))).as("no resident belongs elsewhere").isFalse();

    nodes.add(c);
    view();
    ticks();

    a.room = 3;
    assertThat(a.plans.swaps().wants(a.item(207))).isTrue();
    assertThat(a.plans.swaps().victim(a.item(207), 0, 0)).isEqualTo(a.item(200).key());
    nodes.remove(2);
    assertThat(a.plans.swaps().victim(a.item(206), 0, 0))
        .as("the rest belongs here again")
        .isNull();
  }

  @Test
  void opened_ofTheNextEpochs_goesOn_andOfAnEarlierOne_endsThePlan() {
    startPlanned();
    for (int epoch = 1; epoch < 3; epoch++) {
      for (Node node : nodes) {
        node.opened(epoch, 0);
      }
      ticks();
      assertThat(nodes).extracting(node -> node.plans.figures().epoch()).containsOnly((long) epoch);
    }
    for (Node node : nodes) {
      node.opened(1, 10);
    }
    ticks();
    assertThat(nodes).extracting(Node::state).contains("the job reads an epoch again");
  }

  @Test
  void notThere_ofManyItems_endsThePlanOnAllNodes_untilTheNextEpoch() {
    startPlanned();
    Node a = nodes.get(0);
    for (int i = 0; i < 40; i++) {
      a.plans.planned().notThere(a.item(100 + i));
    }
    ticks();
    assertThat(a.state()).isEqualTo("33 files of epoch 0 were elsewhere");
    assertThat(nodes.get(1).state()).isEqualTo("a has withdrawn its offer");
    ticks();
    assertThat(nodes).extracting(Node::state).doesNotContain("followed");

    for (Node node : nodes) {
      node.opened(1, 0);
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

    assertThat(a.find(200)).isNull();
    assertThat(a.changes).isEqualTo(1);
    ticks();
    assertThat(a.changes).isEqualTo(2);
  }

  private List<ItemKey> leavers(Node node) {
    return Stream.generate(() -> node.plans.swaps().victim(node.item(99), 0, 0))
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
      node.opened(epoch, 0);
    }
    ticks();
  }

  private void lose() {
    Node a = nodes.get(0);
    for (int i = 0; i < 40; i++) {
      a.plans.planned().notThere(a.item(100 + i));
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
    nodes.get(0).opened(0, 100);
    ticks();
    nodes.get(1).announce(7, 2, 1, 0);
    ticks();
    assertThat(nodes).extracting(Node::state).doesNotContain("followed");
    for (Node node : nodes) {
      node.opened(1, 0);
    }
    ticks();
    assertThat(nodes).extracting(Node::state).containsOnly("followed");
  }

  // --- the end of an order

  private void minutes(int count) {
    for (int i = 0; i < count; i++) {
      now += Duration.ofMinutes(1).toNanos() - 8 * TICK;
      ticks();
    }
    ticks(); // some seconds more
  }

  /** The plan of an order that was over stayed, and peers were asked once a second for ever. */
  @Test
  void ranks_thatHaveReadTheirOrderToTheEnd_areWithdrawn_andNobodyAsksAnyMore() {
    startPlanned();
    nodes.forEach(node -> node.openedLast(0, FILES / 2));
    minutes(9);
    assertThat(isFollowed()).as("another epoch may be announced").isTrue();

    minutes(1);

    assertThat(nodes)
        .extracting(Node::state)
        .containsExactly(
            "rank 0 has read its order to the end", "rank 1 has read its order to the end");
    assertThat(nodes).extracting(node -> node.plans.ownOffer()).containsOnly("");
    assertThat(nodes).extracting(node -> node.changes).as("each ends it once").containsOnly(2);
    long asked = questions;
    minutes(20);
    assertThat(questions).isEqualTo(asked);
  }

  /** The files of a batch that is dropped are never opened. */
  @Test
  void rank_thatLeavesOutATenthOfItsLastEpoch_isAtItsEnd() {
    startPlanned();
    nodes.forEach(node -> node.life = JobLife.ALIVE);
    nodes.forEach(node -> node.openedLast(0, FILES / 2 - 25));
    minutes(60);
    assertThat(isFollowed()).as("the job evaluates, in the middle of an epoch").isTrue();
    nodes.forEach(node -> node.openedLast(0, FILES / 2 - 20));
    minutes(10);
    assertThat(isFollowed()).isFalse();
  }

  /**
   * A node went on to an epoch that nobody reads, and let go of what others had yet to read from it
   * in the last one.
   */
  @Test
  void rank_thatIsThroughEarlier_keepsWhatOthersAreToReadFromItsNode_butNotForEver() {
    start(140, "a", "b");
    Node a = nodes.get(0);
    Node b = nodes.get(1);
    LongStream.of(ids()).limit(140).mapToObj(a::item).forEach(a.residents::add);
    LongStream.of(ids()).skip(140).limit(140).mapToObj(b::item).forEach(b.residents::add);
    a.announce(7, 2, 0, 0);
    b.announce(7, 2, 1, 0);
    ticks();
    begin(1);
    List<ItemKey> promised =
        Arrays.stream(sampler(7, 2, 1, 1).indices(FILES))
            .mapToLong(index -> ids()[index])
            .filter(id -> b.find(id).holder().equals("a"))
            .mapToObj(id -> a.item(id).key())
            .toList();
    assertThat(promised).isNotEmpty();

    a.openedLast(1, FILES / 2);
    minutes(9);

    assertThat(isFollowed()).isTrue();
    assertThat(nodes).extracting(node -> node.plans.figures().epoch()).containsOnly(1L);
    assertThat(leavers(a)).isNotEmpty().doesNotContainAnyElementsOf(promised);
    b.openedLast(1, FILES / 4);
    minutes(1);
    assertThat(a.state()).isEqualTo("rank 0 has read its order to the end");
    assertThat(b.state()).isEqualTo("a has withdrawn its offer");
    assertThat(b.changes).isEqualTo(2);
  }

  @Test
  void end_ofAnEpoch_thatAnotherOneFollows_isNoEnd() {
    startPlanned();
    nodes.forEach(node -> node.openedLast(0, FILES / 2));
    minutes(9);
    nodes.forEach(node -> node.plans.goesOn("job", node.number));
    nodes.forEach(node -> node.openedLast(0, FILES / 2)); // was on its way
    minutes(9);
    assertThat(nodes).extracting(node -> node.plans.figures().epoch()).containsOnly(1L);

    nodes.forEach(node -> node.openedLast(1, FILES / 2));
    minutes(9);
    for (int rank = 0; rank < 2; rank++) {
      nodes.get(rank).announce(7, 2, rank, 2);
    }
    minutes(9);
    assertThat(nodes).extracting(node -> node.plans.figures().epoch()).containsOnly(2L);
    assertThat(nodes).extracting(node -> node.changes).as("one plan all the time").containsOnly(1);
  }

  @Test
  void opened_ofTheLastEpochOnceMore_endsThePlan() {
    startPlanned();
    nodes.forEach(node -> node.openedLast(0, FILES / 2));
    ticks();
    nodes.forEach(node -> node.openedLast(0, 3));
    ticks();
    assertThat(nodes).extracting(Node::state).containsOnly("the job reads an epoch again");
  }

  @Test
  void job_thatHasEndedInTheMiddle_isWithdrawn() {
    startPlanned();
    Node a = nodes.get(0);
    a.opened(0, 50);
    a.life = JobLife.ENDED;
    minutes(9);
    assertThat(isFollowed()).as("the next process may go on").isTrue();
    minutes(1);
    assertThat(a.state()).isEqualTo("the job of rank 0 has ended");
    assertThat(nodes.get(1).state()).isEqualTo("a has withdrawn its offer");
  }

  @Test
  void job_thatOpensNoFile_isWithdrawnAfterAnHour_unlessItLives() {
    startPlanned();
    Node a = nodes.get(0);
    a.opened(0, 50);
    nodes.forEach(node -> node.life = JobLife.ALIVE);
    minutes(70);
    assertThat(isFollowed()).isTrue();
    a.life = JobLife.UNKNOWN;
    ticks();
    assertThat(a.state()).isEqualTo("the job of rank 0 has opened no file for an hour");
  }

  /** The processes that have ended are those of an earlier job of the same name. */
  @Test
  void job_thatHasNotBegun_hasAnHour() {
    startPlanned();
    nodes.forEach(node -> node.life = JobLife.ENDED);
    minutes(59);
    assertThat(isFollowed()).isTrue();
    minutes(1);
    assertThat(nodes.get(0).state()).isEqualTo("the job of rank 0 has opened no file for an hour");
  }

  @Test
  void rank_thatIsAtItsEnd_makesWayForAnotherOrderAtOnce() {
    startPlanned();
    nodes.forEach(node -> node.openedLast(0, FILES / 2));
    for (int rank = 0; rank < 2; rank++) {
      nodes.get(rank).announce("next", 8, 2, rank, 0);
    }
    ticks();
    assertThat(isFollowed()).isTrue();
  }

  /** The rank of a job that had crashed kept the node from all other plans. */
  @Test
  void job_thatHasEnded_doesNotKeepItsNodeFromAnotherPlan() {
    startPlanned();
    for (int rank = 0; rank < 2; rank++) {
      Node node = nodes.get(rank);
      node.opened(0, 50);
      node.life = JobLife.ENDED;
      node.announce("next", 8, 2, rank, 0);
    }
    ticks();
    assertThat(nodes).extracting(Node::state).containsOnly("jobs of this node read several orders");
    now += Duration.ofSeconds(10).toNanos();
    ticks();
    assertThat(isFollowed()).isTrue();
  }

  // --- peers that lie

  private void changes(String peer, UnaryOperator<String> change) {
    onTheWay = (node, offer) -> node.equals(peer) ? change.apply(offer) : offer;
  }

  private void announceBoth(int epoch) {
    for (int rank = 0; rank < 2; rank++) {
      nodes.get(rank).announce(7, 2, rank, epoch);
    }
    ticks();
  }

  /** It was asked for four times a second, each time with all of its bytes. */
  @Test
  void offer_thatIsTooLong_isNoneOfThisOrder_andTravelsOnce() {
    start(140, "a", "b");
    changes("b", offer -> offer.replace("residents ", "residents " + "A".repeat(1_000_000)));
    announceBoth(0);
    assertThat(nodes.get(0).state()).isEqualTo("b reads another order");
    long before = letters;
    assertThat(before).isGreaterThan(1_000_000);
    minutes(1);
    assertThat(letters).isEqualTo(before);
  }

  @Test
  void offer_ofAnotherNode_makesNoPlan() {
    start(140, "a", "b");
    changes("b", offer -> nodes.get(0).plans.ownOffer());
    announceBoth(0);
    assertThat(nodes.get(0).state()).isEqualTo("the nodes have 1 different ranks of 2");
  }

  @Test
  void offer_thatIsOld_makesNoPlan_andEndsOne() {
    startPlanned();
    String old = nodes.get(1).plans.ownOffer();
    lose();
    changes("b", offer -> old);
    begin(1);
    assertThat(nodes.get(0).state()).isEqualTo("b begins epoch 0, and this node 1");
    changes("b", offer -> offer);
    ticks();
    assertThat(isFollowed()).isTrue();

    changes("b", offer -> old);
    ticks();
    assertThat(nodes.get(0).state()).isEqualTo("b offers something else");
  }

  /** It may be some seconds old. */
  @Test
  void offer_thatArrivesAfterThisNodeHasWithdrawnItsOwn_isNotTaken() {
    start(140, "a", "b");
    nodes.get(1).announce(7, 2, 1, 0);
    ticks();
    areLate = true;
    nodes.get(0).announce(7, 2, 0, 0);
    ticks();
    nodes.get(1).plans.forget("job");
    nodes.get(0).plans.forget("job");
    nodes.get(0).announce(7, 2, 0, 0);
    ticks();
    List.copyOf(late).forEach(Runnable::run);
    ticks();
    assertThat(nodes.get(0).state()).isEqualTo("1 of 2 nodes have offered their parts");
  }

  @Test
  void offer_ofAnEpochFarAway_makesNoPlan() {
    start(140, "a", "b");
    changes("b", offer -> offer.replace("epoch 0 ", "epoch 999999999 "));
    announceBoth(0);
    assertThat(nodes.get(0).state()).isEqualTo("b begins epoch 999999999, and this node 0");

    changes("b", offer -> offer);
    nodes.forEach(node -> node.plans.forget("job"));
    announceBoth(PlanOffer.LAST_FIRST_EPOCH);
    assertThat(isFollowed()).isTrue();
    assertThat(announceList(nodes.get(0).plans, "job", sampler(7, 2, 0, 900_000_001), ids()))
        .isEqualTo("the seed or the epoch is too large");
    BigInteger seed = BigInteger.ONE.shiftLeft(64).subtract(BigInteger.TWO);
    assertThat(announceList(nodes.get(0).plans, "job", sampler(seed, 2, 0, 1), ids()))
        .isEqualTo("the seed or the epoch is too large");
  }

  @ParameterizedTest
  @CsvSource({
    "573440, 573440, 999999999999999999, followed",
    "573440, 999999999999999999, 0, followed",
    "573440, 0, 1, files that are not in the list take the room",
    "999999999999999999, 573440, 1, b has another capacity",
    "0, 0, 0, b has another capacity",
  })
  void offer_withAbsurdNumbers_isComparedExactly(
      long capacity, long room, long dataset, String state) {
    start(140, "a", "b");
    changes(
        "b",
        offer ->
            offer.replaceFirst(
                "capacity .*",
                "capacity %d room %d dataset %d".formatted(capacity, room, dataset)));
    announceBoth(0);
    assertThat(nodes.get(0).state()).isEqualTo(state);
  }

  /** An empty file takes a place in the order, too. */
  @Test
  void order_ofTheSameFilesWithAnEmptyOneElsewhere_isAnother() {
    start(140, "a", "b");
    nodes.get(0).empty = 100;
    nodes.get(1).empty = 101;
    announceBoth(0);
    assertThat(nodes.get(0).state()).isEqualTo("b reads another order");
  }

  @Test
  void lists_whoseOrdersDoNotCome_areForgotten_andAreFewEnough() {
    start(140, "a", "b");
    Plans plans = nodes.get(0).plans;
    TorchSampler ranks =
        new TorchSampler(BigInteger.ONE, 0, true, new TorchSampler.Replica(0, 2, false));
    for (int i = 0; i < 32; i++) {
      assertThat(announceList(plans, "job" + i, ranks, ids())).isEmpty();
    }
    assertThat(announceList(plans, "more", ranks, ids()))
        .isEqualTo("32 lists wait for their orders");
    plans.forgetList("job1");
    assertThat(plans.ordered("job1")).as("its order is not drawn from the list").isZero();
    assertThat(announceList(plans, "more", ranks, ids())).isEmpty();
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
    assertThat(announceList(plans, "job", alone, ids())).isEqualTo("it has no ranks");
    assertThat(announceList(plans, "job", ranks, new long[] {1, 2, 1, 4})).contains("a file twice");
    assertThat(announceList(plans, "job", ranks, new long[] {1, 2, 3})).contains("too short");
    assertThat(plans.ordered("job")).isZero();
  }

  /** The nodes of 16,000,000 files took 128 MB before the list was said to be too long. */
  @Test
  void announce_ofAListThatIsTooLongForTheHeap_asksForNoFile() {
    start(140, "a", "b");
    String why =
        nodes
            .get(0)
            .plans
            .announce(
                "job",
                sampler(7, 2, 0, 0),
                PlanHeap.mostFiles() + 1,
                place -> {
                  throw new AssertionError("file " + place + " is asked for");
                });
    assertThat(why).isEqualTo("the list is too long or too short");
  }
}
