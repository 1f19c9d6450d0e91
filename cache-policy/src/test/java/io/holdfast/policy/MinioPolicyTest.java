package io.holdfast.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The facts of MinIO's cache that the design relies on. */
final class MinioPolicyTest {

  private static final long SEED = 1;

  @ParameterizedTest
  @ValueSource(doubles = {0, 0.25, 0.35, 0.5, 0.65, 0.8, 1})
  void epochs_equalSizes_hitExactlyWhatFits(double c) {
    assertEpochsHitExactly(1_000, c, 4_096, SEED);
  }

  @Property(tries = 100)
  void epochs_anyDatasetOfEqualSizes_hitExactlyWhatFits(
      @ForAll @IntRange(min = 1, max = 500) int files,
      @ForAll @DoubleRange(min = 0, max = 1.2) double c,
      @ForAll @IntRange(min = 1, max = 9_000_000) int weight,
      @ForAll long seed) {
    assertEpochsHitExactly(files, c, weight, seed);
  }

  /** Mixed sizes leave at most a gap into which the smallest item that is out does not fit. */
  @Property(tries = 100)
  void epoch_mixedSizes_leavesNoRoomForAnyThatIsOut(@ForAll long seed) {
    Random random = new Random(seed);
    List<Long> items = items(500);
    long[] weights = LongStream.range(0, 500).map(i -> 1 + random.nextInt(200_000)).toArray();
    CachePolicy policy =
        Policies.create("minio", (long) (LongStream.of(weights).sum() * 0.35), SEED);
    for (int epoch = 1; epoch <= 3; epoch++) {
      Collections.shuffle(items, random);
      for (long item : items) {
        if (!policy.contains(item)) {
          policy.offer(item, item, weights[(int) item]);
        }
      }
    }
    long room = policy.capacity() - policy.residentBytes();
    assertThat(items)
        .filteredOn(item -> !policy.contains(item))
        .allSatisfy(item -> assertThat(weights[item.intValue()]).isGreaterThan(room));
    policy.check();
  }

  @Test
  void cyclicScan_hitsWhatFits() {
    CachePolicy policy = Policies.create("minio", 35, SEED);
    List<Long> items = items(100);
    epoch(policy, items, 1);
    assertThat(epoch(policy, items, 1)).isEqualTo(35);
    assertThat(epoch(policy, items, 1)).isEqualTo(35);
  }

  @Test
  void offer_whenFull_staysRefusedUntilSomethingIsRemoved() {
    CachePolicy policy = Policies.create("minio", 3, SEED);
    for (long id : new long[] {1, 2, 3}) {
      assertThat(policy.offer(id, id, 1).admitted()).isTrue();
    }
    for (int i = 0; i < 10; i++) {
      policy.access(4);
      assertThat(policy.wouldAdmit(4, 4, 1)).isFalse();
      assertThat(policy.offer(4, 4, 1).admitted()).isFalse();
    }
    assertThat(policy.remove(2)).isTrue();
    assertThat(policy.remove(2)).isFalse();
    assertThat(policy.offer(5, 5, 1).admitted()).as("the next offered gets the room").isTrue();
    assertThat(policy.offer(4, 4, 1).admitted()).isFalse();
    assertThat(policy.offer(2, 2, 1).admitted()).isFalse();
  }

  @Test
  void offer_residentAgain_changesNothing() {
    CachePolicy policy = Policies.create("minio", 3, SEED);
    policy.offer(1, 1, 2);
    assertThat(policy.offer(1, 1, 2).admitted()).isTrue();
    assertThat(policy.residentBytes()).isEqualTo(2);
    assertThat(policy.residentItems()).isEqualTo(1);
  }

  @Test
  void resize_smaller_givesUpJustEnoughAndTheSameForTheSameSeed() {
    long[] one = filled(7).resize(600);
    assertThat(one).hasSize(400).doesNotHaveDuplicates();
    assertThat(filled(7).resize(600)).isEqualTo(one);
    assertThat(filled(8).resize(600)).isNotEqualTo(one);
    assertThat(filled(7).resize(1_000)).isEmpty();
    assertThat(filled(7).resize(0)).hasSize(1_000);
  }

  /** Whether early or late, each resident is as likely to go: what remains is a fair sample. */
  @Test
  void resize_smaller_choosesUniformly() {
    int runs = 400;
    int[] givenUp = new int[1_000];
    for (int seed = 0; seed < runs; seed++) {
      for (long id : filled(seed).resize(500)) {
        givenUp[(int) id]++;
      }
    }
    // 200 each, standard deviation 10: five of them.
    assertThat(IntStream.of(givenUp).boxed()).allSatisfy(n -> assertThat(n).isBetween(150, 250));
  }

  @Test
  void resize_larger_admitsFurtherItems() {
    CachePolicy policy = filled(1);
    assertThat(policy.offer(1_000, 1_000, 1).admitted()).isFalse();
    assertThat(policy.resize(1_001)).isEmpty();
    assertThat(policy.offer(1_000, 1_000, 1).admitted()).isTrue();
    assertThat(policy.residentItems()).isEqualTo(1_001);
  }

  private static void assertEpochsHitExactly(int files, double c, long weight, long seed) {
    long capacity = (long) (c * files * weight);
    long fitting = Math.min(files, capacity / weight);
    CachePolicy policy = Policies.create("minio", capacity, seed);
    List<Long> items = items(files);
    Random random = new Random(seed);
    for (int epoch = 1; epoch <= 4; epoch++) {
      Collections.shuffle(items, random);
      assertThat(epoch(policy, items, weight)).isEqualTo(epoch == 1 ? 0 : fitting);
    }
    policy.check();
  }

  /** Reads every item once; returns how many were hits. */
  private static long epoch(CachePolicy policy, List<Long> order, long weight) {
    long hits = 0;
    for (long item : order) {
      if (policy.contains(item)) {
        hits++;
        policy.access(item);
      } else {
        policy.offer(item, item, weight);
      }
    }
    return hits;
  }

  private static CachePolicy filled(long seed) {
    CachePolicy policy = Policies.create("minio", 1_000, seed);
    for (long id = 0; id < 1_000; id++) {
      assertThat(policy.offer(id, id, 1).admitted()).isTrue();
    }
    return policy;
  }

  private static List<Long> items(int count) {
    return new ArrayList<>(LongStream.range(0, count).boxed().toList());
  }
}
