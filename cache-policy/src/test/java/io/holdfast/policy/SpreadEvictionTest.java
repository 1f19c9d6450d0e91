package io.holdfast.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.LongUnaryOperator;
import java.util.stream.LongStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code minio-spread}: as many hits as {@code minio} in each epoch, spread over a fixed order. */
final class SpreadEvictionTest {
  private static final int FILES = 4_000;
  private static final double C = 0.65;

  /** What a job reads in an epoch. */
  private enum Kind {
    FIXED,
    SHUFFLED,
    OTHER_FIXED,
    BACKWARDS
  }

  private static List<Long> items(int files) {
    return new ArrayList<>(LongStream.range(0, files).boxed().toList());
  }

  private static List<Long> shuffled(int files, long seed) {
    List<Long> items = items(files);
    Collections.shuffle(items, new Random(seed));
    return items;
  }

  private static CachePolicy policy(String name, long capacity) {
    return Policies.create(name, capacity, 1);
  }

  /** Reads all; returns which were hits, in order. */
  private static List<Boolean> epoch(
      CachePolicy policy, List<Long> order, LongUnaryOperator weight) {
    List<Boolean> hits = new ArrayList<>();
    for (long item : order) {
      hits.add(policy.contains(item));
      policy.opened(item);
      if (!policy.contains(item)) {
        policy.offer(item, ItemHash.of(item), weight.applyAsLong(item));
      }
    }
    policy.check();
    return hits;
  }

  private static List<Boolean> epoch(CachePolicy policy, List<Long> order) {
    return epoch(policy, order, item -> 1);
  }

  private static long count(List<Boolean> hits) {
    return Collections.frequency(hits, true);
  }

  private static double ratio(List<Boolean> hits) {
    return (double) count(hits) / hits.size();
  }

  private static void assertTenthsHitAlike(List<Boolean> hits, double c, double tolerance) {
    for (int tenth = 0; tenth < 10; tenth++) {
      List<Boolean> part = hits.subList(tenth * hits.size() / 10, (tenth + 1) * hits.size() / 10);
      assertThat(ratio(part)).as("tenth " + tenth).isEqualTo(c, within(tolerance));
    }
  }

  @ParameterizedTest
  @ValueSource(doubles = {.25, .35, .5, .65, .8, .9})
  void fixedOrder_fromTheThirdEpochOn_hitsAreSpreadAndAsManyAsFit(double c) {
    long fitting = Math.round(c * FILES);
    CachePolicy policy = policy("minio-spread", fitting);
    List<Long> order = shuffled(FILES, 3);
    assertThat(count(epoch(policy, order))).isZero();
    List<Boolean> second = epoch(policy, order);
    assertThat(count(second)).isEqualTo(fitting);
    assertThat(count(second.subList(0, (int) fitting))).as("as with minio").isEqualTo(fitting);
    for (int epoch = 3; epoch <= 6; epoch++) {
      List<Boolean> hits = epoch(policy, order);
      assertThat(count(hits)).isEqualTo(fitting);
      assertTenthsHitAlike(hits, c, 0.08); // four standard deviations of a choice by hash
    }
    assertThat(policy.follows()).as("it is over").isFalse();
  }

  @Test
  void fixedOrder_residentsAreThoseOfMinioHash() {
    long fitting = Math.round(C * FILES);
    CachePolicy spread = policy("minio-spread", fitting);
    CachePolicy hash = policy("minio-hash", fitting);
    List<Long> order = shuffled(FILES, 4);
    for (int epoch = 1; epoch <= 3; epoch++) {
      epoch(spread, order);
      epoch(hash, order);
    }
    long same = order.stream().filter(i -> spread.contains(i) && hash.contains(i)).count();
    assertThat(same).isGreaterThan(Math.round(.97 * fitting));
  }

  /** Any sequence of orders, each of the whole dataset. */
  @Property(tries = 300)
  void wholeEpochs_anyOrders_hitExactlyWhatFits(
      @ForAll @IntRange(min = 1, max = 600) int files,
      @ForAll @DoubleRange(min = 0, max = 1.1) double c,
      @ForAll @Size(min = 2, max = 9) List<Kind> kinds,
      @ForAll long seed) {
    long capacity = (long) (c * files);
    CachePolicy policy = policy("minio-spread", capacity);
    epoch(policy, order(kinds.get(0), files, seed, 0));
    for (int i = 1; i < kinds.size(); i++) {
      assertThat(count(epoch(policy, order(kinds.get(i), files, seed, i))))
          .as("epoch %d of %s", i + 1, kinds)
          .isEqualTo(Math.min(files, capacity));
    }
  }

  private static List<Long> order(Kind kind, int files, long seed, int epoch) {
    List<Long> order = shuffled(files, seed);
    return switch (kind) {
      case FIXED -> order;
      case SHUFFLED -> shuffled(files, seed + 31L * (epoch + 1));
      case OTHER_FIXED -> shuffled(files, seed + 17);
      case BACKWARDS -> {
        Collections.reverse(order);
        yield order;
      }
    };
  }

  /**
   * Parts between whole epochs, as after a checkpoint: whole epochs have all the hits, whatever was
   * read between.
   */
  @Property(tries = 300)
  void partsBetweenWholeEpochs_wholeEpochsHitExactlyWhatFits(
      @ForAll @IntRange(min = 20, max = 600) int files,
      @ForAll @DoubleRange(min = 0, max = 1) double c,
      @ForAll @Size(min = 1, max = 5) List<@DoubleRange(min = 0, max = 1) Double> starts,
      @ForAll long seed) {
    long capacity = (long) (c * files);
    CachePolicy spread = policy("minio-spread", capacity);
    CachePolicy minio = policy("minio", capacity);
    List<Long> order = shuffled(files, seed);
    epoch(spread, order);
    epoch(minio, order);
    for (double start : starts) {
      List<Long> rest = order.subList((int) (start * files), files); // as after a checkpoint
      assertThat(spread.residentItems()).isEqualTo(minio.residentItems());
      epoch(spread, rest);
      epoch(minio, rest);
      assertThat(count(epoch(spread, order))).isGreaterThanOrEqualTo(count(epoch(minio, order)));
    }
  }

  /** The mount's first epoch was begun elsewhere: its order begins in the middle. */
  @Test
  void firstEpochIsTheRestOfOne_atMostOneLaterEpochHitsLess() {
    long fitting = Math.round(C * FILES);
    CachePolicy policy = policy("minio-spread", fitting);
    List<Long> order = shuffled(FILES, 7);
    epoch(policy, order.subList(FILES / 2, FILES));
    epoch(policy, order);
    int fewer = 0;
    for (int epoch = 3; epoch <= 8; epoch++) {
      List<Boolean> hits = epoch(policy, order);
      fewer += count(hits) < fitting ? 1 : 0;
      if (epoch > 4) {
        assertThat(count(hits)).isEqualTo(fitting);
        assertTenthsHitAlike(hits, C, 0.08);
      }
    }
    assertThat(fewer).isLessThanOrEqualTo(1);
  }

  /** A part that is drawn at random has as many hits as with MinIO, on the average. */
  @Test
  void randomParts_afterAFixedOrder_hitTheirShare() {
    CachePolicy policy = policy("minio-spread", Math.round(C * FILES));
    List<Long> order = shuffled(FILES, 5);
    for (int epoch = 1; epoch <= 3; epoch++) {
      epoch(policy, order);
    }
    for (int seed = 1; seed <= 20; seed++) {
      assertThat(ratio(epoch(policy, shuffled(FILES, seed).subList(0, FILES / 4))))
          .isEqualTo(C, within(.06));
    }
  }

  /** A part of the dataset that fits is resident whole, as with MinIO. */
  @Test
  void partThatFits_isResidentWhole() {
    CachePolicy policy = policy("minio-spread", 500);
    for (int epoch = 1; epoch <= 3; epoch++) {
      assertThat(ratio(epoch(policy, items(500)))).isEqualTo(epoch == 1 ? 0 : 1);
    }
    assertThat(count(epoch(policy, items(1_000)))).isEqualTo(500);
    assertThat(count(epoch(policy, items(1_000)))).isEqualTo(500);
    assertTenthsHitAlike(epoch(policy, items(1_000)), .5, .2);
  }

  /** Without opens it is MinIO's policy. */
  @Test
  void opensNotCounted_nothingIsEvicted() {
    CachePolicy policy = policy("minio-spread", 500);
    for (int epoch = 1; epoch <= 3; epoch++) {
      for (long item : items(1_000)) {
        if (!policy.contains(item)) {
          assertThat(policy.offer(item, ItemHash.of(item), 1).evicted()).isEmpty();
        }
      }
    }
    assertThat(items(500)).allMatch(policy::contains);
  }

  /** Workers take the files out of order, differently in each epoch. */
  @ParameterizedTest
  @ValueSource(ints = {4, 40})
  void fixedOrderThroughABuffer_isSpreadAndLosesNoHit(int buffer) {
    long fitting = Math.round(C * FILES);
    CachePolicy policy = policy("minio-spread", fitting);
    for (int epoch = 1; epoch <= 5; epoch++) {
      List<Boolean> hits = epoch(policy, buffered(items(FILES), buffer, epoch));
      assertThat(count(hits)).isEqualTo(epoch == 1 ? 0 : fitting);
      if (epoch > 2) {
        assertTenthsHitAlike(hits, C, 0.08);
      }
    }
  }

  private static List<Long> buffered(List<Long> order, int size, long seed) {
    Random random = new Random(seed);
    List<Long> buffer = new ArrayList<>();
    List<Long> out = new ArrayList<>();
    for (long item : order) {
      buffer.add(item);
      if (buffer.size() > size) {
        out.add(buffer.remove(random.nextInt(buffer.size())));
      }
    }
    Collections.shuffle(buffer, random);
    out.addAll(buffer);
    return out;
  }

  @Test
  void shuffledEpochs_nothingIsEvictedAndItIsOverSoon() {
    CachePolicy policy = policy("minio-spread", 500);
    for (int seed = 1; seed <= 4; seed++) {
      for (long item : shuffled(1_000, seed)) {
        policy.opened(item);
        if (!policy.contains(item)) {
          assertThat(policy.offer(item, ItemHash.of(item), 1).evicted()).isEmpty();
        }
      }
    }
    assertThat(policy.follows()).isFalse();
  }

  /** With mixed sizes neither hits nor bytes of a whole epoch fall below MinIO's. */
  @Property(tries = 50)
  void mixedSizes_noFewerHitsNorBytesThanMinio(@ForAll long seed) {
    LongUnaryOperator weight = item -> 1 + Math.floorMod(ItemHash.of(~item), 60L);
    long all = items(1_000).stream().mapToLong(weight::applyAsLong).sum();
    CachePolicy spread = policy("minio-spread", (long) (C * all));
    CachePolicy minio = policy("minio", (long) (C * all));
    List<Long> order = shuffled(1_000, seed);
    for (int epoch = 1; epoch <= 8; epoch++) {
      List<Boolean> hits = epoch(spread, order, weight);
      assertThat(count(hits)).isGreaterThanOrEqualTo(count(epoch(minio, order, weight)));
      assertThat(spread.residentBytes()).isGreaterThanOrEqualTo(minio.residentBytes());
    }
  }

  /** A dataset of which only a sample is recorded. */
  @Test
  void largeDataset_isSpreadAsWell() {
    int files = 60_000;
    CachePolicy policy = policy("minio-spread", Math.round(C * files));
    List<Long> order = shuffled(files, 6);
    for (int epoch = 1; epoch <= 4; epoch++) {
      List<Boolean> hits = epoch(policy, order);
      assertThat(count(hits)).isEqualTo(epoch == 1 ? 0 : Math.round(C * files));
      if (epoch > 2) {
        assertTenthsHitAlike(hits, C, 0.03);
      }
    }
  }
}
