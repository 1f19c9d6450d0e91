package io.holdfast.fs.allocate;

import static io.holdfast.fs.allocate.Plans.GB;
import static io.holdfast.fs.allocate.Plans.MB;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.allocate.NodeAllocation.Change;
import io.holdfast.fs.allocate.NodeAllocation.Proposal;
import io.holdfast.fs.figures.Bottleneck;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** The mounts of a node, those too that nobody can judge. */
class NodeAllocationTest {
  private static FoundMount measured(String name, long demand, long capacity, Bounds bounds) {
    Capacity within =
        new Capacity(capacity, Math.min(bounds.least(), 100 * GB), bounds.most(), bounds.weight());
    OriginShare share = bounds.origin() == null ? null : new OriginShare(bounds.origin(), 8);
    Rates rates = new Rates(share, 50 * MB, PlanReader.MOST_RATE, demand, Bottleneck.ACCELERATOR);
    return FoundMount.measured(
        new PlannedMount(name, 100 * GB, rates, within), bounds, 25e6, "job");
  }

  private static FoundMount measured(String name, long demand, long capacity) {
    return measured(name, demand, capacity, Bounds.NONE);
  }

  private static NodeAllocation of(long budget, FoundMount... found) {
    return NodeAllocation.of(budget, List.of(found), Objective.THROUGHPUT);
  }

  private static long bytes(NodeAllocation node, String name) {
    return node.proposals().stream()
        .filter(each -> each.mount().name().equals(name))
        .mapToLong(Proposal::bytes)
        .findFirst()
        .orElseThrow();
  }

  @Test
  void mountThatIsLeft_takesItsCapacityOffTheBudget() {
    NodeAllocation node =
        of(
            100 * GB,
            FoundMount.left("hung", 60 * GB, "its daemon does not answer"),
            measured("fast", 500 * MB, 10 * GB));

    assertThat(bytes(node, "fast")).isBetween(40 * GB - 3 * NodeAllocation.PAGE, 40 * GB);
    assertThat(node.changes()).extracting(Change::mount).containsExactly("fast");
  }

  /** A daemon would not start again with less than its --memory-min, however small its dataset. */
  @Test
  void floorBeyondTheDataset_isKept() {
    Rates rates = Plans.mount("small", 10 * GB, 50 * MB, 5 * GB, 60 * MB).rates();
    FoundMount small =
        FoundMount.measured(
            new PlannedMount(
                "small", 10 * GB, rates, new Capacity(50 * GB, 10 * GB, Long.MAX_VALUE, 1)),
            new Bounds(30 * GB + 1, Long.MAX_VALUE, 1, null),
            25e6,
            "job");

    NodeAllocation node = of(60 * GB, small, measured("fast", 500 * MB, 10 * GB));

    assertThat(bytes(node, "small")).isBetween(30 * GB + 1, 30 * GB + 2 * NodeAllocation.PAGE);
    assertThat(bytes(node, "fast")).isBetween(30 * GB - 3 * NodeAllocation.PAGE, 30 * GB);
  }

  @Test
  void memoryThatNobodyNeeds_staysWhereItIs() {
    NodeAllocation node =
        of(
            100 * GB,
            measured("slow", 60 * MB, 50 * GB),
            FoundMount.idle("idle", 50 * GB, Bounds.NONE, "its jobs have ended"));

    assertThat(node.changes()).isEmpty();
    assertThat(bytes(node, "slow")).isEqualTo(50 * GB);
    assertThat(node.proposals().get(0).reason()).endsWith("; keeps what nobody else needs");
  }

  @Test
  void mountThatGivesUpMemory_byAGuessOfItsOrigin_saysSo() {
    String guess = "; its origin's rate is a guess: allocate again after an epoch";
    FoundMount slow = measured("slow", 60 * MB, 90 * GB);
    FoundMount fast = measured("fast", 500 * MB, 10 * GB).withOriginGuessed(true);

    NodeAllocation known = of(100 * GB, slow, fast);
    assertThat(known.proposals()).noneMatch(proposal -> proposal.reason().contains(guess));
    NodeAllocation guessed = of(100 * GB, slow.withOriginGuessed(true), fast);
    assertThat(guessed.proposals().get(0).reason()).endsWith(guess);
    assertThat(guessed.proposals().get(1).reason()).as("it grows").doesNotContain(guess);
  }

  @Test
  void idleMount_keepsItsFloor() {
    Bounds floor = new Bounds(20 * GB, Long.MAX_VALUE, 1, null);
    NodeAllocation node =
        of(
            100 * GB,
            measured("fast", 900 * MB, 50 * GB),
            FoundMount.idle("idle", 50 * GB, floor, "its jobs have ended"));

    assertThat(bytes(node, "idle")).isBetween(20 * GB - 4096, 20 * GB + 2 * 4096);
    assertThat(bytes(node, "fast")).isGreaterThan(79 * GB);
  }

  @Test
  void ceilingBelowWhatAMountHas_isSet() {
    Bounds ceiling = new Bounds(0, 30 * GB, 1, null);
    NodeAllocation node = of(100 * GB, measured("fast", 900 * MB, 50 * GB, ceiling));

    assertThat(bytes(node, "fast")).isBetween(30 * GB - 4096, 30 * GB);
    assertThat(node.proposals().get(0).reason()).isEqualTo("at its capacity-max");
  }

  @Test
  void nodeWithoutAJobThatIsKnown_changesNothing() {
    NodeAllocation node = of(GB, FoundMount.left("fresh", 60 * GB, "no job has read from it yet"));

    assertThat(node.changes()).isEmpty();
    assertThat(node.proposals()).isEmpty();
    assertThat(NodeAllocationText.of(node))
        .isEqualTo(
            "fresh is left as it is, with 55.9 GiB: no job has read from it yet\n"
                + "The budget is 954 MiB, of which the mounts have 55.9 GiB. No mount has a job"
                + " whose rates are known: start one.\n");
  }

  @Test
  void budget_lessThanWhatIsKept_isRefused() {
    Bounds floor = new Bounds(30 * GB, Long.MAX_VALUE, 1, null);
    assertThatThrownBy(() -> of(20 * GB, measured("fast", 900 * MB, 50 * GB, floor)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(
            "the budget of 18.6 GiB is less than the 27.9 GiB that mounts keep");
  }

  @Test
  void floors_thatFillTheBudget_areKept() {
    Bounds half = new Bounds(50 * GB, Long.MAX_VALUE, 1, null);
    NodeAllocation node =
        of(
            100 * GB,
            measured("one", 900 * MB, 50 * GB, half),
            measured("other", 900 * MB, 50 * GB, half));
    assertThat(node.changes()).isEmpty();
    assertThat(bytes(node, "one")).isEqualTo(50 * GB);
    NodeAllocation idle =
        of(
            100 * GB,
            FoundMount.idle("one", 50 * GB, half, "its jobs have ended"),
            FoundMount.idle("other", 50 * GB, half, "its jobs have ended"));
    assertThat(idle.changes()).isEmpty();
  }

  /** A growth counts on all that the others give up, also on what is too little to mention. */
  @Test
  void smallChanges_areMade_whereOthersNeedTheMemory() {
    NodeAllocation node =
        of(
            100 * GB,
            FoundMount.idle("idle", 20 * GB, Bounds.NONE, "its jobs have ended"),
            measured("content", 900 * MB, 30 * GB, new Bounds(0, 30 * GB - 50 * MB, 1, null)),
            measured("greedy", 900 * MB, 50 * GB));

    List<Change> changes = node.changes();

    assertThat(changes).extracting(Change::mount).containsExactly("idle", "content", "greedy");
    assertThat(changes.stream().mapToLong(Change::more).sum()).isLessThanOrEqualTo(0);
  }

  /** Two mounts that wait for one origin get 25 MB/s each: the origin gives 50 to both together. */
  @Test
  void sharedOrigin_hasTheRateThatItsMountsGetTogether() {
    Bounds nas = new Bounds(0, Long.MAX_VALUE, 1, "nas");
    NodeAllocation node =
        of(100 * GB, measured("one", 900 * MB, 0, nas), measured("two", 900 * MB, 0, nas));

    Allocation.Share one = node.allocation().orElseThrow().mounts().get(0);
    assertThat(one.mount().rates().origin()).isEqualTo(50 * MB);
    assertThat(one.speeds().now()).isBetween(25 * MB - 10, 25 * MB + 10);
  }

  private static FoundMount sharing(String name, long got, double load, boolean isGuessed) {
    Bounds nas = new Bounds(0, Long.MAX_VALUE, 1, "nas");
    Rates rates =
        new Rates(
            new OriginShare("nas", 8), got, PlanReader.MOST_RATE, 900 * MB, Bottleneck.ACCELERATOR);
    PlannedMount mount =
        new PlannedMount(name, 100 * GB, rates, new Capacity(0, 0, Long.MAX_VALUE, 1));
    return FoundMount.measured(mount, nas, load, "job").withOriginGuessed(isGuessed);
  }

  /** A job that hardly waits may get twice what it read, if nobody knows better. */
  @Test
  void guessOfASharedOrigin_countsOnlyWhereNobodyTellsItsRate() {
    FoundMount guessed = sharing("one", 120 * MB, 60e6, true);

    assertThat(NodeAllocation.originRates(List.of(guessed, sharing("two", 40 * MB, 40e6, false))))
        .containsExactly(Map.entry("nas", 100 * MB));
    assertThat(NodeAllocation.originRates(List.of(guessed, sharing("two", 30 * MB, 15e6, true))))
        .containsExactly(Map.entry("nas", 120 * MB));
  }

  @Test
  void anyNode_staysWithinItsBudget_andShrinksFirst() {
    for (long seed = 1; seed <= 500; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      List<FoundMount> found = new ArrayList<>();
      for (int i = 0; i < random.nextInt(1, 7); i++) {
        long capacity = random.nextLong(0, 60 * GB);
        found.add(
            switch (random.nextInt(3)) {
              case 0 -> FoundMount.left("m" + i, capacity, "hung");
              case 1 -> FoundMount.idle("m" + i, capacity, Bounds.NONE, "ended");
              default -> measured("m" + i, Plans.between(random, 20 * MB, 2 * GB), capacity);
            });
      }
      long left =
          NodeAllocation.total(
              found.stream().filter(each -> each.is(FoundMount.State.LEFT)).toList());
      long budget = left + random.nextLong(GB, 200 * GB);
      NodeAllocation node =
          NodeAllocation.of(budget, found, List.of(Objective.values()).get(random.nextInt(3)));

      long proposed = node.proposals().stream().mapToLong(Proposal::bytes).sum();
      assertThat(proposed + left).as("seed %d", seed).isLessThanOrEqualTo(budget);
      Ledger ledger = new Ledger(budget, found);
      long before = ledger.total();
      for (Change change : node.changes()) {
        assertThat(ledger.most(change.mount()))
            .as("seed %d", seed)
            .isGreaterThanOrEqualTo(change.to());
        ledger.set(change.mount(), change.to());
        assertThat(ledger.total())
            .as("seed %d", seed)
            .isLessThanOrEqualTo(Math.max(before, budget));
      }
    }
  }

  /** A daemon may tell any capacity. */
  @Test
  void ledger_ofMoreThanALongHolds_letsNobodyGrow() {
    long most = Long.MAX_VALUE;
    Ledger ledger =
        new Ledger(GB, List.of(FoundMount.left("one", most, ""), FoundMount.left("two", most, "")));

    assertThat(ledger.total()).isEqualTo(most);
    ledger.set("one", 0);
    assertThat(ledger.most("one")).isZero();
    ledger.set("two", 1);
    assertThat(ledger.most("one")).isEqualTo(GB - 1);
  }

  @Test
  void ledger_letsAMountGrowOnlyByWhatOthersGaveUp() {
    Ledger ledger =
        new Ledger(10, List.of(FoundMount.left("one", 6, ""), FoundMount.left("two", 4, "")));

    assertThat(ledger.most("one")).isEqualTo(6);
    ledger.set("two", 3);
    assertThat(ledger.most("one")).isEqualTo(7);
    assertThat(ledger.most("two")).isEqualTo(4);
  }
}
