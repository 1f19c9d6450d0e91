package io.holdfast.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code minio-hash}: a share of the dataset that is the same everywhere. */
final class HashShareTest {
  private static final int FILES = 10_000;
  private static final double C = 0.35;

  private static long weight(long item) {
    return 4_096 * (1 + Math.floorMod(ItemHash.of(~item), 60L));
  }

  private static long dataset(int files) {
    return LongStream.range(0, files).map(HashShareTest::weight).sum();
  }

  private static List<Long> shuffled(int files, long seed) {
    List<Long> items = new ArrayList<>(LongStream.range(0, files).boxed().toList());
    Collections.shuffle(items, new Random(seed));
    return items;
  }

  /** Reads all; returns which were hits, in order. */
  private static List<Boolean> epoch(CachePolicy policy, List<Long> order) {
    List<Boolean> hits = new ArrayList<>();
    for (long item : order) {
      hits.add(policy.contains(item));
      policy.access(item);
      policy.offer(item, ItemHash.of(item), weight(item));
    }
    policy.check();
    return hits;
  }

  private static Set<Long> residents(CachePolicy policy, int files) {
    return LongStream.range(0, files).filter(policy::contains).boxed().collect(Collectors.toSet());
  }

  private static CachePolicy policy(long estimate) {
    CachePolicy policy = Policies.create("minio-hash", (long) (C * dataset(FILES)), 1);
    policy.datasetSize(estimate);
    return policy;
  }

  /** Known, not known, or wrong in either direction, by a factor of two and then set right. */
  @ParameterizedTest
  @ValueSource(doubles = {1, 0, 0.5, 2})
  void epochs_mixedSizes_fillTheCapacity(double known) {
    long size = dataset(FILES);
    CachePolicy policy = policy((long) (known * size));
    epoch(policy, shuffled(FILES, 1));
    policy.datasetSize(size);
    epoch(policy, shuffled(FILES, 2));
    assertThat(policy.residentBytes())
        .isLessThanOrEqualTo(policy.capacity())
        .isGreaterThanOrEqualTo((long) (0.98 * policy.capacity()));
  }

  @Test
  void restartAndOtherNode_otherOrders_sameResidents() {
    CachePolicy first = policy(dataset(FILES));
    CachePolicy restarted = policy(dataset(FILES));
    CachePolicy unaware = policy(0);
    epoch(first, shuffled(FILES, 1));
    epoch(restarted, shuffled(FILES, 2));
    epoch(unaware, shuffled(FILES, 3));
    assertThat(residents(restarted, FILES)).isEqualTo(residents(first, FILES));
    assertThat(residents(unaware, FILES)).isEqualTo(residents(first, FILES));
  }

  @Test
  void residents_areTheSmallestHashesThatFit() {
    CachePolicy policy = policy(dataset(FILES));
    epoch(policy, shuffled(FILES, 1));
    List<Long> byHash =
        LongStream.range(0, FILES)
            .boxed()
            .sorted(Comparator.comparing(ItemHash::of, Long::compareUnsigned))
            .toList();
    long room = policy.capacity();
    int fitting = 0;
    while (weight(byHash.get(fitting)) <= room) {
      room -= weight(byHash.get(fitting++));
    }
    assertThat(residents(policy, FILES)).hasSameElementsAs(byHash.subList(0, fitting));
  }

  /** Hits are spread evenly over an epoch, so the origin is read at an even rate. */
  @Test
  void laterEpoch_firstAndLastTenth_hitAlike() {
    CachePolicy policy = policy(dataset(FILES));
    epoch(policy, shuffled(FILES, 1));
    double first = 0;
    double last = 0;
    int epochs = 20;
    for (int seed = 2; seed < 2 + epochs; seed++) {
      List<Boolean> hits = epoch(policy, shuffled(FILES, seed));
      first += ratio(hits.subList(0, FILES / 10)) / epochs;
      last += ratio(hits.subList(FILES - FILES / 10, FILES)) / epochs;
    }
    assertThat(first).isEqualTo(last, within(0.03)).isEqualTo(C, within(0.03));
  }

  private static double ratio(List<Boolean> hits) {
    return (double) Collections.frequency(hits, true) / hits.size();
  }

  /** With a size that is known few are admitted in vain, and after the first epoch none. */
  @Test
  void knownSize_fewAreGivenUpAndLaterNone() {
    CachePolicy policy = policy(dataset(FILES));
    long givenUp = 0;
    for (long item : shuffled(FILES, 1)) {
      givenUp += policy.offer(item, ItemHash.of(item), weight(item)).evicted().length;
    }
    assertThat(givenUp).isLessThan(FILES / 20);
    for (int seed = 2; seed < 5; seed++) {
      for (long item : shuffled(FILES, seed)) {
        assertThat(policy.offer(item, ItemHash.of(item), weight(item)).evicted()).isEmpty();
      }
    }
  }

  @Property(tries = 100)
  void anyOrder_sameResidents(
      @ForAll @IntRange(min = 1, max = 300) int files,
      @ForAll @DoubleRange(min = 0.01, max = 1.1) double c,
      @ForAll long seed,
      @ForAll long otherSeed) {
    CachePolicy one = Policies.create("minio-hash", (long) (c * dataset(files)), 1);
    CachePolicy two = Policies.create("minio-hash", (long) (c * dataset(files)), 2);
    epoch(one, shuffled(files, seed));
    epoch(two, shuffled(files, otherSeed));
    assertThat(residents(one, files)).isEqualTo(residents(two, files));
  }

  @Test
  void capacity_growsOrShrinks_residentsAreThoseOfThatCapacity() {
    CachePolicy policy = policy(dataset(FILES));
    epoch(policy, shuffled(FILES, 1));
    Set<Long> before = residents(policy, FILES);
    policy.resize(policy.capacity() / 2);
    assertThat(before).containsAll(residents(policy, FILES));
    epoch(policy, shuffled(FILES, 2));
    assertThat(before).containsAll(residents(policy, FILES));
    policy.resize(policy.capacity() * 2);
    epoch(policy, shuffled(FILES, 3));
    assertThat(residents(policy, FILES)).isEqualTo(before);
  }

  /** An item whose version changes comes back, and its old entries do not pile up. */
  @Test
  void items_thatChangeOften_comeBack() {
    CachePolicy policy = Policies.create("minio-hash", 1_000, 1);
    for (int round = 0; round < 1_000; round++) {
      for (long item = 0; item < 3; item++) {
        policy.remove(item);
        assertThat(policy.offer(item, ItemHash.of(item), 1).admitted()).isTrue();
      }
      policy.remove(1_000 + round);
      policy.offer(1_001 + round, ItemHash.of(1_001 + round), 1);
    }
    policy.check();
    assertThat(policy.residentItems()).isEqualTo(4);
  }

  @Test
  void datasetThatFits_isResidentWhole() {
    CachePolicy policy = Policies.create("minio-hash", dataset(100), 1);
    policy.datasetSize(dataset(100));
    epoch(policy, shuffled(100, 1));
    assertThat(residents(policy, 100)).hasSize(100);
  }
}
