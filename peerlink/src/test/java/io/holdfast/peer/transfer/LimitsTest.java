package io.holdfast.peer.transfer;

import static io.holdfast.peer.transfer.Nodes.await;
import static io.holdfast.peer.transfer.Nodes.fetch;
import static io.holdfast.peer.transfer.Nodes.whole;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.peer.transfer.Nodes.TestNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The most that peers and strangers can take of a node. */
final class LimitsTest {
  private static final int LENGTH = 8 << 20;
  private static final String ITEM = "/v1/datasets/imagenet/items/a?extent=0";

  private final Nodes nodes = new Nodes();

  @AfterEach
  void close() {
    nodes.close();
  }

  private TestNode owner(Transfer.Limits limits) {
    return nodes.start(
        new Transfer.Config(
            Nodes.free("127.0.0.2"), Nodes.DATASET, Nodes.SECRET, Nodes.PATIENT, limits));
  }

  /** Limits of which one node may take all. */
  private static Transfer.Limits limits(int connections, int unauthenticated, int sends) {
    return new Transfer.Limits(
        connections, unauthenticated, sends, new Transfer.Limits.OfNode(connections, sends));
  }

  private RawClient connect(TestNode node) throws IOException {
    return nodes.closing(new RawClient(node.address()));
  }

  @Test
  void fetch_moreThanAreSentAtOnce_busyAndPeerIsWell() {
    TestNode owner = owner(limits(10, 10, 1));
    TestNode asker = nodes.start("127.0.0.3");
    AtomicReference<ItemProvider.Answer> first = new AtomicReference<>();
    owner.shelf().instead = first::set;
    CompletableFuture<TransferResult> outcome =
        asker.ask(owner.address(), Sketches.NONE, whole("a", 10), nodes.memory(10).memoryAddress());
    Eventually.holds("the first is asked", () -> first.get() != null);

    for (int i = 0; i < 3; i++) {
      assertThat(fetch(asker, owner.address(), whole("a", 10), nodes.memory(10)))
          .isEqualTo(TransferResult.refused(Refusal.BUSY));
    }

    assertThat(asker.transfer().figures().get(0).suspect()).isFalse();
    assertThat(owner.transfer().refusals()).containsEntry("busy", 3L);
    first.get().refused(Refusal.FULL);
    assertThat(await(outcome)).isEqualTo(TransferResult.refused(Refusal.FULL));
    owner.shelf().instead = answer -> answer.refused(Refusal.UNKNOWN);
    assertThat(fetch(asker, owner.address(), whole("a", 10), nodes.memory(10)))
        .isEqualTo(TransferResult.refused(Refusal.UNKNOWN));
  }

  /** One node could take all permits, and its peers went to their origins. */
  @Test
  void fetch_oneNodeHasAllThatItMay_othersAreServed() {
    TestNode owner = owner(new Transfer.Limits(100, 10, 100, new Transfer.Limits.OfNode(100, 2)));
    owner.put("a", 10);
    TestNode greedy = nodes.start("127.0.0.3");
    Queue<ItemProvider.Answer> held = new ConcurrentLinkedQueue<>();
    owner.shelf().instead = held::add;
    List<CompletableFuture<TransferResult>> outcomes = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      long memory = nodes.memory(10).memoryAddress();
      outcomes.add(greedy.ask(owner.address(), Sketches.NONE, whole("a", 10), memory));
    }
    Eventually.holds("both are asked", () -> held.size() == 2);
    owner.shelf().instead = null;

    assertThat(fetch(greedy, owner.address(), whole("a", 10), nodes.memory(10)))
        .isEqualTo(TransferResult.refused(Refusal.BUSY));
    TestNode other = nodes.start("127.0.0.4");
    assertThat(fetch(other, owner.address(), whole("a", 10), nodes.memory(10)).isFetched())
        .isTrue();

    held.forEach(each -> each.refused(Refusal.FULL));
    outcomes.forEach(
        each -> assertThat(await(each)).isEqualTo(TransferResult.refused(Refusal.FULL)));
    assertThat(fetch(greedy, owner.address(), whole("a", 10), nodes.memory(10)).isFetched())
        .isTrue();
  }

  /** One node could take all connections, and others saw theirs closed, as by a node at fault. */
  @Test
  void connect_oneNodeHasAllThatItMay_busyAndOthersAreServed() throws IOException {
    TestNode owner = owner(new Transfer.Limits(100, 10, 100, new Transfer.Limits.OfNode(2, 100)));
    owner.put("a", 10);
    List<RawClient> greedy = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      greedy.add(connect(owner).hello(Nodes.SECRET));
      assertThat(greedy.get(i).ask(greedy.get(i).get(ITEM)).status()).isEqualTo(200);
    }

    RawClient third = connect(owner).hello(Nodes.SECRET);
    assertThat(third.ask(third.get(ITEM)).status()).isEqualTo(Refusal.BUSY.status());
    assertThat(third.awaitEnd()).isZero();
    assertThat(owner.transfer().refusals()).containsEntry("too_many", 1L);
    TestNode other = nodes.start("127.0.0.4");
    assertThat(fetch(other, owner.address(), whole("a", 10), nodes.memory(10)).isFetched())
        .isTrue();

    greedy.get(0).close();
    AtomicBoolean served = new AtomicBoolean();
    Eventually.holds(
        "its permit is given back",
        () -> {
          served.compareAndSet(false, served.get() || isServed(owner));
          return served.get();
        });
  }

  private boolean isServed(TestNode owner) {
    try {
      RawClient client = connect(owner).hello(Nodes.SECRET);
      return client.ask(client.get(ITEM)).status() == 200;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A request that gets its turn late would leave its peer no time to answer. */
  @Test
  void fetch_hasNoTurnForTooLong_busyAndPeerIsWell() {
    TestNode owner = owner(Transfer.Limits.DEFAULT);
    Duration answer = Duration.ofSeconds(60);
    TestNode asker = nodes.start(nodes.wantsAll("127.0.0.3", answer, answer.plusMillis(500)));
    Queue<ItemProvider.Answer> held = new ConcurrentLinkedQueue<>();
    owner.shelf().instead = held::add;
    List<CompletableFuture<TransferResult>> outcomes = new ArrayList<>();
    for (int i = 0; i < 33; i++) {
      long memory = nodes.memory(10).memoryAddress();
      outcomes.add(asker.ask(owner.address(), Sketches.NONE, whole("a", 10), memory));
    }

    assertThat(await(outcomes.remove(32))).isEqualTo(TransferResult.refused(Refusal.BUSY));

    assertThat(held).hasSize(32);
    held.forEach(each -> each.refused(Refusal.FULL));
    outcomes.forEach(
        each -> assertThat(await(each)).isEqualTo(TransferResult.refused(Refusal.FULL)));
    assertThat(asker.transfer().figures().get(0).errors()).isZero();
  }

  /** With a full heap, the loan was never given back, and the asker waited for its deadline. */
  @Test
  void get_errorWhileTheLoanIsTaken_refusedAndNothingIsKept() {
    TestNode owner = owner(limits(10, 10, 1));
    byte[] bytes = owner.put("a", 10);
    TestNode asker = nodes.start("127.0.0.3");
    owner.shelf().instead =
        answer -> {
          BufferLease loan = owner.shelf().lend(bytes, 0, bytes.length);
          CompletableFuture<Void> unused =
              CompletableFuture.runAsync(() -> answer.lent(new WithoutDigest(loan)));
        };

    assertThat(fetch(asker, owner.address(), whole("a", 10), nodes.memory(10)))
        .isEqualTo(TransferResult.refused(Refusal.ORIGIN_FAILED));

    assertThat(owner.shelf().loans).hasValue(0);
    owner.shelf().instead = null;
    assertThat(fetch(asker, owner.address(), whole("a", 10), nodes.memory(10)).isFetched())
        .isTrue();
  }

  /** A loan whose digest cannot be computed. */
  private record WithoutDigest(BufferLease loan) implements BufferLease {
    @Override
    public long address() {
      return loan.address();
    }

    @Override
    public int length() {
      return loan.length();
    }

    @Override
    public byte[] sha256() {
      throw new OutOfMemoryError("for the test");
    }

    @Override
    public void close() {
      loan.close();
    }
  }

  /** Each such error took a permit for good, and after some the node answered nobody any more. */
  @Test
  void sketch_errorOfTheProvider_permitIsGivenBack() {
    TestNode owner = owner(limits(10, 10, 1));
    owner.put("a", 10);
    owner.shelf().failure = new OutOfMemoryError("for the test");
    TestNode asker = nodes.start("127.0.0.3");
    Told told = asker.transfer().sketch(owner.address()).orTimeout(60, TimeUnit.SECONDS).join();
    assertThat(told.outcome().kind()).isEqualTo(TransferResult.Kind.FAULT);

    TestNode other = nodes.start("127.0.0.4");
    assertThat(fetch(other, owner.address(), whole("a", 10), nodes.memory(10)).isFetched())
        .isTrue();
  }

  /** Each permit came back before the text was written, so unread ones piled up. */
  @Test
  void plan_receiverTakesNothing_permitIsGivenBackWhenItGoes() throws IOException {
    TestNode owner = owner(limits(10, 10, 1));
    owner.put("a", 10);
    TestNode other = nodes.start("127.0.0.4");
    RawClient member = longPlan(owner);

    Eventually.holds(
        "the plan is being sent",
        () ->
            fetch(other, owner.address(), whole("a", 10), nodes.memory(10)).refusal()
                == Refusal.BUSY);
    member.close();

    Eventually.holds(
        "the permit is given back",
        () -> fetch(other, owner.address(), whole("a", 10), nodes.memory(10)).isFetched());
  }

  @Test
  void plan_receiverTakesNothing_closedInTheEnd() throws IOException {
    TestNode owner =
        nodes.start(nodes.wantsAll("127.0.0.2", Duration.ofMillis(500), Duration.ofSeconds(1)));
    RawClient member = longPlan(owner);

    Eventually.holds(
        "it is closed", () -> owner.transfer().refusals().containsKey("slow_receiver"));

    assertThat(member.awaitEnd()).isLessThan(LENGTH);
  }

  /** A receiver with little room that asks for a long plan. */
  private RawClient longPlan(TestNode owner) throws IOException {
    owner.shelf().plan = new OwnText("x".repeat(LENGTH));
    RawClient member = nodes.closing(RawClient.withLittleRoom(owner.address())).hello(Nodes.SECRET);
    member.send(member.request("GET", HttpNames.planOf(Nodes.DATASET)));
    return member;
  }

  private static PeerFigures.Load load(TestNode asker) {
    return asker.transfer().figures().get(0).load();
  }

  @Test
  void fetch_peerIsBusyAndThenIsNot_asksLessAndThenMore() {
    TestNode owner = owner(Transfer.Limits.DEFAULT);
    TestNode asker = nodes.start("127.0.0.3");
    owner.shelf().instead = answer -> answer.refused(Refusal.BUSY);
    int before = 32;
    for (int i = 0; i < 3; i++) {
      fetch(asker, owner.address(), whole("a", 10), nodes.memory(10));
      Eventually.holds("asks less", smaller(asker, before));
      before = load(asker).limit();
    }
    assertThat(before).isBetween(10, 11);

    Queue<ItemProvider.Answer> held = new ConcurrentLinkedQueue<>();
    owner.shelf().instead = held::add;
    List<CompletableFuture<TransferResult>> outcomes = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      long memory = nodes.memory(10).memoryAddress();
      outcomes.add(asker.ask(owner.address(), Sketches.NONE, whole("a", 10), memory));
    }
    int least = before;
    Eventually.holds("some are asked", () -> held.size() == least && load(asker).queued() > 0);
    assertThat(load(asker)).isEqualTo(new PeerFigures.Load(least, least, 50 - least));

    owner.shelf().instead = answer -> answer.refused(Refusal.UNKNOWN);
    held.forEach(answer -> answer.refused(Refusal.UNKNOWN));
    outcomes.forEach(
        each -> assertThat(await(each)).isEqualTo(TransferResult.refused(Refusal.UNKNOWN)));
    Eventually.holds("asks more again", () -> load(asker).limit() > least);
    Eventually.holds("nothing is under way", () -> load(asker).inFlight() == 0);
  }

  private static BooleanSupplier smaller(TestNode asker, int before) {
    return () -> load(asker).limit() < before;
  }

  @Test
  void connect_moreStrangersThanAllowed_oldestGoesAndMembersStay() throws IOException {
    TestNode owner = owner(limits(100, 4, 10));
    owner.put("a", 10);
    RawClient member = connect(owner).hello(Nodes.SECRET);
    assertThat(member.ask(member.get(ITEM)).status()).isEqualTo(200);
    List<RawClient> strangers = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      strangers.add(connect(owner));
      // one after the other, so that it is clear which is the oldest
      assertThat(strangers.get(i).ask("GET /healthz HTTP/1.1\r\n\r\n").status()).isEqualTo(200);
    }

    assertThat(strangers.get(0).awaitEnd()).isZero();

    assertThat(strangers.get(1).ask("GET /healthz HTTP/1.1\r\n\r\n").status()).isEqualTo(200);
    assertThat(member.ask(member.get(ITEM)).status()).isEqualTo(200);
    assertThat(owner.transfer().refusals()).containsEntry("too_many", 1L);
  }

  @Test
  void connect_moreConnectionsThanAllowed_newestGoes() throws IOException {
    TestNode owner = owner(limits(2, 2, 10));
    for (int i = 0; i < 2; i++) {
      assertThat(connect(owner).ask("GET /healthz HTTP/1.1\r\n\r\n").status()).isEqualTo(200);
    }

    assertThat(connect(owner).awaitEnd()).isZero();

    assertThat(owner.transfer().refusals()).containsEntry("too_many", 1L);
  }

  @Test
  void connect_saysNothing_closedAndCounted() throws IOException {
    TestNode owner = owner(Transfer.Limits.DEFAULT);
    RawClient silent = connect(owner);
    RawClient half = connect(owner);
    half.send("GET /v1/hello HTTP/1.1\r\nHoldfast-No");
    RawClient healthy = connect(owner);
    assertThat(healthy.ask("GET /healthz HTTP/1.1\r\n\r\n").status()).isEqualTo(200);

    assertThat(silent.awaitEnd()).isZero();
    assertThat(half.awaitEnd()).isZero();
    assertThat(healthy.awaitEnd()).isZero();

    assertThat(owner.transfer().refusals()).containsEntry("timeout", 3L);
  }

  @Test
  void get_receiverTakesNothing_closedAndLoanGivenBack() throws IOException {
    TestNode owner = owner(Transfer.Limits.DEFAULT);
    owner.put("a", LENGTH);
    RawClient member = slowReceiver(owner);

    Eventually.holds("the loan is given back", () -> owner.shelf().loans.get() == 0);

    assertThat(owner.transfer().refusals()).containsEntry("slow_receiver", 1L);
    assertThat(member.awaitEnd()).isLessThan(LENGTH);
  }

  /** A receiver with little room to which an item is being sent. */
  private RawClient slowReceiver(TestNode owner) throws IOException {
    RawClient member = nodes.closing(RawClient.withLittleRoom(owner.address())).hello(Nodes.SECRET);
    member.send(
        member.request(
            "GET",
            ITEM,
            "If-Match: \"" + Nodes.TAG + "\"",
            "Holdfast-Item: length=" + LENGTH + ";item-size=" + LENGTH));
    Eventually.holds("it is being sent", () -> owner.shelf().loans.get() == 1);
    return member;
  }

  /** A receiver that took a piece each 9 s kept an item, its pages and a permit for minutes. */
  @Test
  void get_receiverTakesLittleAgainAndAgain_closedAndLoanGivenBack() throws IOException {
    TestNode owner =
        nodes.start(nodes.wantsAll("127.0.0.2", Duration.ofSeconds(1), Duration.ofMillis(1500)));
    owner.put("a", LENGTH);
    RawClient member = slowReceiver(owner);

    int taken = 0;
    while (owner.shelf().loans.get() == 1) {
      new CompletableFuture<>().completeOnTimeout(null, 200, TimeUnit.MILLISECONDS).join();
      taken += member.take(256 << 10);
    }

    assertThat(taken + member.awaitEnd()).isLessThan(LENGTH);
    assertThat(owner.transfer().refusals()).containsEntry("slow_receiver", 1L);
  }
}
