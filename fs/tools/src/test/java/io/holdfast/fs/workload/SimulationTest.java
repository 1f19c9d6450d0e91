package io.holdfast.fs.workload;

import static io.holdfast.fs.workload.Workloads.INSTANT;
import static io.holdfast.fs.workload.Workloads.MB;
import static io.holdfast.fs.workload.Workloads.TB;
import static io.holdfast.fs.workload.Workloads.ended;
import static io.holdfast.fs.workload.Workloads.job;
import static io.holdfast.fs.workload.Workloads.mount;
import static io.holdfast.fs.workload.Workloads.on;
import static io.holdfast.fs.workload.Workloads.onANode;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Workloads whose times were computed by hand. */
class SimulationTest {

  /** Two datasets of 1 TB, memory for one; origins of 50 MB/s, demands of 200 and 60. */
  private static Workload worked() {
    return onANode(
        TB,
        job(mount("fast", TB, null, 50 * MB, 1000 * MB, 200 * MB), 0, 3),
        job(mount("slow", TB, null, 50 * MB, 1000 * MB, 60 * MB), 0, 2));
  }

  static List<String> policies() {
    return MemoryPolicies.WORDS;
  }

  /**
   * The first pass takes 20,000 s at 50 MB/s. With half of it in memory a pass of the fast job
   * takes 10,500 s, at its knee 5000 s; one of the slow job 16,667 s with any memory from 0.175 on,
   * and 20,000 without.
   */
  @ParameterizedTest
  @CsvSource({
    "proportional, 41000, 36666.667",
    "greedy, 30000, 36666.667",
    "tune, 30000, 36666.667",
    "silod, 30000, 40000",
    "holdfast, 30000, 36666.667",
    "optimum, 30000, 36666.667"
  })
  void workedCase_endsAsComputed(String policy, double fast, double slow) {
    Outcome outcome = Simulation.run(worked(), policy);

    assertThat(ended(outcome, "fast").end()).isCloseTo(fast, within(1.0));
    assertThat(ended(outcome, "slow").end()).isCloseTo(slow, within(1.0));
    assertThat(outcome.makespan()).isCloseTo(Math.max(fast, slow), within(1.0));
    assertThat(outcome.meanCompletion()).isCloseTo((fast + slow) / 2, within(1.0));
    assertThat(outcome.completion95()).isCloseTo(Math.max(fast, slow), within(1.0));
    assertThat(outcome.throughput()).isCloseTo(5 * TB / Math.max(fast, slow), within(5000.0));
  }

  /**
   * One origin of 100 for two: 50 each at first, 20 s. With half in memory each reads at 100, and
   * waits for half of it. With all memory for one, that one takes 1 s and the other 10.
   */
  @ParameterizedTest
  @CsvSource({"proportional, 30, 30", "silod, 21, 30", "tune, 30, 30"})
  void sharedOrigin_isDivided(String policy, double one, double two) {
    Workload workload =
        onANode(
            1000,
            job(mount("one", 1000, "nas", 100, INSTANT, 1000), 0, 2),
            job(mount("two", 1000, "nas", 100, INSTANT, 1000), 0, 2));

    Outcome outcome = Simulation.run(workload, policy);

    assertThat(ended(outcome, "one").end()).isCloseTo(one, within(0.001));
    assertThat(ended(outcome, "two").end()).isCloseTo(two, within(0.001));
  }

  /** Also jobs on other nodes read the origin. */
  @ParameterizedTest
  @MethodSource("policies")
  void sharedOrigin_isThatOfAllNodes(String policy) {
    Workload workload =
        on(
            2,
            1,
            1,
            job(mount("one", 1000, "nas", 100, INSTANT, 1000), 0, 1),
            job(mount("two", 1000, "nas", 100, INSTANT, 1000), 0, 1));

    Outcome outcome = Simulation.run(workload, policy);

    assertThat(outcome.makespan()).isCloseTo(20, within(0.001));
    if (policy.equals("proportional")) {
      assertThat(ended(outcome, "two").node()).isEqualTo(1);
      assertThat(ended(outcome, "one").end()).isCloseTo(20, within(0.001));
    }
  }

  @ParameterizedTest
  @MethodSource("policies")
  void job_withoutAnAccelerator_waits(String policy) {
    Job first = job(mount("first", 100, null, 10, INSTANT, 10), 0, 1);
    Job second = job(mount("second", 100, null, 10, INSTANT, 10), 5, 1);

    Outcome one = Simulation.run(on(1, 100, 1, first, second), policy);
    assertThat(ended(one, "second").begin()).isCloseTo(10, within(1e-6));
    assertThat(ended(one, "second").completion()).isCloseTo(15, within(1e-6));

    Outcome two = Simulation.run(on(2, 100, 1, first, second), policy);
    assertThat(ended(two, "second").end()).isCloseTo(15, within(1e-6));
    assertThat(two.makespan()).isCloseTo(15, within(1e-6));
  }

  /** A pass of 100 at 10 takes 10 s. What was in memory for the other job serves the third pass. */
  @Test
  void memory_thatIsGivenBack_helpsFromTheNextPassOn() {
    Workload workload =
        onANode(
            100,
            job(mount("stays", 100, null, 10, INSTANT, 1000), 0, 4),
            job(mount("ends", 100, null, 10, INSTANT, 1000), 0, 2));

    Outcome outcome = Simulation.run(workload, "proportional");

    assertThat(ended(outcome, "ends").end()).isCloseTo(15, within(1e-6));
    // 10 s, 5 s with a half; then the third pass fills the other half, and the fourth has all
    assertThat(ended(outcome, "stays").end()).isCloseTo(20.1, within(1e-6));
  }

  @Test
  void greedy_letsOthersOvertake() {
    Workload workload =
        onANode(
            110,
            job(mount("a", 100, null, 10, INSTANT, 50), 0, 1),
            job(mount("b", 100, null, 10, INSTANT, 50), 0, 1),
            job(mount("c", 100, null, 10, INSTANT, 12), 0, 1));

    Outcome outcome = Simulation.run(workload, "greedy");

    assertThat(ended(outcome, "b").begin()).isCloseTo(10, within(1e-6));
    assertThat(ended(outcome, "c").begin()).isZero();
  }

  /** Demands of 80 and 60 of 100: the second has its fair share, and the first is cut to it. */
  @Test
  void tune_cutsWhoHasMoreThanTheFairShare() {
    ClusterState state = new ClusterState(new Cluster(1, 100, 8));
    RunningJob greatest = new RunningJob(job(mount("a", 100, null, 10, INSTANT, 49), 0, 1), 0, 0);
    RunningJob other = new RunningJob(job(mount("b", 100, null, 10, INSTANT, 25), 0, 1), 0, 0);
    state.running().add(greatest);
    new TunePolicy().divide(state);
    assertThat(greatest.capacity()).isEqualTo(80);

    state.running().add(other);
    new TunePolicy().divide(state);
    assertThat(greatest.capacity()).isEqualTo(50);
    assertThat(other.capacity()).isEqualTo(50);
  }

  /** Whatever the jobs are: no node gives more than it has, and each job reads all of its bytes. */
  @ParameterizedTest
  @MethodSource("policies")
  void anyWorkload_ends(String policy) {
    for (int seed = 0; seed < 30; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      List<Job> jobs = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        String origin = random.nextInt(3) == 0 ? "nas" : null;
        long rate = origin == null ? random.nextLong(10, 1000) : 500;
        jobs.add(
            new Job(
                mount(
                    "job" + i,
                    random.nextLong(1, 100_000),
                    origin,
                    rate,
                    random.nextLong(100, 10_000),
                    random.nextLong(10, 5000)),
                random.nextInt(500),
                random.nextInt(1, 20),
                random.nextInt(1, 5)));
      }
      Workload workload =
          new Workload(new Cluster(1 + seed % 3, random.nextLong(1, 100_000), 4), jobs);
      Outcome outcome = Simulation.run(workload, policy);

      for (Outcome.Ended each : outcome.jobs()) {
        double fastest = each.job().bytes() / each.job().mount().rates().demand();
        assertThat(each.begin()).as("seed %d", seed).isGreaterThanOrEqualTo(each.job().arrival());
        assertThat(each.end() - each.begin())
            .as("seed %d", seed)
            .isGreaterThanOrEqualTo(fastest * 0.999);
      }
      double read = 0;
      for (int i = 1; i < outcome.speeds().size(); i++) {
        Outcome.Speed before = outcome.speeds().get(i - 1);
        read += before.bytesPerSecond() * (outcome.speeds().get(i).seconds() - before.seconds());
      }
      double bytes = jobs.stream().mapToDouble(Job::bytes).sum();
      assertThat(read).as("seed %d", seed).isCloseTo(bytes, within(bytes * 1e-6));
    }
  }
}
