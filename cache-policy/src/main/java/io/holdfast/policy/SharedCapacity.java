package io.holdfast.policy;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * One capacity for several datasets. Each has a guarantee, which nobody else can touch, and may
 * borrow of what is spare, first come, first served. What is borrowed goes back when the borrower's
 * items are removed, or when it is {@linkplain #reclaim reclaimed}; never because a neighbour wants
 * more. So a neighbour that thrashes changes no other dataset's residents by a single item.
 *
 * <p>Not thread-safe: one lock of the caller's guards this object and every share.
 */
public final class SharedCapacity {
  private final long total;
  private final Map<String, Share> shares = new LinkedHashMap<>();

  /** Makes the policy of one dataset. */
  @FunctionalInterface
  public interface PolicyMaker {
    /** Makes a policy with this capacity. */
    CachePolicy make(long capacity);
  }

  /**
   * Creates a capacity of which all is spare.
   *
   * @param total bytes
   * @throws IllegalArgumentException if it is negative
   */
  public SharedCapacity(long total) {
    if (total < 0) {
      throw new IllegalArgumentException("capacity must not be negative: " + total);
    }
    this.total = total;
  }

  /** Returns the bytes that are neither guaranteed to a dataset nor borrowed. */
  public long spare() {
    return total - shares.values().stream().mapToLong(Share::capacity).sum();
  }

  /**
   * Takes a dataset in.
   *
   * @param guarantee bytes; must be spare
   * @return its policy; to {@linkplain CachePolicy#resize resize} it is to change its guarantee,
   *     and gives back what it has borrowed
   * @throws IllegalArgumentException if the dataset is in, the guarantee is negative, or not spare
   */
  public CachePolicy join(String dataset, long guarantee, PolicyMaker policy) {
    if (shares.containsKey(dataset)) {
      throw new IllegalArgumentException("dataset '" + dataset + "' has a share already");
    }
    requireSpare(guarantee, spare());
    Share share = new Share(policy.make(guarantee), guarantee);
    shares.put(dataset, share);
    return share;
  }

  /** Lets a dataset go; all that it had is spare. Its policy must not be used any more. */
  public void leave(String dataset) {
    if (shares.remove(dataset) == null) {
      throw new IllegalArgumentException("dataset '" + dataset + "' has no share");
    }
  }

  /**
   * Takes back what is borrowed until so much is spare, from those first that have borrowed most.
   *
   * @return by dataset, the residents to give up; no longer resident on return
   */
  public Map<String, long[]> reclaim(long bytes) {
    Map<String, long[]> givenUp = new LinkedHashMap<>();
    while (spare() < bytes) {
      Map.Entry<String, Share> most = null;
      for (Map.Entry<String, Share> each : shares.entrySet()) {
        if (most == null || each.getValue().borrowed() > most.getValue().borrowed()) {
          most = each;
        }
      }
      if (most == null || most.getValue().borrowed() == 0) {
        throw new IllegalArgumentException(
            "%d bytes are guaranteed to others: of %d bytes no more than %d can be had"
                .formatted(total - spare(), total, spare()));
      }
      long back = Math.min(bytes - spare(), most.getValue().borrowed());
      givenUp.put(most.getKey(), most.getValue().giveBack(back));
    }
    return givenUp;
  }

  private static void requireSpare(long guarantee, long spare) {
    if (guarantee < 0) {
      throw new IllegalArgumentException("a guarantee must not be negative: " + guarantee);
    }
    if (guarantee > spare) {
      throw new IllegalArgumentException(
          "a guarantee of %d bytes is not to be had: %d are spare".formatted(guarantee, spare));
    }
  }

  /** What one dataset has: a policy whose capacity is its guarantee and what it has borrowed. */
  private final class Share implements CachePolicy {
    private final CachePolicy policy;
    private long guarantee;

    Share(CachePolicy policy, long guarantee) {
      this.policy = policy;
      this.guarantee = guarantee;
    }

    long borrowed() {
      return policy.capacity() - guarantee;
    }

    long[] giveBack(long bytes) {
      return policy.resize(policy.capacity() - bytes);
    }

    private long missing(long weight) {
      return weight - (policy.capacity() - policy.residentBytes());
    }

    /** Tells whether an item that has no room can have it by borrowing. */
    private boolean canBorrowFor(long id, long weight) {
      return missing(weight) > 0 && missing(weight) <= spare() && !policy.contains(id);
    }

    @Override
    public String name() {
      return policy.name();
    }

    @Override
    public long capacity() {
      return policy.capacity();
    }

    @Override
    public long residentBytes() {
      return policy.residentBytes();
    }

    @Override
    public long residentItems() {
      return policy.residentItems();
    }

    @Override
    public boolean contains(long id) {
      return policy.contains(id);
    }

    @Override
    public boolean wouldAdmit(long id, long hash, long weight) {
      return policy.wouldAdmit(id, hash, weight) || canBorrowFor(id, weight);
    }

    /** What is borrowed for an item that is refused all the same goes back. */
    @Override
    public Outcome offer(long id, long hash, long weight) {
      if (canBorrowFor(id, weight)) {
        long borrowed = missing(weight);
        policy.resize(policy.capacity() + borrowed);
        if (!policy.wouldAdmit(id, hash, weight)) {
          policy.resize(policy.capacity() - borrowed);
        }
      }
      return policy.offer(id, hash, weight);
    }

    @Override
    public Outcome keep(long id, long weight) {
      if (canBorrowFor(id, weight)) {
        policy.resize(policy.capacity() + missing(weight));
      }
      return policy.keep(id, weight);
    }

    @Override
    public boolean unkeep(long id, long hash) {
      return policy.unkeep(id, hash);
    }

    @Override
    public long keptBytes() {
      return policy.keptBytes();
    }

    @Override
    public long keptItems() {
      return policy.keptItems();
    }

    @Override
    public void access(long id) {
      policy.access(id);
    }

    @Override
    public void datasetSize(long bytes) {
      policy.datasetSize(bytes);
    }

    @Override
    public boolean remove(long id) {
      boolean removed = policy.remove(id);
      long back = Math.min(borrowed(), policy.capacity() - policy.residentBytes());
      if (removed && back > 0) {
        giveBack(back);
      }
      return removed;
    }

    @Override
    public long[] resize(long newGuarantee) {
      requireSpare(newGuarantee, spare() + policy.capacity());
      guarantee = newGuarantee;
      return policy.resize(newGuarantee);
    }

    @Override
    public void check() {
      policy.check();
      if (spare() < 0 || borrowed() < 0) {
        throw new IllegalStateException("spare %d, borrowed %d".formatted(spare(), borrowed()));
      }
    }

    @Override
    public String toString() {
      return policy + ", " + guarantee + " guaranteed";
    }
  }
}
