package io.holdfast.fs.stats;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of {@link EpochDetector} and {@link OpenedFiles}, over readers as jobs have them. */
final class EpochDetectorTest {
  private final Random random = new Random(7);

  /** A detector that is told of the opens of a job, and when it said that an epoch began. */
  private static final class Job {
    final EpochDetector detector = new EpochDetector();
    final List<Long> begins = new ArrayList<>();
    long opens;

    void open(long file) {
      JobCounts begun = detector.opened(file, () -> JobCounts.NOTHING.withOpens(opens, 0, 0));
      if (begun != null) {
        begins.add(begun.opens());
      }
      opens++;
    }

    void open(List<Long> files) {
      files.forEach(this::open);
    }
  }

  /** Names of files, as inode numbers are: nearly one after the other. */
  private static List<Long> files(int count) {
    return new ArrayList<>(LongStream.range(1_000_000, 1_000_000 + count).boxed().toList());
  }

  private List<Long> shuffled(int count) {
    List<Long> files = files(count);
    Collections.shuffle(files, random);
    return files;
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 5, 8, 20, 100, 1000, 8000})
  void permutations_eachBeginsAnEpochAtItsFirstOpen(int count) {
    Job job = new Job();
    for (int epoch = 0; epoch < 5; epoch++) {
      job.open(count < 20 ? files(count) : shuffled(count));
    }
    assertThat(job.begins).hasSize(4);
    for (int i = 0; i < 4; i++) {
      // a file that is opened again at once, at the end of one and the start of the next, tells
      // nothing
      assertThat(job.begins.get(i)).isBetween((i + 1L) * count, (i + 1L) * count + 1 + count / 50);
    }
  }

  @Property(tries = 40)
  void permutations_byWorkersThatOverlap_areAllFound(
      @ForAll @IntRange(min = 100, max = 3000) int count,
      @ForAll @IntRange(min = 1, max = 16) int workers,
      @ForAll Random seeded) {
    List<List<Long>> queues = new ArrayList<>();
    IntStream.range(0, workers).forEach(i -> queues.add(new ArrayList<>()));
    for (int epoch = 0; epoch < 4; epoch++) {
      List<Long> order = files(count);
      Collections.shuffle(order, seeded);
      for (int i = 0; i < count; i++) {
        queues.get(i % workers).add(order.get(i));
      }
    }
    Job job = new Job();
    int[] next = new int[workers];
    // no worker is more than 4 files ahead of the slowest
    while (job.opens < 4L * count) {
      int slowest = IntStream.of(next).min().orElseThrow();
      int worker = seeded.nextInt(workers);
      if (next[worker] < queues.get(worker).size() && next[worker] <= slowest + 4) {
        job.open(queues.get(worker).get(next[worker]++));
      } else if (next[worker] >= queues.get(worker).size()) {
        drain(job, queues, next);
      }
    }
    assertThat(job.begins).hasSize(3);
    for (int i = 0; i < 3; i++) {
      assertThat(Math.abs(job.begins.get(i) - (i + 1L) * count))
          .isLessThanOrEqualTo(5L * workers + count / 20);
    }
  }

  private static void drain(Job job, List<List<Long>> queues, int[] next) {
    for (int worker = 0; worker < next.length; worker++) {
      while (next[worker] < queues.get(worker).size()) {
        job.open(queues.get(worker).get(next[worker]++));
      }
    }
  }

  @Test
  void filesOpenedTwiceInARow_areOneUse() {
    Job job = new Job();
    for (int epoch = 0; epoch < 3; epoch++) {
      for (long file : shuffled(500)) {
        job.open(file);
        job.open(file);
      }
    }
    assertThat(job.begins).hasSize(2);
    assertThat(job.begins.get(0)).isBetween(1000L, 1020L);
    assertThat(job.begins.get(1)).isBetween(2000L, 2020L);
  }

  @Test
  void validationPass_belongsToItsEpoch() {
    List<Long> validation = LongStream.range(5_000_000, 5_000_200).boxed().toList();
    Job job = new Job();
    job.open(validation.subList(0, 10)); // many trainers try it first
    for (int epoch = 0; epoch < 4; epoch++) {
      job.open(shuffled(2000));
      job.open(validation);
    }
    assertThat(job.begins).hasSize(3);
    for (int i = 0; i < 3; i++) {
      assertThat(job.begins.get(i)).isBetween(10 + (i + 1) * 2200L - 200, 60 + (i + 1) * 2200L);
    }
  }

  @Test
  void halfOfADataset_isWhatThatJobReads() {
    Job job = new Job();
    List<Long> half = shuffled(1000).subList(0, 500);
    for (int epoch = 0; epoch < 6; epoch++) {
      Collections.shuffle(half, random);
      job.open(half);
    }
    assertThat(job.begins).hasSize(5);
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 4, 8})
  void anotherShareInEachEpoch_asOnEachOfSeveralNodes_isFound(int nodes) {
    Job job = new Job();
    int share = 3000;
    for (int epoch = 0; epoch < 6; epoch++) {
      job.open(shuffled(share * nodes).subList(0, share));
    }
    assertThat(job.begins).hasSize(5);
    for (int i = 0; i < 5; i++) {
      assertThat(Math.abs(job.begins.get(i) - (i + 1L) * share)).isLessThan(share / 6);
    }
  }

  @Property(tries = 30)
  void samplingWithReplacement_inventsNoEpochs(
      @ForAll @IntRange(min = 50, max = 5000) int count, @ForAll Random seeded) {
    Job job = new Job();
    for (int i = 0; i < 10 * count; i++) {
      job.open(1_000_000 + seeded.nextInt(count));
    }
    // three quarters of the files are known after 1.4 times as many opens; chance may be quicker
    assertThat(job.begins).hasSizeLessThanOrEqualTo(17);
  }

  @Test
  void oneFile_openedAgainAndAgain_isNoEpoch() {
    Job job = new Job();
    job.open(shuffled(300));
    for (int i = 0; i < 1000; i++) {
      job.open(4711);
    }
    assertThat(job.begins).isEmpty();
  }

  @Test
  void smallerSet_afterALargeOne_hasItsEpochsAfterOne() {
    Job job = new Job();
    job.open(shuffled(4000));
    job.open(shuffled(4000));
    List<Long> small = LongStream.range(9_000_000, 9_000_400).boxed().toList();
    for (int epoch = 0; epoch < 10; epoch++) {
      job.open(small);
    }
    assertThat(job.begins.size()).isBetween(8, 11);
  }

  /** The sample of a dataset that is too large for the table is enough. */
  @Test
  void millionFiles_takeNoMoreThanTheirBound() {
    Job job = new Job();
    int count = 1_000_000;
    for (int epoch = 0; epoch < 3; epoch++) {
      for (long i = 0; i < count; i++) {
        // a bijection: another order in each epoch
        job.open(1_000_000 + (i * 7_919L + epoch * 271_829L) % count);
      }
    }
    assertThat(job.begins).hasSize(2);
    assertThat(job.begins.get(0)).isBetween((long) count, count + 5_000L);
    assertThat(job.begins.get(1)).isBetween(2L * count, 2L * count + 5_000L);
  }

  @Test
  void openedFiles_moreThanFit_areASample() {
    OpenedFiles files = new OpenedFiles();
    int taken = 0;
    for (int file = 0; file < 100_000; file++) {
      int print = OpenedFiles.print(file);
      if (files.takes(print)) {
        taken++;
        files.put(files.slot(print), print, file);
      }
      assertThat(files.size()).isLessThanOrEqualTo(OpenedFiles.MOST);
    }
    assertThat(files.size()).isGreaterThan(OpenedFiles.MOST / 3);
    assertThat(taken).isLessThan(50_000);
    files.forget(99_999, 49_999);
    assertThat(files.size()).isBetween(OpenedFiles.MOST / 6, OpenedFiles.MOST / 2 + 500);
  }
}
