package io.holdfast.fs.orders;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.Seeds;
import io.holdfast.fs.figures.OrderFigures;
import io.holdfast.fs.stats.OpenBatch;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of {@link LearnedOrders} and {@link PassRecorder}: files are their inode numbers. */
final class LearnedOrdersTest {
  private static final long MANY = 1 << 20;

  private final long seed = Seeds.next("LearnedOrdersTest");
  private final Random random = new Random(seed);
  private final LearnedOrders orders = new LearnedOrders(MANY, job -> 77);

  private boolean open(String job, long file) {
    OpenBatch batch = new OpenBatch();
    batch.add(file, 10);
    return orders.opened(job, batch);
  }

  /** Reads a pass; returns the open at which the order was found, or -1. */
  private int read(String job, List<Integer> files) {
    int found = -1;
    for (int i = 0; i < files.size(); i++) {
      if (open(job, files.get(i))) {
        assertThat(found).as("found once").isEqualTo(-1);
        found = i;
      }
    }
    return found;
  }

  private static List<Integer> prints(LearnedOrders.Found found) {
    return IntStream.range(0, found.pass().size()).mapToObj(found.pass()::file).toList();
  }

  private static List<Integer> inOrder(int n) {
    return new ArrayList<>(IntStream.rangeClosed(1, n).boxed().toList());
  }

  private List<Integer> shuffled(int n) {
    List<Integer> files = inOrder(n);
    Collections.shuffle(files, random);
    return files;
  }

  /** As several workers take files: each up to so many places late. */
  private List<Integer> unordered(List<Integer> files, int workers) {
    List<Integer> all = new ArrayList<>();
    for (int from = 0; from < files.size(); from += workers) {
      List<Integer> some =
          new ArrayList<>(files.subList(from, Math.min(files.size(), from + workers)));
      Collections.shuffle(some, random);
      all.addAll(some);
    }
    return all;
  }

  @ParameterizedTest
  @ValueSource(ints = {64, 65, 200, 1000, 20_000})
  void order_ofTheLastPass_isFoundAfter64Files(int n) {
    List<Integer> files = shuffled(n);
    assertThat(read("a", files)).isEqualTo(-1);
    assertThat(read("a", files)).as("seed %d", seed).isEqualTo(63);
    LearnedOrders.Found found = orders.poll(0);
    assertThat(found).isNotNull();
    assertThat(found.job()).isEqualTo("a");
    assertThat(prints(found)).isEqualTo(files.stream().map(PassRecorder::print).toList());
    assertThat(orders.poll(0)).as("once").isNull();
    assertThat(orders.position("a")).isEqualTo(n);
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 8, 16})
  void order_ofWorkersSideBySide_isFound(int workers) {
    List<Integer> files = shuffled(1000);
    read("a", unordered(files, workers));
    assertThat(read("a", unordered(files, workers))).as("seed %d", seed).isEqualTo(63);
  }

  @Test
  void order_ofAnotherJob_isFound_untilThatHasReadOthers() {
    List<Integer> files = shuffled(500);
    read("first", files);
    assertThat(read("early", files)).as("the pass has not ended").isEqualTo(-1);
    open("first", files.get(0));
    assertThat(read("second", files)).as("seed %d", seed).isEqualTo(63);
    for (int pass = 0; pass < 3; pass++) {
      read("first", shuffled(500));
    }
    assertThat(read("third", files)).as("seed %d", seed).isEqualTo(-1);
  }

  @Test
  void files_openedTwice_areRecordedOnce() {
    List<Integer> twice = new ArrayList<>();
    for (int file : shuffled(300)) {
      twice.add(file);
      twice.add(file);
    }
    read("a", twice);
    read("a", twice);
    LearnedOrders.Found found = orders.poll(0);
    assertThat(found).isNotNull();
    assertThat(prints(found)).hasSize(300);
  }

  @ParameterizedTest
  @ValueSource(ints = {100, 1000, 5000})
  void job_thatShuffles_isNeverFound(int n) {
    for (int pass = 0; pass < 200_000 / n; pass++) {
      assertThat(read("a", shuffled(n))).as("seed %d, pass %d", seed, pass).isEqualTo(-1);
      assertThat(orders.prints()).isLessThanOrEqualTo(4L * n + 256);
    }
  }

  @Test
  void job_thatDrawsAtRandom_isNeverFound() {
    for (int i = 0; i < 100_000; i++) {
      assertThat(open("a", random.nextInt(2000))).as("seed %d", seed).isFalse();
    }
  }

  @Test
  void memory_isBounded_byJobsAndFingerprints() {
    for (int job = 0; job < 200; job++) {
      read("job" + job, inOrder(100));
    }
    assertThat(orders.prints()).isEqualTo(LearnedOrders.MOST_JOBS * 128L);
    for (long file = 0; file < 4 * MANY; file++) {
      open("endless", file);
      assertThat(orders.prints()).isLessThanOrEqualTo(MANY);
    }
  }

  /**
   * Looking for a pass takes as long as the dataset is large, and no order is followed meanwhile.
   */
  /** Their sum was too small afterwards, and bounded nothing. */
  @Test
  void memory_isBounded_afterAnOpenForWhichTheHeapHadNoRoom() {
    LearnedOrders full =
        new LearnedOrders(
            MANY,
            job -> {
              throw new OutOfMemoryError("for the test");
            });
    OpenBatch batch = new OpenBatch();
    batch.add(1, 1);
    for (int i = 0; i < 2; i++) {
      try {
        full.opened("job", batch);
      } catch (OutOfMemoryError e) {
        assertThat(e).hasMessage("for the test");
      }
    }
    assertThat(full.prints()).isPositive();
  }

  @Test
  void passes_thatAJobBeginsAgainAndAgain_areLookedForOnce() {
    for (int pass = 0; pass < 20; pass++) {
      read("a", inOrder(64));
    }
    read("b", inOrder(64));
    assertThat(orders.poll(0).job()).isEqualTo("a");
    assertThat(orders.hasFound()).isTrue();
    assertThat(orders.poll(0).job()).isEqualTo("b");
    assertThat(orders.hasFound()).isFalse();
  }

  @Test
  void look_isFollowedByAPause_ofTenTimesItsLength() {
    for (String job : List.of("a", "b")) {
      read(job, inOrder(64));
      read(job, inOrder(64));
    }
    assertThat(orders.poll(1000).job()).isEqualTo("a");
    orders.looked(1000, 1300);
    assertThat(orders.poll(4299)).isNull();
    assertThat(orders.hasFound()).isTrue();
    assertThat(orders.poll(4300).job()).isEqualTo("b");
  }

  @Test
  void job_thatGetsAnotherOrder_isNotLookedForAnyMore() {
    read("a", inOrder(64));
    read("a", inOrder(64));
    orders.followed("a");
    assertThat(orders.hasFound()).isFalse();
  }

  @Test
  void join_findsTheFilesOfFingerprints() {
    List<Integer> files = shuffled(1000);
    read("a", files);
    read("a", files);
    LearnedOrders.Found found = orders.poll(0);
    assertThat(found).isNotNull();
    // 7 has gone, and another file has the fingerprint of 9
    FileSequence sequence =
        found.join(
            taker -> {
              for (int file : shuffled(5000)) {
                if (file != 7) {
                  taker.take(10L * file, file);
                }
              }
              taker.take(4, 9);
            });
    assertThat(LongStream.range(0, sequence.size()).map(i -> sequence.get((int) i)))
        .containsExactlyElementsOf(
            files.stream().filter(file -> file != 7 && file != 9).map(file -> 10L * file).toList());
  }

  @Test
  void ended_orders_areToldUntilTheJobHasAnother() {
    orders.ended(new OrderFigures("a", "learned", 10, 5, 0, 3, 2, 1, 3));
    assertThat(orders.ended()).hasSize(1);
    orders.followed("a");
    assertThat(orders.ended()).isEmpty();
  }
}
