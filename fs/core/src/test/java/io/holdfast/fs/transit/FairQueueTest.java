package io.holdfast.fs.transit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class FairQueueTest {
  private static final int LARGEST = 1_000_000;

  private final FairQueue queue = new FairQueue();

  private FetchTask add(String job, int bytes) {
    FetchTask task = new FetchTask(bytes, job, true, () -> {});
    queue.add(task);
    return task;
  }

  /** Takes so many fetches; returns their jobs. */
  private List<Object> take(int count) {
    List<Object> jobs = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      jobs.add(queue.remove().job());
    }
    return jobs;
  }

  @Test
  void fetchesOfOneJob_comeInTheirOrder() {
    List<FetchTask> added = List.of(add("a", 30), add("a", 10), add("a", 20));

    assertThat(queue.peek()).isSameAs(added.get(0));
    assertThat(List.of(queue.remove(), queue.remove(), queue.remove())).isEqualTo(added);
    assertThat(queue.isEmpty()).isTrue();
    assertThat(queue.peek()).isNull();
  }

  @Test
  void jobWithManyReaders_getsNoMoreThanOneWithFew() {
    for (int i = 0; i < 32; i++) {
      add("many", 100);
    }
    take(5);
    for (int i = 0; i < 4; i++) {
      add("few", 100);
    }

    assertThat(take(8)).containsExactly("few", "many", "few", "many", "few", "many", "few", "many");
    assertThat(take(queue.size())).containsOnly("many");
  }

  @Test
  void bytesAreShared_notFetches() {
    for (int i = 0; i < 40; i++) {
      add("large", 400);
      add("small", 100);
    }

    assertThat(take(25).stream().filter("large"::equals)).hasSize(5);
  }

  @Test
  void jobThatHadNothingToFetch_savesNoShareUp() {
    for (int i = 0; i < 100; i++) {
      add("steady", 100);
    }
    add("late", 100);
    assertThat(take(50)).contains("late");
    for (int i = 0; i < 20; i++) {
      add("late", 100);
    }

    assertThat(take(10).stream().filter("late"::equals)).hasSize(5);
  }

  @Test
  void fetchThatIsTakenOut_countsForNothing() {
    FetchTask out = add("a", 1000);
    add("a", 100);
    add("b", 100);

    assertThat(queue.remove(out)).isTrue();
    assertThat(queue.remove(out)).isFalse();
    assertThat(take(2)).containsExactly("a", "b");
    assertThat(queue.remove(add("c", 100))).isTrue();
    assertThat(queue.isEmpty()).isTrue();
  }

  /**
   * While two jobs have fetches here, neither gets more than the other by more bytes than a fetch
   * of each: the bound of start-time fair queueing.
   */
  @Test
  void anyFetches_eachJobGetsTheSame() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    for (int round = 0; round < 200; round++) {
      FairQueue mixed = new FairQueue();
      int jobs = 2 + random.nextInt(5);
      Map<Object, Integer> waiting = new HashMap<>();
      Map<Object, Long> got = new HashMap<>();
      for (int step = 0; step < 2000; step++) {
        int job = random.nextInt(jobs);
        if (random.nextInt(5) < 3) {
          mixed.add(new FetchTask(1 + random.nextInt(LARGEST), job, true, () -> {}));
          if (waiting.merge(job, 1, Integer::sum) == 1) {
            got.clear(); // from now on others share with it
          }
        } else if (!mixed.isEmpty()) {
          FetchTask taken = mixed.remove();
          if (waiting.merge(taken.job(), -1, Integer::sum) == 0) {
            got.clear();
          } else {
            got.merge(taken.job(), (long) taken.bytes(), Long::sum);
          }
          long most = 0;
          long least = Long.MAX_VALUE;
          for (int each = 0; each < jobs; each++) {
            if (waiting.getOrDefault(each, 0) > 0) {
              most = Math.max(most, got.getOrDefault(each, 0L));
              least = Math.min(least, got.getOrDefault(each, 0L));
            }
          }
          assertThat(most - (least == Long.MAX_VALUE ? most : least))
              .as("seed %d, round %d, step %d", seed, round, step)
              .isLessThanOrEqualTo(2L * LARGEST);
        }
      }
      assertThat(mixed.size()).isEqualTo(waiting.values().stream().mapToInt(each -> each).sum());
    }
  }
}
