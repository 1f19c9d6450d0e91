package io.holdfast.policy;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Policy;
import java.util.ArrayDeque;
import java.util.Map;

/**
 * W-TinyLFU as Caffeine implements it: a newcomer first lives in a small window, and replaces a
 * resident only if it was used more often, by an approximate count that ages (Einziger, Friedman
 * and Manes, "TinyLFU: A Highly Efficient Cache Admission Policy", ACM TOS 13(4), 2017).
 *
 * <p>For skewed access, such as importance sampling. Over permutations every item is used equally
 * often, and it comes near {@code minio} without its guarantee.
 *
 * <p>Deviations: between items that were both used often Caffeine lets the newcomer win once in 128
 * times, by a random of its own: two runs may differ by some items, which no other policy's do. An
 * item of more than 2 GiB is never resident.
 *
 * <p>Cost: Caffeine's, some 150 bytes a resident.
 */
final class TinyLfu implements Admission, Eviction {

  private final ArrayDeque<Long> evicted = new ArrayDeque<>();
  private final Cache<Long, Integer> cache;
  private final Policy.Eviction<Long, Integer> bound;

  TinyLfu() {
    cache =
        Caffeine.newBuilder()
            .maximumWeight(0)
            .<Long, Integer>weigher((id, weight) -> weight)
            .executor(Runnable::run)
            .evictionListener((id, weight, cause) -> evicted.add(id))
            .build();
    bound = cache.policy().eviction().orElseThrow();
  }

  @Override
  public boolean admits(long id, long hash, long weight) {
    return weight <= Integer.MAX_VALUE;
  }

  @Override
  public boolean replaces() {
    return true;
  }

  @Override
  public void admitted(long id, long hash, long weight) {
    cache.put(id, (int) weight);
    cache.cleanUp();
  }

  @Override
  public void accessed(long id) {
    Integer unused = cache.getIfPresent(id);
  }

  @Override
  public long victim(ResidentTable residents) {
    return evicted.remove();
  }

  @Override
  public void removed(long id, ResidentTable residents) {
    cache.invalidate(id);
  }

  @Override
  public void roomMade(long bytes) {
    bound.setMaximum(bytes);
    cache.cleanUp();
  }

  @Override
  public void check(ResidentTable residents) {
    Map<Long, Integer> all = cache.asMap();
    Checks.sameItems("Caffeine", all.keySet(), residents);
  }
}
