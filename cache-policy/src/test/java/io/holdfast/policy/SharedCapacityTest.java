package io.holdfast.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

final class SharedCapacityTest {
  private final SharedCapacity shared = new SharedCapacity(1_000);

  private CachePolicy join(String dataset, long guarantee, String policy) {
    return shared.join(dataset, guarantee, capacity -> Policies.create(policy, capacity, 1));
  }

  private static void fill(CachePolicy policy, int items, long weight) {
    for (long item = 0; item < items; item++) {
      policy.access(item);
      policy.offer(item, ItemHash.of(item), weight);
    }
    policy.check();
  }

  private static Set<Long> residents(CachePolicy policy) {
    return LongStream.range(0, 2_000).filter(policy::contains).boxed().collect(Collectors.toSet());
  }

  @Test
  void share_borrowsWhatIsSpareAndNoMore() {
    CachePolicy one = join("one", 300, "minio");
    CachePolicy two = join("two", 200, "minio");
    assertThat(shared.spare()).isEqualTo(500);
    fill(one, 2_000, 10);
    assertThat(one.residentBytes()).isEqualTo(800);
    assertThat(one.capacity()).isEqualTo(800);
    assertThat(shared.spare()).isZero();
    assertThat(one.wouldAdmit(5_000, 1, 1)).isFalse();
    fill(two, 2_000, 10);
    assertThat(two.residentBytes()).as("its guarantee").isEqualTo(200);
    assertThat(one.residentItems()).isEqualTo(80);
  }

  @Property(tries = 50)
  void neighbourThatThrashes_changesNoResident(@ForAll long seed) {
    for (String policy : Policies.mountable()) {
      SharedCapacity both = new SharedCapacity(1_000);
      CachePolicy calm =
          both.join("calm", 400, capacity -> Policies.create(policy, capacity, seed));
      CachePolicy wild = both.join("wild", 300, capacity -> Policies.create("lru", capacity, seed));
      fill(calm, 2_000, 7);
      Set<Long> before = residents(calm);
      Random random = new Random(seed);
      for (int i = 0; i < 3_000; i++) {
        long item = random.nextInt(500);
        wild.access(item);
        switch (random.nextInt(10)) {
          case 0 -> wild.remove(item);
          case 1 -> wild.keep(item, 1 + item % 20);
          default -> wild.offer(item, ItemHash.of(item), 1 + item % 20);
        }
        wild.check();
        assertThat(calm.residentBytes() + wild.residentBytes()).isLessThanOrEqualTo(1_000);
      }
      assertThat(residents(calm)).isEqualTo(before);
      assertThat(both.spare()).isNotNegative();
    }
  }

  @Test
  void remove_givesBackWhatWasBorrowed() {
    CachePolicy one = join("one", 100, "minio");
    fill(one, 50, 10);
    assertThat(one.capacity()).isEqualTo(500);
    for (long item = 0; item < 45; item++) {
      assertThat(one.remove(item)).isTrue();
      assertThat(one.remove(item)).isFalse();
    }
    assertThat(one.capacity()).isEqualTo(100);
    assertThat(shared.spare()).isEqualTo(900);
    assertThat(one.residentBytes()).isEqualTo(50);
  }

  @Test
  void offerThatIsRefusedAllTheSame_borrowsNothing() {
    CachePolicy none = join("none", 100, "none");
    fill(none, 20, 200);
    assertThat(none.capacity()).isEqualTo(100);
    assertThat(shared.spare()).isEqualTo(900);
  }

  /** The policy would not have it; it is kept all the same, and nobody makes way for it. */
  @Test
  void keep_policyThatAdmitsNothing_borrows() {
    CachePolicy none = join("none", 10, "none");
    assertThat(none.keep(1, 10).admitted()).isTrue();
    assertThat(none.keep(2, 500).evicted()).isEmpty();
    assertThat(none.capacity()).isEqualTo(510);
    assertThat(none.residentItems()).isEqualTo(2);
  }

  @Test
  void keep_borrowsToo() {
    CachePolicy one = join("one", 0, "minio");
    assertThat(one.keep(1, 1_000).admitted()).isTrue();
    assertThat(one.keep(2, 1).admitted()).isFalse();
    assertThat(one.residentItems()).isEqualTo(1);
  }

  @Test
  void reclaim_takesFromWhoBorrowedMost() {
    CachePolicy one = join("one", 100, "minio");
    CachePolicy two = join("two", 100, "minio");
    fill(one, 30, 10);
    fill(two, 60, 10);
    assertThat(shared.spare()).isEqualTo(100);
    Map<String, long[]> givenUp = shared.reclaim(300);
    assertThat(givenUp).containsOnlyKeys("two");
    assertThat(givenUp.get("two")).hasSize(20);
    assertThat(two.residentItems()).isEqualTo(40);
    assertThat(one.residentItems()).isEqualTo(30);
    assertThat(shared.reclaim(300)).isEmpty();
    assertThat(shared.reclaim(800)).containsOnlyKeys("two", "one");
    assertThat(one.capacity()).isEqualTo(100);
    assertThat(two.capacity()).isEqualTo(100);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> shared.reclaim(801))
        .withMessage(
            "200 bytes are guaranteed to others: of 1000 bytes no more than 800 can be had");
  }

  @Test
  void resize_changesTheGuarantee() {
    CachePolicy one = join("one", 100, "minio");
    join("two", 300, "minio");
    fill(one, 30, 10);
    assertThat(one.resize(200)).hasSize(10);
    assertThat(one.capacity()).isEqualTo(200);
    assertThat(one.resize(700)).isEmpty();
    assertThat(shared.spare()).isZero();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> one.resize(701))
        .withMessage("a guarantee of 701 bytes is not to be had: 700 are spare");
    assertThat(one.capacity()).isEqualTo(700);
  }

  @Test
  void joinAndLeave_whatIsNotToBeHad_isRefused() {
    join("one", 600, "minio");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> join("one", 1, "minio"))
        .withMessage("dataset 'one' has a share already");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> join("two", 401, "minio"))
        .withMessage("a guarantee of 401 bytes is not to be had: 400 are spare");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> join("two", -1, "minio"))
        .withMessage("a guarantee must not be negative: -1");
    join("two", 400, "minio");
    shared.leave("one");
    assertThat(shared.spare()).isEqualTo(600);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> shared.leave("one"))
        .withMessage("dataset 'one' has no share");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new SharedCapacity(-1))
        .withMessage("capacity must not be negative: -1");
    assertThat(new SharedCapacity(0).spare()).isZero();
  }

  @Test
  void share_wouldAdmit_whatFitsInItsOwnOrInWhatIsSpare() {
    CachePolicy one = join("one", 100, "minio");
    join("two", 800, "minio");
    assertThat(one.wouldAdmit(1, 1, 200)).isTrue();
    assertThat(one.wouldAdmit(1, 1, 201)).isFalse();
    assertThat(one.offer(1, 1, 150).admitted()).isTrue();
    assertThat(one.contains(1)).isTrue();
    assertThat(one.contains(2)).isFalse();
    assertThat(one.wouldAdmit(2, 2, 50)).isTrue();
    assertThat(one.wouldAdmit(2, 2, 51)).isFalse();
    assertThat(one.offer(2, 2, 51).admitted()).isFalse();
    assertThat(one.capacity()).isEqualTo(150);
    assertThat(one.offer(1, 1, 150).admitted()).as("resident").isTrue();
    assertThat(one.capacity()).isEqualTo(150);
  }

  @Test
  void share_passesOnWhatItsPolicyMustKnow() {
    CachePolicy lru = join("lru", 2, "lru");
    CachePolicy all = join("all", 998, "minio-hash");
    lru.offer(1, 1, 1);
    lru.offer(2, 2, 1);
    lru.access(1);
    assertThat(lru.offer(3, 3, 1).evicted()).containsExactly(2);
    all.datasetSize(998_000);
    assertThat(LongStream.range(0, 1_000).filter(id -> all.wouldAdmit(id, ItemHash.of(id), 1)))
        .hasSizeLessThan(10);
  }

  @Test
  void share_saysWhatItIs() {
    CachePolicy one = join("one", 600, "lru");
    one.offer(1, 1, 10);
    one.datasetSize(5);
    assertThat(one.name()).isEqualTo("lru");
    assertThat(one).hasToString("lru: 1 items, 10 of 600 bytes, 600 guaranteed");
  }
}
