package io.holdfast.policy;

import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A model of how Linux reclaims page cache: what a dataset gets without Holdfast.
 *
 * <p>Two lists. What is read for the first time goes to the inactive list; what is used again while
 * it is there moves to the active list. Reclaim takes from the inactive list's tail, and moves the
 * active list's tail to the inactive one while the active list is the longer. What is reclaimed
 * leaves a shadow that tells when: if it comes back, and no more has been reclaimed or activated
 * since than the active list holds (its refault distance), it would have stayed on a longer
 * inactive list, and goes to the active one. See mm/workingset.c and mm/vmscan.c of Linux 6, and
 * Johannes Weiner, "Thrash detection-based file cache sizing", 2013.
 *
 * <p>Deviations: whole items instead of pages, one memory group, no dirty pages, nothing mapped, no
 * anonymous memory. How fast the active list is scanned while it is the longer depends on both
 * lists' lengths, on priorities and on batches; here it is one in {@link #SCAN} of what is
 * reclaimed, a figure fitted to the two ratios that the CoorDL paper measured (15 % hits at a
 * capacity of 35 % of the dataset, 47 % at 65 %).
 *
 * <p>Cost: constant time, some 150 bytes a resident, and 60 for each shadow; there are at most as
 * many shadows as items.
 */
final class LinuxPageCache implements Eviction {
  private static final int INITIAL = 16;
  private static final float LOAD = 0.75f;

  /**
   * Evictions from the inactive list for each item that moves from the active list while that is
   * longer.
   */
  private static final int SCAN = 4;

  /** Both lists are in the order of addition or last use; the latest is last. */
  private final LinkedHashMap<Long, Long> inactive = new LinkedHashMap<>(INITIAL, LOAD, true);

  private final LinkedHashMap<Long, Long> active = new LinkedHashMap<>(INITIAL, LOAD, true);
  private final Map<Long, Long> shadows = new HashMap<>();
  private long inactiveBytes;
  private long activeBytes;

  /** Bytes reclaimed or activated so far: the clock of refault distances. */
  private long age;

  private int scanned;
  private long newest;

  @Override
  public boolean replaces() {
    return true;
  }

  @Override
  public void admitted(long id, long hash, long weight) {
    newest = id;
    Long reclaimedAt = shadows.remove(id);
    if (reclaimedAt != null && age - reclaimedAt <= activeBytes) {
      activate(id, weight);
    } else {
      inactive.put(id, weight);
      inactiveBytes += weight;
    }
  }

  @Override
  public void accessed(long id) {
    Long weight = inactive.remove(id);
    if (weight != null) {
      inactiveBytes -= weight;
      activate(id, weight);
    }
    // The active list is not reordered by use: the kernel marks a page, and looks at the mark only
    // when the page's turn comes.
  }

  private void activate(long id, long weight) {
    active.put(id, weight);
    activeBytes += weight;
    age += weight;
  }

  @Override
  public long victim(ResidentTable residents) {
    boolean low = activeBytes > inactiveBytes;
    // the item that was just read is not evicted while there is any other
    boolean exhausted = inactive.size() <= 1 && !active.isEmpty();
    if (exhausted || (low && ++scanned % SCAN == 0)) {
      Iterator<Map.Entry<Long, Long>> oldest = active.entrySet().iterator();
      Map.Entry<Long, Long> entry = oldest.next();
      oldest.remove();
      activeBytes -= entry.getValue();
      inactive.put(entry.getKey(), entry.getValue());
      inactiveBytes += entry.getValue();
    }
    Iterator<Long> tail = inactive.keySet().iterator();
    long reclaimed = tail.next();
    if (reclaimed == newest && tail.hasNext()) {
      reclaimed = tail.next();
    }
    shadows.put(reclaimed, age);
    age += inactive.get(reclaimed);
    return reclaimed;
  }

  @Override
  public void removed(long id, ResidentTable residents) {
    Long weight = inactive.remove(id);
    if (weight != null) {
      inactiveBytes -= weight;
    } else {
      weight = active.remove(id);
      activeBytes -= weight;
    }
  }

  @Override
  public void check(ResidentTable residents) {
    Map<Long, Long> both = new HashMap<>(inactive);
    both.putAll(active);
    Checks.sameItems("lists", both.keySet(), residents);
    if (inactive.size() + active.size() != both.size()) {
      throw new IllegalStateException("an item is on both lists");
    }
  }
}
