package io.holdfast.fs.transit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

/**
 * A fetch here ends as soon as its thread runs, and threads run when the test says so. So a fetch
 * that was started and has not run yet is at the origin.
 */
class AdaptiveFetchersTest {
  private static final int SMALL = 100_000;
  private static final int LARGE = 8 << 20;
  private static final int FIRST = AdaptiveLimit.FIRST;
  private static final String JOB = "train";

  /** Begun, in this order. */
  private final List<String> ran = new ArrayList<>();

  private final ManualThreads threads = new ManualThreads();
  private final AdaptiveFetchers fetchers = new AdaptiveFetchers(threads, 1L << 40);

  /** Threads that run when they are told. */
  private static final class ManualThreads implements Executor {
    private final Deque<Runnable> started = new ArrayDeque<>();
    private int most;
    private boolean canStart = true;
    private Runnable atRefusal = () -> {};

    @Override
    public void execute(Runnable task) {
      if (!canStart) {
        atRefusal.run();
        throw new OutOfMemoryError("unable to create native thread");
      }
      started.add(task);
      most = Math.max(most, started.size());
    }

    void runOne() {
      started.remove().run();
    }

    void runAll() {
      while (!started.isEmpty()) {
        runOne();
      }
    }
  }

  private FetchTask task(String name, int bytes, boolean awaited) {
    return new FetchTask(bytes, JOB, awaited, () -> ran.add(name));
  }

  private FetchTask execute(String name, int bytes, boolean awaited) {
    FetchTask task = task(name, bytes, awaited);
    fetchers.execute(task);
    return task;
  }

  private void executeAll(String name, int count, int bytes) {
    for (int i = 0; i < count; i++) {
      execute(name + i, bytes, true);
    }
  }

  /** Lets fetches end as the origin would, with an answer each, until nothing is left. */
  private void answerAll(int bytes, long nanos) {
    while (!threads.started.isEmpty()) {
      fetchers.arrived(bytes, nanos);
      threads.runOne();
    }
  }

  @Test
  void execute_moreThanTheLimit_startsAsManyAsTheLimit() {
    executeAll("f", 100, SMALL);

    assertThat(threads.started).hasSize(FIRST);
    assertThat(fetchers.figures()).isEqualTo(new Fetchers.Figures(FIRST, FIRST, 100 - FIRST, 0));
    threads.runAll();
    assertThat(ran).hasSize(100).doesNotHaveDuplicates();
    assertThat(fetchers.figures()).isEqualTo(new Fetchers.Figures(FIRST, 0, 0, 0));
  }

  @Test
  void jobWithManyReaders_doesNotStarveAnother() {
    executeAll("many", 100, SMALL);
    for (int i = 0; i < 4; i++) {
      String name = "few" + i;
      fetchers.execute(new FetchTask(SMALL, "other", true, () -> ran.add(name)));
    }
    threads.runAll();

    assertThat(ran).hasSize(104);
    assertThat(ran.subList(0, FIRST + 8)).contains("few0", "few1", "few2", "few3");
  }

  @Test
  void thousandsWaiting_originIsFast_needNoMoreThreadsThanTheMost() {
    // each fetch ends with another one that begins, so the queue stays full
    List<FetchTask> more = new ArrayList<>();
    for (int i = 0; i < 5000; i++) {
      fetchers.execute(new FetchTask(SMALL, JOB, true, () -> fetchers.arrived(SMALL, 20_000_000)));
      more.add(task("more", SMALL, true));
    }
    threads.runAll();

    assertThat(fetchers.figures().limit()).isGreaterThan(FIRST);
    more.forEach(fetchers::execute);
    assertThat(threads.started).hasSize(fetchers.figures().limit());
    assertThat(threads.most).isLessThanOrEqualTo(AdaptiveLimit.MOST);
  }

  @Test
  void limit_growsWithAnswers_startsMoreAtOnce() {
    executeAll("f", 2000, SMALL);
    int before = threads.started.size();
    for (int i = 0; i < 1000; i++) {
      fetchers.arrived(SMALL, 20_000_000);
    }
    threads.runOne();

    assertThat(fetchers.figures().limit()).isGreaterThan(before);
    assertThat(threads.most).isGreaterThan(before);
    answerAll(SMALL, 20_000_000);
    assertThat(ran).hasSize(2000);
  }

  @Test
  void failed_limitGetsSmaller_startsFewer() {
    executeAll("f", 100, SMALL);
    fetchers.failed();
    int limit = fetchers.figures().limit();
    assertThat(limit).isLessThan(FIRST);

    FetchTask stuck = execute("late", SMALL, true);
    assertThat(stuck.state).isEqualTo(FetchTask.State.WAITING);
    threads.runAll();
    assertThat(ran).hasSize(101);
    executeAll("g", 100, SMALL);
    assertThat(threads.started).hasSize(limit);
  }

  @Test
  void small_behindLargeOnes_hasItsTurnAtOnce() {
    executeAll("large", 100, LARGE);
    assertThat(fetchers.figures().inFlight()).isEqualTo(FIRST - FIRST / 4);

    FetchTask small = execute("small", SMALL, true);

    assertThat(small.state).isEqualTo(FetchTask.State.RUNNING);
  }

  @Test
  void small_allTurnsTaken_goesBeforeLargeOnesThatWait() {
    executeAll("busy", FIRST, SMALL);
    executeAll("large", 8, LARGE);
    execute("small", SMALL, true);
    ran.clear();

    threads.runAll();

    assertThat(ran.indexOf("small")).isLessThan(ran.indexOf("large0"));
  }

  @Test
  void large_smallOnesNeverEnd_hasItsTurnAllTheSame() {
    executeAll("busy", FIRST, SMALL);
    executeAll("large", 10, LARGE);
    executeAll("small", 1000, SMALL);

    threads.runAll();

    List<String> order = ran.stream().filter(name -> !name.startsWith("busy")).toList();
    int last = order.indexOf("large9");
    assertThat(last).isLessThan(10 * (AdaptiveFetchers.SMALL_BEFORE_LARGE + 1) + FIRST);
    assertThat(order.subList(0, last))
        .filteredOn(name -> name.startsWith("small"))
        .hasSizeGreaterThan(20);
  }

  @Test
  void large_moreThanMemory_leavesRoomAndTurnsToSmallOnes() {
    AdaptiveFetchers tight = new AdaptiveFetchers(threads, 3 * LARGE);
    for (int i = 0; i < 8; i++) {
      tight.execute(task("large", LARGE, true));
    }
    assertThat(threads.started).hasSize(3);
    tight.execute(task("small", SMALL, true));
    assertThat(threads.started).hasSize(4);
    threads.runAll();
    assertThat(ran).hasSize(9);
  }

  @Test
  void large_largerThanAllMemoryForLargeOnes_runsAlone() {
    AdaptiveFetchers tiny = new AdaptiveFetchers(threads, 1);
    tiny.execute(task("one", LARGE, true));
    tiny.execute(task("two", LARGE, true));
    assertThat(threads.started).hasSize(1);
    threads.runAll();
    assertThat(ran).containsExactly("one", "two");
  }

  @Test
  void ahead_readersWait_comesLast() {
    executeAll("busy", FIRST, SMALL);
    execute("ahead", SMALL, false);
    execute("large", LARGE, true);
    execute("small", SMALL, true);

    threads.runAll();

    assertThat(ran.indexOf("ahead"))
        .isGreaterThan(ran.indexOf("small"))
        .isGreaterThan(ran.indexOf("large"));
  }

  @Test
  void ahead_readerWaitsForItByNow_comesBeforeTheOthersAhead() {
    executeAll("busy", FIRST, SMALL);
    execute("ahead1", LARGE, false);
    FetchTask second = execute("ahead2", LARGE, false);

    fetchers.promote(second);
    fetchers.promote(second);
    threads.runAll();

    assertThat(ran.indexOf("ahead2")).isLessThan(ran.indexOf("ahead1"));
    assertThat(ran).hasSize(FIRST + 2);
  }

  /** A job whose place among the jobs cannot be looked for a second time. */
  private static final class FullHeap {
    private int left = Integer.MAX_VALUE;

    @Override
    public int hashCode() {
      if (left-- == 0) {
        throw new OutOfMemoryError("Java heap space");
      }
      return 1;
    }

    @Override
    public boolean equals(Object other) {
      return this == other;
    }
  }

  /** It was in no queue any more, and never ran. */
  @Test
  void promote_heapIsFull_keepsItsPlaceAhead() {
    executeAll("busy", FIRST, SMALL);
    FullHeap job = new FullHeap();
    FetchTask task = new FetchTask(SMALL, job, false, () -> ran.add("ahead"));
    fetchers.execute(task);
    job.left = 1;

    assertThatThrownBy(() -> fetchers.promote(task)).isInstanceOf(OutOfMemoryError.class);

    job.left = Integer.MAX_VALUE;
    assertThat(fetchers.figures().queued()).isEqualTo(1);
    threads.runAll();
    assertThat(ran).hasSize(FIRST + 1).contains("ahead");
  }

  /** As if a reader joined between the creation of a task and its start. */
  @Test
  void promote_notYetThere_runsOnce() {
    FetchTask task = task("f", SMALL, false);
    fetchers.promote(task);
    assertThat(threads.started).isEmpty();
    fetchers.execute(task);
    threads.runAll();
    fetchers.promote(task);
    threads.runAll();
    assertThat(ran).containsExactly("f");
  }

  @Test
  void ahead_tooMuch_isRefused() {
    executeAll("busy", FIRST, SMALL);
    for (int i = 0; i < AdaptiveFetchers.MOST_AHEAD; i++) {
      execute("ahead" + i, SMALL, false);
    }
    assertThatThrownBy(() -> execute("one more", SMALL, false))
        .isInstanceOf(RejectedExecutionException.class);
    execute("awaited", SMALL, true);
    threads.runAll();
    assertThat(ran).hasSize(FIRST + AdaptiveFetchers.MOST_AHEAD + 1).doesNotContain("one more");
  }

  @Test
  void givenUp_givesItsTurnToAnother_untilTooManyAreStuck() {
    List<FetchTask> hanging = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      hanging.add(execute("f" + i, SMALL, true));
    }
    hanging.forEach(fetchers::giveUp);
    assertThat(threads.started).hasSize(AdaptiveFetchers.MOST_STUCK);
    for (int i = 0; i < 3; i++) {
      hanging.forEach(fetchers::giveUp);
    }

    Fetchers.Figures figures = fetchers.figures();
    assertThat(figures.stuck()).isEqualTo(AdaptiveFetchers.MOST_STUCK);
    assertThat(figures.inFlight()).isZero();
    assertThat(threads.most).isEqualTo(AdaptiveFetchers.MOST_STUCK);
    threads.runAll();
    assertThat(ran).as("and those that waited never run").hasSize(AdaptiveFetchers.MOST_STUCK);
    assertThat(fetchers.figures().stuck()).isZero();
    assertThat(fetchers.figures().queued()).isZero();
    assertThat(fetchers.figures().inFlight()).isZero();
  }

  /**
   * As at {@code pids.max}: each fetch used to keep its turn for ever, and its reader timed out.
   */
  @Test
  void execute_noThreadCanBeStarted_allRunOnceOneCan() {
    threads.canStart = false;
    executeAll("small", 100, SMALL);
    executeAll("large", 20, LARGE);
    assertThat(fetchers.figures()).isEqualTo(new Fetchers.Figures(FIRST, 0, 120, 0));
    fetchers.startLeft();
    assertThat(ran).isEmpty();

    threads.canStart = true;
    fetchers.startLeft();
    assertThat(threads.started).hasSize(FIRST);
    threads.runAll();

    assertThat(ran).hasSize(120).doesNotHaveDuplicates();
    assertThat(fetchers.figures()).isEqualTo(new Fetchers.Figures(FIRST, 0, 0, 0));
  }

  @Test
  void execute_noOtherThreadCanBeStarted_oneThreadRunsAll() {
    execute("first", SMALL, true);
    threads.canStart = false;
    executeAll("f", 100, SMALL);

    threads.runOne();

    assertThat(ran).hasSize(101).startsWith("first", "f0", "f1").doesNotHaveDuplicates();
    assertThat(fetchers.figures()).isEqualTo(new Fetchers.Figures(FIRST, 0, 0, 0));
  }

  @Test
  void givenUp_withoutAThread_isNotStuck() {
    threads.canStart = false;
    List<FetchTask> waiting = new ArrayList<>();
    for (int i = 0; i < 2 * FIRST; i++) {
      waiting.add(execute("f" + i, SMALL, true));
    }
    waiting.forEach(fetchers::giveUp);
    assertThat(fetchers.figures().stuck()).isZero();
    threads.atRefusal = () -> fetchers.giveUp(waiting.get(0)); // while its thread is being started
    fetchers.startLeft();
    assertThat(fetchers.figures().stuck()).isZero();

    threads.canStart = true;
    fetchers.startLeft();
    threads.runAll();

    assertThat(ran).as("those that had their turn").hasSize(FIRST).doesNotHaveDuplicates();
    assertThat(fetchers.figures().inFlight()).isZero();
    assertThat(fetchers.figures().queued()).isZero();
  }

  /** Such a task kept a place for prefetches until its turn came, and counted as a failure. */
  @Test
  void givenUp_whileItWaits_leavesItsPlaceAndIsNoFailure() {
    executeAll("busy", FIRST, SMALL);
    List<FetchTask> waiting = new ArrayList<>();
    for (int i = 0; i < AdaptiveFetchers.MOST_AHEAD; i++) {
      waiting.add(execute("ahead" + i, SMALL, false));
    }

    assertThat(fetchers.giveUp(waiting.get(0))).isTrue();
    assertThat(fetchers.giveUp(waiting.get(0))).isFalse();

    execute("another", SMALL, false);
    assertThat(fetchers.figures().limit()).isEqualTo(FIRST);
    threads.runAll();
    assertThat(ran).contains("another").doesNotContain("ahead0");
  }

  @Test
  void fetch_thatThrows_givesItsTurnBack() {
    for (int i = 0; i < 2; i++) {
      fetchers.execute(
          new FetchTask(
              SMALL,
              JOB,
              true,
              () -> {
                throw new IllegalStateException("a bug");
              }));
    }
    execute("after", SMALL, true);
    threads.runAll();
    assertThat(ran).containsExactly("after");
    assertThat(fetchers.figures().inFlight()).isZero();
  }

  @Test
  void closed_refuses_andForgetsWhatWaits() {
    executeAll("f", 100, SMALL);

    fetchers.close();

    assertThat(fetchers.figures().queued()).isZero();
    assertThatThrownBy(() -> execute("late", SMALL, true))
        .isInstanceOf(RejectedExecutionException.class);
    threads.runAll();
    assertThat(ran).hasSize(FIRST);
  }
}
