package io.holdfast.policy;

import java.util.LinkedHashMap;

/**
 * Evicts the resident at the head of a queue. Newcomers join at the tail. LRU moves a used resident
 * to the tail as well; FIFO leaves it in place.
 *
 * <p>Over epochs that are fresh permutations, LRU's hit ratio is c + (1 - c) ln(1 - c), where c is
 * the share of the dataset that fits: LRU evicts the items that will be used soonest. On a cyclic
 * scan it has no hits. It is no model of Linux's page cache; {@link LinuxPageCache} is.
 *
 * <p>Cost: constant time, some 80 bytes a resident.
 */
final class QueueEviction implements Eviction {
  private static final int INITIAL = 16;
  private static final float LOAD = 0.75f;

  private final LinkedHashMap<Long, Boolean> queue;

  private QueueEviction(boolean byUse) {
    queue = new LinkedHashMap<>(INITIAL, LOAD, byUse);
  }

  static Eviction leastRecentlyUsed() {
    return new QueueEviction(true);
  }

  static Eviction firstInFirstOut() {
    return new QueueEviction(false);
  }

  @Override
  public boolean replaces() {
    return true;
  }

  @Override
  public long victim(ResidentTable residents) {
    return queue.keySet().iterator().next();
  }

  @Override
  public void admitted(long id, long hash, long weight) {
    queue.put(id, true);
  }

  @Override
  public void accessed(long id) {
    queue.get(id);
  }

  @Override
  public void removed(long id, ResidentTable residents) {
    queue.remove(id);
  }

  @Override
  public void check(ResidentTable residents) {
    Checks.sameItems("queue", queue.keySet(), residents);
  }
}
