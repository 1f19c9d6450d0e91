package io.holdfast.policy;

import java.util.TreeSet;

/**
 * Selects the items whose hash is below a threshold: a uniform share of the dataset, the same after
 * every restart and on every node, in whatever order items are offered.
 *
 * <p>The share that fits is unknown before all items have been seen, so the threshold corrects
 * itself. If the dataset's size is known, the threshold begins at capacity / dataset, and a little
 * above, since hashes are not perfectly even; otherwise it admits everything. When the items below
 * it do not fit, the resident with the greatest hash is evicted, and the threshold falls to its
 * hash. In the end the residents are the items with the smallest hashes, taken in order of hash
 * until the first that does not fit: a sample "bottom k" by weight (Cohen and Kaplan, "Summarizing
 * Data using Bottom-k Sketches", PODC 2007), with k given by the capacity. When there is more room,
 * or the dataset proves smaller, the threshold begins anew.
 *
 * <p>Deviation from a plain threshold: residents may be evicted during the first epoch, fewer the
 * better the size was known; never after it.
 *
 * <p>Cost: logarithmic time, some 75 bytes a resident.
 */
final class HashShare implements Admission, Eviction {

  /** Factor above capacity / dataset: five standard deviations of 10,000 equal items at a third. */
  private static final double SLACK = 1.05;

  /** Most entries of removed items before they are cleared. */
  private static final int STALE = 64;

  /** All residents, and some removed items. */
  private final TreeSet<Hashed> byHash = new TreeSet<>();

  private long room;
  private long datasetBytes;

  /** The greatest hash, unsigned, that the known sizes admit. */
  private long expected = -1L;

  /** Hashes from here on, unsigned, did not fit; none yet if {@link #overflowed} is false. */
  private long overflow;

  private boolean overflowed;

  /** An item by its hash; the id distinguishes items with the same hash. */
  private record Hashed(long hash, long id) implements Comparable<Hashed> {
    @Override
    public int compareTo(Hashed other) {
      int order = Long.compareUnsigned(hash, other.hash);
      return order == 0 ? Long.compare(id, other.id) : order;
    }
  }

  @Override
  public boolean admits(long id, long hash, long weight) {
    return Long.compareUnsigned(hash, expected) <= 0
        && (!overflowed || Long.compareUnsigned(hash, overflow) < 0);
  }

  @Override
  public boolean replaces() {
    return true;
  }

  @Override
  public long victim(ResidentTable table) {
    Hashed greatest = byHash.pollLast();
    while (table.weight(greatest.id) == ResidentTable.ABSENT) {
      greatest = byHash.pollLast();
    }
    overflow = greatest.hash;
    overflowed = true;
    return greatest.id;
  }

  @Override
  public void admitted(long id, long hash, long weight) {
    byHash.add(new Hashed(hash, id));
  }

  @Override
  public void removed(long id, ResidentTable table) {
    if (byHash.size() > 2L * table.size() + STALE) {
      byHash.removeIf(each -> table.weight(each.id) == ResidentTable.ABSENT);
    }
  }

  @Override
  public void roomChanged(long newRoom) {
    if (newRoom > room) {
      overflowed = false;
    }
    room = newRoom;
    expect();
  }

  @Override
  public void datasetSized(long bytes) {
    if (bytes < datasetBytes) {
      overflowed = false;
    }
    datasetBytes = bytes;
    expect();
  }

  private void expect() {
    double share = datasetBytes == 0 ? 1 : SLACK * room / datasetBytes;
    expected = share >= 1 ? -1L : fraction(share);
  }

  /** Returns the unsigned number at a share of all 64-bit numbers. */
  private static long fraction(double share) {
    return (long) (share * 0x1p63) << 1;
  }

  @Override
  public void check(ResidentTable table) {
    Checks.sameItems(
        "order of hashes",
        byHash.stream()
            .map(Hashed::id)
            .filter(id -> table.weight(id) != ResidentTable.ABSENT)
            .toList(),
        table);
  }
}
