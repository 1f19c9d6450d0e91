package io.holdfast.fs.allocate;

import static io.holdfast.fs.allocate.Plans.GB;
import static io.holdfast.fs.allocate.Plans.MB;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.holdfast.fs.allocate.AllocationController.Decision;
import io.holdfast.fs.allocate.AllocationController.Reading;
import io.holdfast.fs.allocate.NodeAllocation.Change;
import io.holdfast.fs.allocate.SimulatedNode.Made;
import io.holdfast.fs.allocate.SimulatedNode.SimulatedMount;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** A node is watched over minutes, and each rule by itself. */
class AllocationControllerTest {
  private static final double MINUTE = 60;
  private static final double NOISE = 0.05;
  private static final long BUDGET = 16 * GB;

  private static AllocationController controller() {
    return new AllocationController(BUDGET, Objective.THROUGHPUT);
  }

  private static SimulatedMount mount(String name, double demand, double capacity) {
    return new SimulatedMount(name, BUDGET, 50 * MB, demand, capacity);
  }

  /** The worked case: equal shares become just enough for both. */
  @Test
  void twoJobs_getWhatTheyNeed_inSteps() {
    SimulatedNode node = new SimulatedNode(1, 0);
    SimulatedMount fast = node.add(mount("fast", 200 * MB, 8 * GB));
    SimulatedMount slow = node.add(mount("slow", 60 * MB, 8 * GB));

    List<Made> made = node.run(controller(), BUDGET, 20 * MINUTE);

    assertThat(made).isNotEmpty();
    assertThat(made.get(0).seconds()).isLessThanOrEqualTo(MINUTE);
    assertThat(made)
        .allMatch(each -> Math.abs(each.change().more()) <= BUDGET / 16)
        .noneMatch(Made::isBack);
    assertThat(slow.speed() / 1e6).isCloseTo(60, within(0.1));
    assertThat(fast.speed() / 1e6).isCloseTo(200, within(2.0));
    assertThat(mostTurns(made)).isZero();
  }

  @Test
  void steps_waitForTheEffectOfTheOneBefore() {
    SimulatedNode node = new SimulatedNode(1, 0);
    node.add(mount("fast", 200 * MB, 8 * GB));
    node.add(mount("slow", 60 * MB, 8 * GB));

    List<Double> times =
        node.run(controller(), BUDGET, 10 * MINUTE).stream().map(Made::seconds).distinct().toList();

    assertThat(times).hasSizeGreaterThan(3);
    for (int i = 1; i < times.size(); i++) {
      assertThat(times.get(i) - times.get(i - 1))
          .isBetween(AllocationController.LEAST_PAUSE, AllocationController.LONGEST_PAUSE + 10);
    }
  }

  @Test
  void jobThatEnds_givesItsMemoryWithinAMinute_andTheNextGetsItBack() {
    SimulatedNode node = new SimulatedNode(2, NOISE);
    SimulatedMount one = node.add(mount("one", 90 * MB, 8 * GB));
    SimulatedMount two = node.add(mount("two", 400 * MB, 8 * GB));
    AllocationController controller = controller();
    node.run(controller, BUDGET, 10 * MINUTE);

    one.end();
    double ended = node.seconds();
    List<Made> made = node.run(controller, BUDGET, 10 * MINUTE);
    assertThat(made.get(0).seconds() - ended).isLessThanOrEqualTo(MINUTE);
    assertThat(mostTurns(made)).isLessThanOrEqualTo(1);
    assertThat(two.speed() / 1e6).isGreaterThan(300);

    one.begin("next", 90 * MB);
    double begun = node.seconds();
    made = node.run(controller, BUDGET, 10 * MINUTE);
    assertThat(made.get(0).seconds() - begun).isLessThanOrEqualTo(MINUTE);
    assertThat(mostTurns(made)).isLessThanOrEqualTo(1);
    assertThat(one.speed() / 1e6).isCloseTo(90, within(5.0));
  }

  @Test
  void originThatSlowsToAThird_isMadeUpForWithinAMinute() {
    SimulatedNode node = new SimulatedNode(3, NOISE);
    SimulatedMount one = node.add(mount("one", 60 * MB, 8 * GB));
    SimulatedMount two = node.add(mount("two", 120 * MB, 8 * GB));
    AllocationController controller = controller();
    node.run(controller, BUDGET, 10 * MINUTE);
    assertThat(one.speed() + two.speed()).isCloseTo(180e6, within(4e6));

    two.origin = 50 * MB / 3.0;
    double slowed = node.seconds();
    List<Made> made = node.run(controller, BUDGET, 10 * MINUTE);

    assertThat(made.get(0).seconds() - slowed).isLessThanOrEqualTo(MINUTE);
    assertThat(mostTurns(made)).isLessThanOrEqualTo(1);
    double slow = two.speedWith(BUDGET - one.capacity);
    assertThat(two.speed()).isCloseTo(slow, within(0.05 * slow));
    assertThat(one.speed()).isGreaterThan(0.95 * 60e6);
  }

  /** Whatever happens and however noisy figures are. */
  @Test
  void anyEvents_areFollowedWithoutOscillation() {
    int changes = 0;
    for (long seed = 1; seed <= 40; seed++) {
      List<Made> made = afterEvents(seed);
      assertThat(mostTurns(made)).as("seed %d", seed).isLessThanOrEqualTo(1);
      Map<Double, Long> grown = new HashMap<>();
      made.forEach(
          each -> grown.merge(each.seconds(), Math.max(0, each.change().more()), Long::sum));
      assertThat(grown.values()).as("seed %d", seed).allMatch(bytes -> bytes <= BUDGET / 16);
      changes += made.size();
    }
    assertThat(changes).isGreaterThan(200);
  }

  private static List<Made> afterEvents(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    SimulatedNode node = new SimulatedNode(seed, random.nextDouble(0, 0.3));
    int mounts = random.nextInt(2, 6);
    List<SimulatedMount> all = new ArrayList<>();
    for (int i = 0; i < mounts; i++) {
      all.add(
          node.add(
              new SimulatedMount(
                  "mount" + i,
                  Plans.between(random, GB, 40 * GB),
                  Plans.between(random, 20 * MB, 200 * MB),
                  Plans.between(random, 20 * MB, 900 * MB),
                  (double) BUDGET / mounts)));
    }
    AllocationController controller =
        new AllocationController(
            BUDGET, List.of(Objective.values()).get(random.nextInt(Objective.values().length)));
    List<Made> made = new ArrayList<>();
    for (int event = 0; event < 12; event++) {
      SimulatedMount mount = all.get(random.nextInt(mounts));
      switch (random.nextInt(3)) {
        case 0 -> mount.end();
        case 1 -> mount.begin("job-" + event, (double) Plans.between(random, 20 * MB, 900 * MB));
        default -> mount.origin = (double) Plans.between(random, 10 * MB, 200 * MB);
      }
      made.addAll(node.run(controller, BUDGET, random.nextDouble(30, 900)));
    }
    return made;
  }

  /** Returns the most turns of a mount between growing and shrinking in any ten minutes. */
  private static int mostTurns(List<Made> made) {
    Map<String, Integer> directions = new HashMap<>();
    Map<String, List<Double>> turns = new HashMap<>();
    for (Made each : made) {
      int direction = Long.signum(each.change().more());
      Integer before = directions.put(each.change().mount(), direction);
      if (before != null && before != direction) {
        turns.computeIfAbsent(each.change().mount(), name -> new ArrayList<>()).add(each.seconds());
      }
    }
    int most = 0;
    for (List<Double> times : turns.values()) {
      for (double first : times) {
        most =
            Math.max(
                most,
                (int) times.stream().filter(at -> at >= first && at < first + 10 * MINUTE).count());
      }
    }
    return most;
  }

  private static Reading reading(String name, long demand, long capacity, double speed) {
    return reading(name, demand, capacity, speed, Bounds.NONE);
  }

  private static Reading reading(
      String name, long demand, long capacity, double speed, Bounds bounds) {
    PlannedMount mount =
        new PlannedMount(
            name,
            BUDGET,
            Plans.mount(name, BUDGET, 50 * MB, PlanReader.MOST_RATE, demand).rates(),
            new Capacity(capacity, bounds.least(), bounds.most(), 1));
    return new Reading(FoundMount.measured(mount, bounds, 0, "job"), speed, true);
  }

  private static Decision second(AllocationController controller, List<Reading> readings) {
    assertThat(controller.decide(0, readings)).isEqualTo(Decision.NONE);
    return controller.decide(5, readings);
  }

  private static List<Reading> equal() {
    return List.of(
        reading("fast", 200 * MB, 8 * GB, 100e6), reading("slow", 60 * MB, 8 * GB, 60e6));
  }

  @Test
  void step_shrinksFirst_andFitsInTheBudget() {
    Decision decision = second(controller(), equal());

    assertThat(decision.line()).startsWith("step: slow from 7.45 GiB to 6.52 GiB, fast from");
    assertThat(decision.changes()).extracting(Change::mount).containsExactly("slow", "fast");
    assertThat(decision.changes().get(0).more()).isEqualTo(-decision.changes().get(1).more());
  }

  /** The mount that gave memory up is slower than the model says: the model is wrong about it. */
  @Test
  void stepThatMakesItWorse_isTakenBack_andNothingMovesForAWhile() {
    AllocationController controller = controller();
    Decision step = second(controller, equal());
    controller.made(5, step, step.changes(), equal());
    List<Reading> worse =
        List.of(
            reading("fast", 200 * MB, step.changes().get(1).to(), 110e6),
            reading("slow", 60 * MB, step.changes().get(0).to(), 40e6));

    assertThat(controller.decide(10, worse)).isEqualTo(Decision.NONE);
    controller.decide(15, worse);
    Decision back = controller.decide(20, worse);
    assertThat(back.isBack()).as(back.line()).isTrue();
    assertThat(back.changes())
        .containsExactly(
            new Change("fast", step.changes().get(1).to(), 8 * GB),
            new Change("slow", step.changes().get(0).to(), 8 * GB));
    controller.made(20, back, back.changes(), worse);

    for (double seconds = 25; seconds < 600; seconds += 5) {
      assertThat(controller.decide(seconds, equal())).isEqualTo(Decision.NONE);
    }
  }

  /** Another command had the turn, so that the step could not be taken back yet. */
  @Test
  void stepThatCouldNotBeTakenBack_isTakenBackAtTheNextLook() {
    AllocationController controller = controller();
    Decision step = second(controller, equal());
    controller.made(5, step, step.changes(), equal());
    List<Reading> worse =
        List.of(
            reading("fast", 200 * MB, step.changes().get(1).to(), 110e6),
            reading("slow", 60 * MB, step.changes().get(0).to(), 40e6));
    controller.decide(10, worse);
    controller.decide(15, worse);
    Decision back = controller.decide(20, worse);
    assertThat(back.isBack()).as(back.line()).isTrue();

    assertThat(controller.decide(140, worse)).isEqualTo(back);
    controller.made(140, back, List.of(), worse);

    for (double seconds = 145; seconds < 740; seconds += 5) {
      assertThat(controller.decide(seconds, worse)).isEqualTo(Decision.NONE);
    }
  }

  /** An admin has given the mount something else meanwhile. */
  @Test
  void stepThatSomebodyHasUndone_isNotTakenBack() {
    AllocationController controller = controller();
    Decision step = second(controller, equal());
    controller.made(5, step, step.changes(), equal());
    List<Reading> others =
        List.of(
            reading("fast", 200 * MB, 3 * GB, 50e6),
            reading("slow", 60 * MB, step.changes().get(0).to(), 40e6));

    for (double seconds = 10; seconds < 60; seconds += 5) {
      assertThat(controller.decide(seconds, others).isBack()).isFalse();
    }
  }

  /** An origin at a third of its rate is another situation: the step before it is not judged. */
  @Test
  void anotherSituation_isNotTakenForTheEffectOfAStep() {
    AllocationController controller = controller();
    Decision step = second(controller, equal());
    controller.made(5, step, step.changes(), equal());
    Reading slower =
        new Reading(
            FoundMount.measured(
                new PlannedMount(
                    "slow",
                    BUDGET,
                    Plans.mount("slow", BUDGET, 17 * MB, PlanReader.MOST_RATE, 60 * MB).rates(),
                    new Capacity(step.changes().get(0).to(), 0, Long.MAX_VALUE, 1)),
                Bounds.NONE,
                0,
                "job"),
            20e6,
            true);

    Decision next =
        controller.decide(
            10, List.of(reading("fast", 200 * MB, step.changes().get(1).to(), 110e6), slower));
    assertThat(next.isBack()).isFalse();
  }

  private static Reading sharing(String name, long demand, long capacity, long got, double speed) {
    double share = 1 - (double) capacity / BUDGET;
    PlannedMount alone =
        new PlannedMount(
            name,
            BUDGET,
            Plans.mount(name, BUDGET, got, PlanReader.MOST_RATE, demand).rates(),
            new Capacity(capacity, 0, Long.MAX_VALUE, 1));
    return new Reading(
        FoundMount.measured(Plans.reading(alone, "nas"), Bounds.NONE, share * speed, "job"),
        speed,
        true);
  }

  /** A step changes the rate that a mount gets of a shared origin, and not the origin. */
  @Test
  void stepOfMountsThatShareAnOrigin_isJudged() {
    AllocationController controller = controller();
    List<Reading> before =
        List.of(
            sharing("fast", 200 * MB, 8 * GB, 70 * MB, 140e6),
            sharing("slow", 60 * MB, 8 * GB, 35 * MB, 60e6));
    Decision step = second(controller, before);
    assertThat(step.changes()).extracting(Change::mount).containsExactly("slow", "fast");
    controller.made(5, step, step.changes(), before);
    List<Reading> worse =
        List.of(
            sharing("fast", 200 * MB, step.changes().get(1).to(), 75 * MB, 145e6),
            sharing("slow", 60 * MB, step.changes().get(0).to(), 18 * MB, 40e6));

    assertThat(controller.decide(10, worse)).isEqualTo(Decision.NONE);
    controller.decide(15, worse);
    Decision back = controller.decide(20, worse);
    assertThat(back.isBack()).as(back.line()).isTrue();
  }

  @Test
  void mountsWithMoreThanTheBudget_shrinkAtOnce() {
    Decision decision =
        controller()
            .decide(
                0,
                List.of(
                    reading("one", 200 * MB, 12 * GB, 200e6),
                    reading("two", 200 * MB, 12 * GB, 200e6)));

    assertThat(decision.changes()).isNotEmpty().allMatch(change -> change.more() < 0);
    long freed = decision.changes().stream().mapToLong(Change::more).sum();
    assertThat(24 * GB + freed).isLessThanOrEqualTo(BUDGET);
  }

  /** A short-lived mount with a page of its own made the others give up the whole proposal. */
  @Test
  void mountsWithAPageMoreThanTheBudget_giveUpThat() {
    List<Reading> readings =
        List.of(
            reading("fast", 200 * MB, 8 * GB, 100e6),
            reading("slow", 60 * MB, 8 * GB + NodeAllocation.PAGE, 60e6));

    Decision decision = controller().decide(0, readings);

    assertThat(decision.line()).endsWith(": the mounts have more than the budget");
    assertThat(decision.changes())
        .containsExactly(new Change("slow", 8 * GB + NodeAllocation.PAGE, 8 * GB));
  }

  @Test
  void smallGain_isNotWorthAChange() {
    Decision decision =
        controller()
            .decide(
                0,
                List.of(
                    reading("one", 102 * MB, 8 * GB, 100e6),
                    reading("two", 60 * MB, 8 * GB, 60e6)));

    assertThat(decision.changes()).isEmpty();
    assertThat(decision.line()).isEqualTo("settled: no other division would be 5 % faster");
  }

  /** An admin has lowered capacity-max: that holds, though nobody gains, and it slows the job. */
  @Test
  void mountAboveItsCeiling_isBroughtToIt_andStaysThere() {
    AllocationController controller = controller();
    Bounds bounds = new Bounds(0, 4 * GB, 1, null);
    List<Reading> readings = List.of(reading("one", 200 * MB, 12 * GB, 150e6, bounds));

    Decision step = second(controller, readings);
    assertThat(step.changes())
        .containsExactly(
            new Change("one", 12 * GB, 4 * GB / NodeAllocation.PAGE * NodeAllocation.PAGE));
    controller.made(5, step, step.changes(), readings);

    List<Reading> slower =
        List.of(reading("one", 200 * MB, step.changes().get(0).to(), 20e6, bounds));
    for (double seconds = 10; seconds < 60; seconds += 5) {
      assertThat(controller.decide(seconds, slower).changes()).isEmpty();
    }
  }

  /** A floor takes memory that nobody has, and then memory of others. */
  @Test
  void mountBelowItsFloor_getsIt_fromOthersToo() {
    Bounds bounds = new Bounds(6 * GB, Long.MAX_VALUE, 1, null);
    List<Reading> readings =
        List.of(
            reading("low", 40 * MB, 2 * GB, 40e6, bounds),
            reading("other", 60 * MB, 12 * GB, 60e6));

    List<Change> changes = second(controller(), readings).changes();

    assertThat(changes).extracting(Change::mount).containsExactly("other", "low");
    assertThat(changes.get(1).to()).isBetween(6 * GB, 6 * GB + NodeAllocation.PAGE);
    assertThat(changes.get(0).more()).isBetween(-2 * GB - 2 * NodeAllocation.PAGE, -2 * GB);
  }

  @Test
  void changesThatWereRefused_areNotTriedAgainAtOnce() {
    AllocationController controller = controller();
    Decision step = second(controller, equal());
    controller.made(5, step, List.of(), equal());

    for (double seconds = 10; seconds < 600; seconds += 5) {
      assertThat(controller.decide(seconds, equal()).changes()).isEmpty();
    }
    controller.decide(610, equal());
    assertThat(controller.decide(615, equal()).changes()).isNotEmpty();
  }
}
