package io.holdfast.fs.plan;

/**
 * Has a node that leaves a plan wait for the next epoch; after plans that ended in their first
 * epochs, twice as many epochs each time. Each move between a plan and the owners costs bytes.
 * Guarded by the monitor of {@link Plans}.
 */
final class PlanBackOff {
  /** The node waits for 2 to the power of so many epochs at most. */
  private static final int MOST_DOUBLINGS = 10;

  private int notBefore;

  /** How many plans in a row ended in their first epoch. */
  private int shortPlans;

  /** Tells whether the node may offer its part in an epoch. */
  boolean allows(int epoch) {
    return epoch >= notBefore;
  }

  /** Learns that a plan has ended. */
  void ended(boolean hasFollowedAnEpoch, int epoch) {
    shortPlans = hasFollowedAnEpoch ? 0 : shortPlans;
    notBefore = epoch + (1 << Math.min(shortPlans, MOST_DOUBLINGS));
    shortPlans++;
  }

  /** Learns that a job reads something else, or was started again. */
  void reset() {
    notBefore = 0;
    shortPlans = 0;
  }
}
