package io.holdfast.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.LongStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import org.junit.jupiter.api.Test;

/**
 * The contract of every policy, against a model of plain collections on random calls. jqwik prints
 * the seed of a failing run.
 */
final class CachePolicyTest {

  private static final long CAPACITY = 1_000;

  /** One call on a policy. */
  private record Call(Kind kind, long id, long amount) {
    enum Kind {
      OFFER,
      SWAP,
      KEEP,
      UNKEEP,
      ACCESS,
      REMOVE,
      RESIZE,
      DATASET
    }

    /** An item has one weight, whenever it is offered. */
    long weight() {
      return 1L + Math.floorMod(id * 31, 50);
    }

    /** And one hash. */
    long hash() {
      return ItemHash.of(id);
    }

    /** The item that is to make way, resident or not. */
    long victim() {
      return amount % 61;
    }
  }

  @Provide
  Arbitrary<List<Call>> calls() {
    Arbitrary<Call.Kind> kinds =
        Arbitraries.frequency(
            Tuple.of(24, Call.Kind.OFFER),
            Tuple.of(8, Call.Kind.SWAP),
            Tuple.of(2, Call.Kind.KEEP),
            Tuple.of(1, Call.Kind.UNKEEP),
            Tuple.of(8, Call.Kind.ACCESS),
            Tuple.of(6, Call.Kind.REMOVE),
            Tuple.of(2, Call.Kind.RESIZE),
            Tuple.of(1, Call.Kind.DATASET));
    return Combinators.combine(
            kinds, Arbitraries.longs().between(-60, 60), Arbitraries.longs().between(0, 1_500))
        .as(Call::new)
        .list()
        .ofMaxSize(300);
  }

  /** All that have a bound. */
  @Provide
  Arbitrary<String> names() {
    return Arbitraries.of(without("unbounded"));
  }

  /** All but Caffeine's, which breaks ties by a random of its own. */
  @Provide
  Arbitrary<String> deterministic() {
    return Arbitraries.of(without("tinylfu"));
  }

  private static List<String> without(String name) {
    return Policies.names().stream().filter(each -> !each.equals(name)).toList();
  }

  /** The content that a policy should have, in plain collections. */
  private static final class Model {
    private final Map<Long, Long> residents = new HashMap<>();
    private final Set<Long> kept = new HashSet<>();
    private long capacity = CAPACITY;

    void add(long id, long weight) {
      residents.put(id, weight);
    }

    boolean remove(long id) {
      kept.remove(id);
      return residents.remove(id) != null;
    }

    long weight() {
      return sum(residents.keySet());
    }

    long keptWeight() {
      return sum(kept);
    }

    private long sum(Set<Long> ids) {
      return ids.stream().mapToLong(residents::get).sum();
    }

    /** Removes the items that were evicted for a newcomer: never a kept one. */
    void giveUp(long[] ids) {
      for (long id : ids) {
        assertThat(kept).as("kept items").doesNotContain(id);
        assertThat(residents.remove(id)).as("what is given up was resident").isNotNull();
      }
    }
  }

  @Property
  void policy_anyCalls_agreesWithModel(
      @ForAll("names") String name, @ForAll("calls") List<Call> calls, @ForAll long seed) {
    CachePolicy policy = Policies.create(name, CAPACITY, seed);
    Model model = new Model();
    for (Call call : calls) {
      switch (call.kind) {
        case OFFER -> offer(policy, model, call);
        case SWAP -> swap(policy, model, call);
        case KEEP -> keep(policy, model, call);
        case UNKEEP ->
            assertThat(policy.unkeep(call.id, call.hash())).isEqualTo(model.kept.remove(call.id));
        case ACCESS -> policy.access(call.id);
        case REMOVE -> assertThat(policy.remove(call.id)).isEqualTo(model.remove(call.id));
        case RESIZE -> resize(policy, model, call.amount);
        case DATASET -> policy.datasetSize(call.amount);
      }
      policy.check();
      assertThat(policy.capacity()).isEqualTo(model.capacity);
      assertThat(policy.residentItems()).isEqualTo(model.residents.size());
      assertThat(policy.keptItems()).isEqualTo(model.kept.size());
      assertThat(policy.keptBytes()).isEqualTo(model.keptWeight());
      assertThat(policy.residentBytes())
          .isEqualTo(model.weight())
          .isLessThanOrEqualTo(model.capacity);
    }
    for (long id = -60; id <= 60; id++) {
      assertThat(policy.contains(id)).isEqualTo(model.residents.containsKey(id));
    }
  }

  @Property
  void policy_sameCallsAndSeed_sameAnswers(
      @ForAll("deterministic") String name, @ForAll("calls") List<Call> calls, @ForAll long seed) {
    CachePolicy one = Policies.create(name, CAPACITY, seed);
    CachePolicy two = Policies.create(name, CAPACITY, seed);
    for (Call call : calls) {
      assertThat(answer(one, call)).isEqualTo(answer(two, call));
    }
  }

  private static void offer(CachePolicy policy, Model model, Call call) {
    policy.access(call.id);
    boolean hint = policy.wouldAdmit(call.id, call.hash(), call.weight());
    boolean wasResident = model.residents.containsKey(call.id);
    Outcome outcome = policy.offer(call.id, call.hash(), call.weight());
    model.giveUp(outcome.evicted());
    assertThat(outcome.admitted() && !wasResident && !hint).as("admitted without hope").isFalse();
    if (outcome.admitted()) {
      model.add(call.id, call.weight());
    }
    switch (policy.name()) {
      case "minio" -> {
        assertThat(outcome.evicted()).isEmpty();
        assertThat(outcome.admitted()).isEqualTo(wasResident || hint);
        assertThat(outcome.admitted() || model.weight() + call.weight() > model.capacity)
            .as("refused only for want of room")
            .isTrue();
      }
      case "none" -> assertThat(outcome.admitted()).isEqualTo(wasResident);
      case "lru", "fifo", "random" ->
          assertThat(outcome.admitted())
              .isEqualTo(wasResident || model.keptWeight() + call.weight() <= model.capacity);
      default -> {}
    }
  }

  private static void swap(CachePolicy policy, Model model, Call call) {
    boolean mayGo =
        model.residents.containsKey(call.victim()) && !model.kept.contains(call.victim());
    boolean fits =
        mayGo
            && model.weight() - model.residents.get(call.victim()) + call.weight()
                <= model.capacity;
    boolean swaps = mayGo && fits && !model.residents.containsKey(call.id);
    assertThat(policy.swap(call.id, call.hash(), call.weight(), call.victim())).isEqualTo(swaps);
    if (swaps) {
      model.giveUp(new long[] {call.victim()});
      model.add(call.id, call.weight());
    }
  }

  private static void keep(CachePolicy policy, Model model, Call call) {
    boolean wasKept = model.kept.contains(call.id);
    boolean fits = model.keptWeight() + call.weight() <= model.capacity;
    Outcome outcome = policy.keep(call.id, call.weight());
    model.giveUp(outcome.evicted());
    assertThat(outcome.admitted()).isEqualTo(wasKept || fits);
    if (outcome.admitted()) {
      model.add(call.id, call.weight());
      model.kept.add(call.id);
    }
  }

  private static void resize(CachePolicy policy, Model model, long capacity) {
    model.capacity = capacity;
    for (long givenUp : policy.resize(capacity)) {
      assertThat(model.weight()).as("nothing is given up in vain").isGreaterThan(capacity);
      if (model.kept.contains(givenUp)) {
        assertThat(model.kept).as("kept items go last").hasSameSizeAs(model.residents.keySet());
      }
      assertThat(model.remove(givenUp)).as("given up was resident").isTrue();
    }
  }

  private static List<Long> answer(CachePolicy policy, Call call) {
    return switch (call.kind) {
      case OFFER -> {
        policy.access(call.id);
        yield answer(policy.offer(call.id, call.hash(), call.weight()));
      }
      case SWAP ->
          List.of(policy.swap(call.id, call.hash(), call.weight(), call.victim()) ? 1L : 0L);
      case KEEP -> answer(policy.keep(call.id, call.weight()));
      case UNKEEP -> List.of(policy.unkeep(call.id, call.hash()) ? 1L : 0L);
      case ACCESS -> {
        policy.access(call.id);
        yield List.of();
      }
      case REMOVE -> List.of(policy.remove(call.id) ? 1L : 0L);
      case RESIZE -> LongStream.of(policy.resize(call.amount)).boxed().toList();
      case DATASET -> {
        policy.datasetSize(call.amount);
        yield List.of();
      }
    };
  }

  private static List<Long> answer(Outcome outcome) {
    return LongStream.concat(
            LongStream.of(outcome.admitted() ? 1 : 0), LongStream.of(outcome.evicted()))
        .boxed()
        .toList();
  }

  @Test
  void create_everyName_saysItsName() {
    assertThat(Policies.names()).first().isEqualTo("minio");
    assertThat(Policies.names())
        .allSatisfy(name -> assertThat(Policies.create(name, 1, 1).name()).isEqualTo(name));
  }

  @Test
  void create_unknownName_saysWhichThereAre() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Policies.create("mru", 1, 1))
        .withMessage(
            "unknown policy 'mru': one of minio, minio-hash, none, lru, fifo, random, tinylfu,"
                + " linux, unbounded");
  }

  @Test
  void capacity_negative_isRefused() {
    assertThatIllegalArgumentException().isThrownBy(() -> Policies.create("minio", -1, 1));
    CachePolicy policy = Policies.create("minio", 5, 1);
    assertThatIllegalArgumentException().isThrownBy(() -> policy.resize(-1));
    assertThat(policy.capacity()).isEqualTo(5);
  }

  @Test
  void mountable_namesThoseThatNeedNotSeeHits() {
    assertThat(Policies.mountable()).containsExactly("minio", "minio-hash", "none");
    assertThat(Policies.names()).containsAll(Policies.mountable());
  }

  @Test
  void datasetSize_negative_isRefused() {
    CachePolicy policy = Policies.create("minio", 5, 1);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> policy.datasetSize(-1))
        .withMessage("size of a dataset must not be negative: -1");
  }

  @Test
  void offer_badWeight_isRefusedAndChangesNothing() {
    CachePolicy policy = Policies.create("minio", 5, 1);
    assertThatIllegalArgumentException().isThrownBy(() -> policy.offer(1, 1, 0));
    assertThatIllegalArgumentException().isThrownBy(() -> policy.wouldAdmit(1, 1, -4096));
    assertThat(policy.offer(1, 1, 5).admitted()).isTrue();
    assertThatIllegalArgumentException().isThrownBy(() -> policy.offer(1, 1, 4));
    assertThat(policy.residentBytes()).isEqualTo(5);
    policy.check();
  }

  @Test
  void offer_weightNearLongMax_doesNotOverflow() {
    CachePolicy policy = Policies.create("minio", Long.MAX_VALUE, 1);
    assertThat(policy.offer(1, 1, Long.MAX_VALUE - 1).admitted()).isTrue();
    assertThat(policy.offer(2, 2, Long.MAX_VALUE).admitted()).isFalse();
    assertThat(policy.offer(3, 3, 1).admitted()).isTrue();
    policy.check();
  }
}
