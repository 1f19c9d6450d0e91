package io.holdfast.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
 * What holds for every policy, shown against a model of plain collections on random calls. jqwik
 * prints the seed of a failing run.
 */
final class CachePolicyTest {

  /** One call on a policy. */
  private record Call(Kind kind, long id, long amount) {
    enum Kind {
      OFFER,
      ACCESS,
      REMOVE,
      RESIZE
    }

    /** An item has one weight, whenever it is offered. */
    long weight() {
      return 1L + Math.floorMod(id * 31, 50);
    }
  }

  @Provide
  Arbitrary<List<Call>> calls() {
    Arbitrary<Call.Kind> kinds =
        Arbitraries.frequency(
            Tuple.of(12, Call.Kind.OFFER),
            Tuple.of(4, Call.Kind.ACCESS),
            Tuple.of(3, Call.Kind.REMOVE),
            Tuple.of(1, Call.Kind.RESIZE));
    return Combinators.combine(
            kinds, Arbitraries.longs().between(-60, 60), Arbitraries.longs().between(0, 1_500))
        .as(Call::new)
        .list()
        .ofMaxSize(300);
  }

  @Provide
  Arbitrary<String> names() {
    return Arbitraries.of(Policies.names());
  }

  @Property
  void policy_anyCalls_agreesWithModel(
      @ForAll("names") String name, @ForAll("calls") List<Call> calls, @ForAll long seed) {
    CachePolicy policy = Policies.create(name, 1_000, seed);
    Map<Long, Long> model = new HashMap<>();
    long capacity = 1_000;
    for (Call call : calls) {
      switch (call.kind) {
        case OFFER -> offer(policy, model, call);
        case ACCESS -> policy.access(call.id);
        case REMOVE -> assertThat(policy.remove(call.id)).isEqualTo(model.remove(call.id) != null);
        case RESIZE -> {
          capacity = call.amount;
          resize(policy, model, capacity);
        }
      }
      policy.check();
      assertThat(policy.capacity()).isEqualTo(capacity);
      assertThat(policy.residentItems()).isEqualTo(model.size());
      assertThat(policy.residentBytes()).isEqualTo(weightOf(model)).isLessThanOrEqualTo(capacity);
    }
    for (long id = -60; id <= 60; id++) {
      assertThat(policy.contains(id)).isEqualTo(model.containsKey(id));
    }
  }

  @Property
  void policy_sameCallsAndSeed_sameAnswers(
      @ForAll("names") String name, @ForAll("calls") List<Call> calls, @ForAll long seed) {
    CachePolicy one = Policies.create(name, 1_000, seed);
    CachePolicy two = Policies.create(name, 1_000, seed);
    for (Call call : calls) {
      assertThat(answer(one, call)).isEqualTo(answer(two, call));
    }
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
        .withMessage("unknown policy 'mru': one of minio, none");
  }

  @Test
  void capacity_negative_isRefused() {
    assertThatIllegalArgumentException().isThrownBy(() -> Policies.create("minio", -1, 1));
    CachePolicy policy = Policies.create("minio", 5, 1);
    assertThatIllegalArgumentException().isThrownBy(() -> policy.resize(-1));
    assertThat(policy.capacity()).isEqualTo(5);
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

  private static void offer(CachePolicy policy, Map<Long, Long> model, Call call) {
    boolean hint = policy.wouldAdmit(call.id, call.id, call.weight());
    boolean wasResident = model.containsKey(call.id);
    Outcome outcome = policy.offer(call.id, call.id, call.weight());
    assertThat(outcome.admitted()).isEqualTo(wasResident || hint);
    for (long evicted : outcome.evicted()) {
      assertThat(model.remove(evicted)).as("evicted was resident").isNotNull();
    }
    if (outcome.admitted()) {
      model.put(call.id, call.weight());
    }
    if (policy.name().equals("minio")) {
      assertThat(outcome.evicted()).isEmpty();
      assertThat(outcome.admitted() || weightOf(model) + call.weight() > policy.capacity())
          .as("refused only for want of room")
          .isTrue();
    }
    if (policy.name().equals("none")) {
      assertThat(outcome.admitted()).isFalse();
    }
  }

  private static void resize(CachePolicy policy, Map<Long, Long> model, long capacity) {
    for (long givenUp : policy.resize(capacity)) {
      assertThat(weightOf(model)).as("nothing is given up in vain").isGreaterThan(capacity);
      assertThat(model.remove(givenUp)).as("given up was resident").isNotNull();
    }
  }

  private static List<Long> answer(CachePolicy policy, Call call) {
    return switch (call.kind) {
      case OFFER -> {
        Outcome outcome = policy.offer(call.id, call.id, call.weight());
        yield LongStream.concat(
                LongStream.of(outcome.admitted() ? 1 : 0), LongStream.of(outcome.evicted()))
            .boxed()
            .toList();
      }
      case ACCESS -> {
        policy.access(call.id);
        yield List.of();
      }
      case REMOVE -> List.of(policy.remove(call.id) ? 1L : 0L);
      case RESIZE -> LongStream.of(policy.resize(call.amount)).boxed().toList();
    };
  }

  private static long weightOf(Map<Long, Long> model) {
    return model.values().stream().mapToLong(Long::longValue).sum();
  }
}
