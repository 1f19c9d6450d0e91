package io.holdfast.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.List;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

/** Whom each policy gives up, in small. Every item weighs 1 where nothing else is said. */
final class EvictionsTest {

  private static CachePolicy policy(String name, long capacity, int... reads) {
    CachePolicy policy = Policies.create(name, capacity, 1);
    read(policy, reads);
    return policy;
  }

  /** Reads items; returns the hits. */
  private static int read(CachePolicy policy, int... items) {
    int hits = 0;
    for (int item : items) {
      hits += policy.contains(item) ? 1 : 0;
      policy.access(item);
      policy.offer(item, ItemHash.of(item), 1);
    }
    policy.check();
    return hits;
  }

  private static List<Integer> residents(CachePolicy policy) {
    return IntStream.range(0, 100).filter(policy::contains).boxed().toList();
  }

  @Test
  void lru_givesUpWhatWasUsedLongestAgo() {
    CachePolicy policy = policy("lru", 3, 1, 2, 3, 1, 4);
    assertThat(residents(policy)).containsExactly(1, 3, 4);
    policy.access(3);
    assertThat(policy.resize(1)).containsExactly(1, 4);
  }

  @Test
  void fifo_givesUpWhatCameFirst() {
    CachePolicy policy = policy("fifo", 3, 1, 2, 3, 1, 4);
    assertThat(residents(policy)).containsExactly(2, 3, 4);
    policy.access(2);
    assertThat(policy.resize(1)).containsExactly(2, 3);
  }

  @Test
  void random_neverGivesUpTheNewcomer() {
    CachePolicy policy = policy("random", 2);
    for (int item = 0; item < 1_000; item++) {
      Outcome outcome = policy.offer(item, item, 1);
      assertThat(outcome.admitted()).isTrue();
      assertThat(outcome.evicted()).hasSize(item < 2 ? 0 : 1);
    }
    assertThat(policy.resize(0)).hasSize(2);
    assertThat(policy("random", 1, 5, 6).contains(6)).isTrue();
  }

  @Test
  void largeNewcomer_takesThePlaceOfSeveral() {
    CachePolicy policy = policy("lru", 4, 1, 2, 3, 4);
    assertThat(policy.offer(9, 9, 3).evicted()).containsExactly(1, 2, 3);
    assertThat(policy.offer(10, 10, 5)).hasToString("refused, 0 evicted");
    assertThat(policy.offer(11, 11, 4)).hasToString("admitted, 2 evicted");
  }

  @Test
  void kept_isNeverGivenUpForANewcomer() {
    CachePolicy policy = policy("lru", 3, 1, 2, 3);
    assertThat(policy.keep(1, 1).evicted()).isEmpty();
    assertThat(policy.keep(7, 1).evicted()).containsExactly(2);
    read(policy, 10, 11, 12, 13);
    assertThat(residents(policy)).containsExactly(1, 7, 13);
    assertThat(policy.offer(20, 20, 2).admitted()).as("beside what is kept").isFalse();
    assertThat(policy.keep(8, 1).evicted()).containsExactly(13);
    assertThat(policy.keep(9, 1).admitted()).as("all is kept").isFalse();
    assertThat(policy.residentBytes()).isEqualTo(3);
    assertThat(policy.residentItems()).isEqualTo(3);
    assertThat(policy.remove(7)).isTrue();
    assertThat(read(policy, 30, 30)).isEqualTo(1);
    assertThat(policy.resize(2)).containsExactly(30);
    assertThat(policy.resize(1)).hasSize(1);
    policy.check();
  }

  // Linux

  /**
   * An item that is used again while it is inactive becomes active, and a scan does not evict it.
   */
  @Test
  void linux_usedTwice_survivesAScan() {
    CachePolicy policy = policy("linux", 8, 1, 2, 1, 2);
    read(policy, IntStream.range(10, 60).toArray());
    assertThat(residents(policy)).contains(1, 2);
    CachePolicy once = policy("linux", 8, 1, 2);
    read(once, IntStream.range(10, 60).toArray());
    assertThat(residents(once)).doesNotContain(1, 2);
  }

  /** An item that comes back within the refault distance goes to the active list at once. */
  @Test
  void linux_refault_isActivated() {
    CachePolicy policy = policy("linux", 6, 1, 2, 3, 1, 2, 3, 10, 11, 12, 13, 14);
    // 10 and 11 were reclaimed; 3 are active; 11 comes back after less than that
    assertThat(residents(policy)).containsExactly(1, 2, 3, 12, 13, 14);
    read(policy, 11);
    read(policy, IntStream.range(20, 24).toArray());
    assertThat(residents(policy)).contains(11);
    // 10 comes back late: it goes as others do
    read(policy, 10);
    read(policy, IntStream.range(30, 40).toArray());
    assertThat(residents(policy)).doesNotContain(10);
  }

  /** The active list is not for ever: while it is the longer its tail becomes inactive. */
  @Test
  void linux_longActiveList_shrinks() {
    CachePolicy policy = policy("linux", 4, 1, 2, 3, 4, 1, 2, 3, 4);
    read(policy, IntStream.range(10, 50).toArray());
    assertThat(residents(policy)).filteredOn(item -> item < 10).hasSizeLessThan(4);
  }

  /** The newcomer was given up at once when all others were active: nobody else was inactive. */
  @Test
  void linux_allActive_newcomerStays() {
    CachePolicy policy = policy("linux", 4, 1, 2, 3, 4, 1, 2, 3, 4, 10);
    assertThat(policy.contains(10)).isTrue();
    assertThat(residents(policy)).hasSize(4);
  }

  @Test
  void linux_removed_leavesNoShadow() {
    CachePolicy policy = policy("linux", 4, 1, 2, 1, 2, 3);
    policy.remove(3);
    policy.remove(1);
    policy.check();
    read(policy, 3, 4, 5, 6, 7);
    assertThat(policy.contains(3)).isFalse();
  }

  // Belady

  @Property(tries = 200)
  void belady_equalSizes_nobodyHitsMore(
      @ForAll @Size(min = 1, max = 200) List<@IntRange(min = 0, max = 20) Integer> reads,
      @ForAll @IntRange(min = 1, max = 15) int capacity) {
    int[] accesses = reads.stream().mapToInt(Integer::intValue).toArray();
    int bound = read(Policies.belady(capacity, accesses, 21), accesses);
    for (String name : Policies.names()) {
      if (!name.equals("unbounded")) {
        assertThat(read(policy(name, capacity), accesses)).as(name).isLessThanOrEqualTo(bound);
      }
    }
  }

  /** An exhaustive search over all that could be resident agrees. */
  @Property(tries = 200)
  void belady_equalSizes_isTheOptimum(
      @ForAll @Size(max = 14) List<@IntRange(min = 0, max = 5) Integer> reads,
      @ForAll @IntRange(min = 1, max = 3) int capacity) {
    int[] accesses = reads.stream().mapToInt(Integer::intValue).toArray();
    assertThat(read(Policies.belady(capacity, accesses, 6), accesses))
        .isEqualTo(optimum(accesses, capacity));
  }

  /** Hits of the best choice: a table over sets of residents, as bits. */
  private static int optimum(int[] accesses, int capacity) {
    int[] best = new int[1 << 6];
    java.util.Arrays.fill(best, -1);
    best[0] = 0;
    for (int item : accesses) {
      int[] next = new int[1 << 6];
      java.util.Arrays.fill(next, -1);
      for (int set = 0; set < best.length; set++) {
        if (best[set] < 0) {
          continue;
        }
        boolean hit = (set >> item & 1) == 1;
        int hits = best[set] + (hit ? 1 : 0);
        for (int sub = 0; sub < best.length; sub++) {
          boolean reachable = (sub & ~(set | 1 << item)) == 0 && Integer.bitCount(sub) <= capacity;
          if (reachable) {
            next[sub] = Math.max(next[sub], hits);
          }
        }
      }
      best = next;
    }
    return IntStream.of(best).max().orElseThrow();
  }

  @Test
  void belady_unforeseenAccess_isToldOf() {
    CachePolicy policy = Policies.belady(2, new int[] {1, 2}, 3);
    policy.access(1);
    assertThatIllegalStateException()
        .isThrownBy(() -> policy.access(0))
        .withMessage("access 1 was not foreseen: item 0");
  }

  @Test
  void belady_removed_isForgotten() {
    CachePolicy policy = Policies.belady(2, new int[] {1, 2, 0, 1, 2}, 3);
    read(policy, 1, 2);
    assertThat(policy.remove(1)).isTrue();
    read(policy, 0);
    policy.check();
    assertThat(policy.name()).isEqualTo("belady");
  }

  // TinyLFU

  /** Caffeine begins to count when the cache is half full. */
  @Test
  void tinylfu_oftenUsed_survivesAScan() {
    CachePolicy policy = policy("tinylfu", 100, IntStream.range(1_000, 1_100).toArray());
    for (int round = 0; round < 8; round++) {
      read(policy, 1, 2, 3, 4, 5);
    }
    read(policy, IntStream.range(2_000, 2_100).toArray());
    assertThat(residents(policy)).containsExactly(1, 2, 3, 4, 5);
  }

  @Test
  void tinylfu_itemBeyondAnInt_isRefused() {
    CachePolicy policy = Policies.create("tinylfu", Long.MAX_VALUE / 4, 1);
    assertThat(policy.offer(1, 1, Integer.MAX_VALUE).admitted()).isTrue();
    assertThat(policy.offer(2, 2, Integer.MAX_VALUE + 1L).admitted()).isFalse();
    assertThat(policy.wouldAdmit(2, 2, Integer.MAX_VALUE + 1L)).isFalse();
    policy.check();
  }

  @Test
  void unbounded_keepsEverythingWhateverTheCapacity() {
    CachePolicy policy = policy("unbounded", 1, IntStream.range(0, 100).toArray());
    assertThat(policy.residentItems()).isEqualTo(100);
    assertThat(policy.capacity()).isEqualTo(Long.MAX_VALUE);
  }
}
