package io.holdfast.peer.transfer;

import static io.holdfast.peer.transfer.Nodes.DATASET;
import static io.holdfast.peer.transfer.Nodes.TAG;
import static io.holdfast.peer.transfer.Nodes.await;
import static io.holdfast.peer.transfer.Nodes.bytes;
import static io.holdfast.peer.transfer.Nodes.fetch;
import static io.holdfast.peer.transfer.Nodes.part;
import static io.holdfast.peer.transfer.Nodes.whole;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.peer.SharedDataset;
import io.holdfast.peer.transfer.Nodes.TestNode;
import io.netty.buffer.ByteBuf;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

final class TransferTest {
  private final Nodes nodes = new Nodes();
  private TestNode owner;
  private TestNode asker;

  @BeforeEach
  void start() {
    owner = nodes.start("127.0.0.2");
    asker = nodes.start("127.0.0.3");
  }

  @AfterEach
  void close() {
    nodes.close();
  }

  private PeerFigures figures() {
    return asker.transfer().figures().stream()
        .filter(each -> each.peer().equals(owner.address()))
        .findFirst()
        .orElseThrow();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 1000, 65_537, 8 << 20})
  void fetch_wholeItem_sameBytes(int length) {
    byte[] sent = owner.put("a/b.jpg", length);
    ByteBuf memory = nodes.memory(length);

    TransferResult outcome = fetch(asker, owner.address(), whole("a/b.jpg", length), memory);

    assertThat(outcome).isEqualTo(TransferResult.FETCHED);
    assertThat(bytes(memory, length)).isEqualTo(sent);
    assertThat(owner.shelf().askers).containsExactly(asker.address());
    assertThat(owner.shelf().asked).containsExactly(whole("a/b.jpg", length));
  }

  @Test
  void fetch_part_itsBytesAndNoOthers() {
    byte[] sent = owner.put("a", 5000);
    ByteBuf memory = nodes.memory(200);

    TransferResult outcome = fetch(asker, owner.address(), part("a", 5000, 1234, 100), memory);

    assertThat(outcome).isEqualTo(TransferResult.FETCHED);
    assertThat(bytes(memory, 100)).isEqualTo(Arrays.copyOfRange(sent, 1234, 1334));
    assertThat(bytes(memory, 200)[100]).isEqualTo((byte) 0x5a);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "with space",
        "100%/%2e%2e/x",
        "what?#fragment",
        "a&b=c;d",
        "plus+and\\back",
        "äöü/日本/😀",
        "..../.hidden/...",
        "new\nline\tand\u0001control",
        "\"quoted\""
      })
  void fetch_oddName_sameItem(String name) {
    byte[] sent = owner.put(name, 300);
    ByteBuf memory = nodes.memory(300);

    assertThat(fetch(asker, owner.address(), whole(name, 300), memory))
        .isEqualTo(TransferResult.FETCHED);
    assertThat(bytes(memory, 300)).isEqualTo(sent);
  }

  @Test
  void fetch_nameOfAllBytes_sameItem() {
    byte[] name = new byte[255];
    for (int i = 0; i < name.length; i++) {
      name[i] = (byte) (i + 1);
    }
    ItemPath path = ItemPath.of(name);
    byte[] sent = {1, 2, 3};
    owner.shelf().items.put(path, sent);
    ByteBuf memory = nodes.memory(3);

    ItemRequest request = new ItemRequest(DATASET, path, 77, TAG, 3, 0, 3, false);

    assertThat(fetch(asker, owner.address(), request, memory)).isEqualTo(TransferResult.FETCHED);
    assertThat(bytes(memory, 3)).isEqualTo(sent);
    assertThat(owner.shelf().asked).containsExactly(request);
  }

  @ParameterizedTest
  @EnumSource(Refusal.class)
  void fetch_refused_refusalAndPeerIsWell(Refusal refusal) {
    owner.shelf().instead = answer -> answer.refused(refusal);
    ByteBuf memory = nodes.memory(10);

    for (int i = 0; i < 3; i++) {
      assertThat(fetch(asker, owner.address(), whole("a", 10), memory))
          .isEqualTo(TransferResult.refused(refusal));
    }
    assertThat(bytes(memory, 10)).containsOnly(0x5a);
    assertThat(figures().suspect()).isFalse();
    assertThat(figures().errors()).isZero();
  }

  @Test
  void fetch_onlyIfCached_toldToTheProvider() {
    ItemRequest request = new ItemRequest(DATASET, Nodes.path("a"), 3, TAG, 10, 0, 10, true);

    TransferResult outcome = fetch(asker, owner.address(), request, nodes.memory(10));

    assertThat(outcome).isEqualTo(TransferResult.refused(Refusal.NOT_CACHED));
    assertThat(owner.shelf().asked).containsExactly(request);
  }

  @Test
  void fetch_providerThrows_refused() {
    owner.shelf().instead =
        answer -> {
          throw new IllegalStateException("thrown by the test");
        };
    assertThat(fetch(asker, owner.address(), whole("a", 10), nodes.memory(10)))
        .isEqualTo(TransferResult.refused(Refusal.ORIGIN_FAILED));
  }

  @Test
  void fetch_providerLendsAnotherLength_refused() {
    owner.shelf().instead = answer -> answer.lent(owner.shelf().lend(new byte[9], 0, 9));
    assertThat(fetch(asker, owner.address(), whole("a", 10), nodes.memory(10)))
        .isEqualTo(TransferResult.refused(Refusal.ORIGIN_FAILED));
  }

  @Test
  void fetch_providerAnswersTwice_firstCounts() {
    owner.shelf().instead =
        answer -> {
          answer.lent(owner.shelf().lend(new byte[10], 0, 10));
          answer.lent(owner.shelf().lend(new byte[10], 0, 10));
          answer.refused(Refusal.FULL);
        };
    assertThat(fetch(asker, owner.address(), whole("a", 10), nodes.memory(10)))
        .isEqualTo(TransferResult.FETCHED);
  }

  @Test
  void fetch_otherItemSize_unknown() {
    owner.put("a", 10);
    TestNode other =
        nodes.start(
            new Transfer.Config(
                Nodes.free("127.0.0.4"),
                new SharedDataset(DATASET.id(), 1 << 20),
                Nodes.SECRET,
                Nodes.PATIENT,
                Transfer.Limits.DEFAULT));
    ItemRequest request =
        new ItemRequest(
            new SharedDataset(DATASET.id(), 1 << 20), Nodes.path("a"), 0, TAG, 10, 0, 10, false);

    assertThat(fetch(other, owner.address(), request, nodes.memory(10)))
        .isEqualTo(TransferResult.refused(Refusal.UNKNOWN));
    assertThat(owner.transfer().refusals()).containsEntry("item_size", 1L);
  }

  @Test
  void fetch_otherDataset_unknownAndCounted() {
    ItemRequest request =
        new ItemRequest(
            new SharedDataset("coco", DATASET.itemSize()),
            Nodes.path("a"),
            0,
            TAG,
            10,
            0,
            10,
            false);

    assertThat(fetch(asker, owner.address(), request, nodes.memory(10)))
        .isEqualTo(TransferResult.refused(Refusal.UNKNOWN));
    assertThat(owner.transfer().refusals()).containsEntry("unknown_dataset", 1L);
    assertThat(owner.shelf().asked).isEmpty();
  }

  @Test
  void fetch_slowOrigin_waitsBeyondTheProgressDeadline() throws Exception {
    AtomicReference<ItemProvider.Answer> later = new AtomicReference<>();
    owner.shelf().instead = later::set;
    ByteBuf memory = nodes.memory(10);
    CompletableFuture<TransferResult> outcome =
        asker.ask(owner.address(), Sketches.NONE, whole("a", 10), memory.memoryAddress());
    Eventually.holds("the provider is asked", () -> later.get() != null);

    // the wait here is for nothing to happen
    CompletableFuture<TransferResult> nothing =
        outcome.copy().completeOnTimeout(null, 3, TimeUnit.SECONDS);
    assertThat(nothing.get()).isNull();
    later.get().lent(owner.shelf().lend(new byte[10], 0, 10));

    assertThat(await(outcome)).isEqualTo(TransferResult.FETCHED);
    assertThat(bytes(memory, 10)).containsOnly(0);
  }

  /**
   * When one node's origin hung, readers of the other nodes got EIO: no time was left for theirs.
   */
  @Test
  void fetch_providerDoesNotAnswer_refusedAndPeerIsWell() {
    TestNode hanging = nodes.start(nodes.wantsAnswers("127.0.0.4", 1200));
    AtomicReference<ItemProvider.Answer> later = new AtomicReference<>();
    hanging.shelf().instead = later::set;

    TransferResult outcome = fetch(asker, hanging.address(), whole("a", 10), nodes.memory(10));

    assertThat(outcome).isEqualTo(TransferResult.refused(Refusal.ORIGIN_FAILED));
    assertThat(asker.transfer().figures().get(0).suspect()).isFalse();
    later.get().lent(hanging.shelf().lend(new byte[10], 0, 10));
    assertThat(hanging.shelf().loans).as("the late bytes are given back").hasValue(0);
  }

  @Test
  void fetch_oneAfterTheOther_oneConnection() {
    Wiretap tap = nodes.closing(new Wiretap("127.0.0.4"));
    TestNode tapped = tap.node(nodes);
    tapped.put("a", 1000);
    ByteBuf memory = nodes.memory(1000);
    for (int i = 0; i < 100; i++) {
      assertThat(fetch(asker, tapped.address(), whole("a", 1000), memory).isFetched()).isTrue();
      assertThat(fetch(asker, tapped.address(), whole("gone", 1000), memory).refusal())
          .isEqualTo(Refusal.UNKNOWN);
    }
    assertThat(tap.connections()).isEqualTo(1);
  }

  @Test
  void fetch_manyAtOnce_allRight() {
    List<ByteBuf> memories = new ArrayList<>();
    List<CompletableFuture<TransferResult>> outcomes = new ArrayList<>();
    byte[] sent = owner.put("a", 100_000);
    for (int i = 0; i < 200; i++) {
      ByteBuf memory = nodes.memory(sent.length);
      memories.add(memory);
      ItemRequest request = whole("a", sent.length);
      outcomes.add(asker.ask(owner.address(), Sketches.NONE, request, memory.memoryAddress()));
    }
    for (int i = 0; i < outcomes.size(); i++) {
      assertThat(await(outcomes.get(i))).isEqualTo(TransferResult.FETCHED);
      assertThat(bytes(memories.get(i), sent.length)).isEqualTo(sent);
    }
  }

  @Test
  void fetch_sketches_areToldToTheProvider() {
    Sketches sketches = new Sketches("mine-_1", "yours");
    owner.put("x", 10);

    TransferResult outcome =
        await(
            asker.ask(owner.address(), sketches, whole("x", 10), nodes.memory(10).memoryAddress()));

    assertThat(outcome).isEqualTo(TransferResult.FETCHED);
    assertThat(owner.shelf().sketches).containsExactly(sketches);
  }

  @Test
  void sketch_told_isTheText() {
    String text = "a sketch\n".repeat(1000);
    owner.shelf().sketch.complete(text);

    Told told = asker.transfer().sketch(owner.address()).orTimeout(60, TimeUnit.SECONDS).join();

    assertThat(told).isEqualTo(new Told(TransferResult.FETCHED, new OwnText(text).name(), text));
  }

  /** The client asks again; the peer is well. */
  @Test
  void sketch_notReady_refusedSoonAndNotSuspect() {
    Told told = asker.transfer().sketch(owner.address()).orTimeout(60, TimeUnit.SECONDS).join();

    assertThat(told.outcome()).isEqualTo(TransferResult.refused(Refusal.NOT_COMPARED));
    assertThat(asker.transfer().figures().get(0).suspect()).isFalse();
  }

  @Test
  void sketch_longerThanAnyNodeTells_isAFaultAndNotTaken() {
    owner.shelf().sketch.complete("x".repeat(TextExchange.LONGEST_SKETCH + 1));

    Told told = asker.transfer().sketch(owner.address()).orTimeout(60, TimeUnit.SECONDS).join();

    assertThat(told.outcome().kind()).isEqualTo(TransferResult.Kind.FAULT);
    assertThat(told.text()).isEmpty();
  }

  @Test
  void plan_offered_isTheTextAndTravelsOnce_whateverItsLength() {
    Wiretap tap = nodes.closing(new Wiretap("127.0.0.4"));
    TestNode tapped = tap.node(nodes);
    AtomicLong answered = new AtomicLong();
    tap.answers =
        (bytes, length, at) -> {
          answered.addAndGet(length);
          return length;
        };
    String offer = "an offer\n".repeat(10_000);
    tapped.shelf().plan = new OwnText(offer);
    String name = tapped.shelf().plan.name();

    for (int longest : List.of(offer.length(), 1000)) {
      answered.set(0);
      Told first = plan(tapped, "", longest);
      String kept = offer.substring(0, Math.min(offer.length(), longest + 1));
      assertThat(first).isEqualTo(new Told(TransferResult.FETCHED, name, kept));
      assertThat(answered.getAndSet(0)).isGreaterThan(90_000);
      Told second = plan(tapped, first.name(), longest);
      assertThat(second).isEqualTo(new Told(TransferResult.FETCHED, name, ""));
      assertThat(answered).hasValueLessThan(1000);
    }
    tapped.shelf().plan = new OwnText("another");
    assertThat(plan(tapped, name, 1000).text()).isEqualTo("another");
  }

  @Test
  void plan_longerThanAnyNodeTells_isAFaultAndNotTaken() {
    owner.shelf().plan = new OwnText("x".repeat(TextExchange.LONGEST_PLAN + 1));

    assertThat(plan(owner, "", 10).outcome().kind()).isEqualTo(TransferResult.Kind.FAULT);
    assertThat(plan(owner, "", 10).text()).isEmpty();
  }

  private Told plan(TestNode of, String known, int longest) {
    return asker
        .transfer()
        .plan(of.address(), known, longest)
        .orTimeout(60, TimeUnit.SECONDS)
        .join();
  }

  @Test
  void held_known_providerLearnsOfIt() {
    asker.transfer().held(owner.address(), Sketches.NONE, whole("a b", 10));

    Eventually.holds("it is told", () -> !owner.shelf().held.isEmpty());
    assertThat(owner.shelf().held).containsExactly("a b by " + asker.address());
  }

  @Test
  void figures_afterFetches_countBothEnds() {
    owner.put("a", 1000);
    fetch(asker, owner.address(), whole("a", 1000), nodes.memory(1000));
    fetch(asker, owner.address(), part("a", 1000, 0, 10), nodes.memory(10));

    assertThat(figures().itemsIn()).isEqualTo(2);
    assertThat(figures().bytesIn()).isEqualTo(1010);
    assertThat(figures().residentBytes()).isEqualTo(ShelfProvider.RESIDENT);
    assertThat(figures().p50()).isBetween(Duration.ofNanos(1), figures().p99());
    Eventually.holds(
        "the owner counted them",
        () -> owner.transfer().figures().stream().anyMatch(each -> each.itemsOut() == 2));
    assertThat(owner.transfer().figures())
        .singleElement()
        .satisfies(
            each -> {
              assertThat(each.peer()).isEqualTo(asker.address());
              assertThat(each.bytesOut()).isEqualTo(1010);
            });
  }

  @Test
  void peers_gone_forgottenAndItsRequestsEnd() {
    AtomicReference<ItemProvider.Answer> never = new AtomicReference<>();
    owner.shelf().instead = never::set;
    asker.transfer().peers(Set.of(owner.address()));
    CompletableFuture<TransferResult> outcome =
        asker.ask(owner.address(), Sketches.NONE, whole("a", 10), nodes.memory(10).memoryAddress());
    Eventually.holds("the provider is asked", () -> never.get() != null);

    asker.transfer().peers(Set.of());

    assertThat(await(outcome).kind()).isEqualTo(TransferResult.Kind.FAULT);
    assertThat(asker.transfer().figures()).isEmpty();
    never.get().lent(owner.shelf().lend(new byte[10], 0, 10));
  }

  @Test
  void close_requestsUnderWay_endWithFault() {
    AtomicReference<ItemProvider.Answer> never = new AtomicReference<>();
    owner.shelf().instead = never::set;
    CompletableFuture<TransferResult> outcome =
        asker.ask(owner.address(), Sketches.NONE, whole("a", 10), nodes.memory(10).memoryAddress());
    Eventually.holds("the provider is asked", () -> never.get() != null);

    asker.transfer().close();

    assertThat(await(outcome).kind()).isEqualTo(TransferResult.Kind.FAULT);
    assertThat(await(asker.ask(owner.address(), Sketches.NONE, whole("a", 1), 0)).kind())
        .isEqualTo(TransferResult.Kind.FAULT);
    owner.transfer().close();
    never.get().lent(owner.shelf().lend(new byte[10], 0, 10));
  }
}
