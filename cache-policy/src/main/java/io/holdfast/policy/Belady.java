package io.holdfast.policy;

import java.util.Arrays;
import java.util.TreeSet;

/**
 * Evicts the item that will not be used for longest, and refuses an item that will be used later
 * than all residents: Belady's MIN with bypass ("A study of replacement algorithms for a
 * virtual-storage computer", IBM Systems Journal 5(2), 1966). Clairvoyant, so it serves only as a
 * bound.
 *
 * <p>With items of one size, no policy hits more often. With mixed sizes the optimum is NP-hard,
 * and this is only a good bound.
 *
 * <p>Cost: logarithmic time; 4 bytes an access, 4 an item, and some 70 a resident.
 */
final class Belady implements Admission, Eviction {
  private static final int NEVER = Integer.MAX_VALUE;

  /** For each access, the index of the same item's next access. */
  private final int[] nextUses;

  /** For each item, the index of its next access from now on. */
  private final int[] nextUse;

  /** Residents in the order of their next use; the latest is last. */
  private final TreeSet<Long> byNextUse = new TreeSet<>();

  private int done;

  /**
   * Creates it.
   *
   * @param accesses all accesses, in order
   * @param items number of items, counted from 0
   */
  Belady(int[] accesses, int items) {
    nextUse = new int[items];
    Arrays.fill(nextUse, NEVER);
    nextUses = new int[accesses.length];
    for (int i = accesses.length - 1; i >= 0; i--) {
      nextUses[i] = nextUse[accesses[i]];
      nextUse[accesses[i]] = i;
    }
  }

  private long key(long id) {
    return (long) nextUse[(int) id] << Integer.SIZE | id;
  }

  @Override
  public boolean admits(long id, long hash, long weight) {
    return true;
  }

  @Override
  public void seen(long id) {
    if (nextUse[(int) id] != done) {
      throw new IllegalStateException("access " + done + " was not foreseen: item " + id);
    }
    boolean resident = byNextUse.remove(key(id));
    nextUse[(int) id] = nextUses[done++];
    if (resident) {
      byNextUse.add(key(id));
    }
  }

  @Override
  public boolean replaces() {
    return true;
  }

  @Override
  public long victim(ResidentTable residents) {
    return byNextUse.last() & 0xffff_ffffL;
  }

  @Override
  public void admitted(long id, long hash, long weight) {
    byNextUse.add(key(id));
  }

  @Override
  public void removed(long id, ResidentTable residents) {
    byNextUse.remove(key(id));
  }

  @Override
  public void check(ResidentTable residents) {
    Checks.sameItems(
        "order of next uses",
        byNextUse.stream().map(key -> key & 0xffff_ffffL).toList(),
        residents);
  }
}
