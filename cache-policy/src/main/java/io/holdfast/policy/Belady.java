package io.holdfast.policy;

import java.util.Arrays;
import java.util.TreeSet;

/**
 * Gives up what will not be used for longest, and refuses what will be used later than all that is
 * resident: Belady's MIN with bypass ("A study of replacement algorithms for a virtual-storage
 * computer", IBM Systems Journal 5(2), 1966). Clairvoyant, so it is only good for a bound.
 *
 * <p>With items of one size nothing hits more often. With mixed sizes that is no longer so: the
 * optimum is then NP-hard, and this is a good bound only.
 *
 * <p>Cost: logarithmic time; 4 bytes an access, 4 an item, and some 70 a resident.
 */
final class Belady implements Admission, Eviction {
  private static final int NEVER = Integer.MAX_VALUE;

  /** For each access, the place of the same item's next one. */
  private final int[] nextUses;

  /** For each item, the place of its next access as of now. */
  private final int[] nextUse;

  /** Residents, those of the latest next use at the end. */
  private final TreeSet<Long> byNextUse = new TreeSet<>();

  private int done;

  /**
   * Creates it.
   *
   * @param accesses every access there will be, in order
   * @param items how many items there are, counted from 0
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
