package io.holdfast.fs.checkpoint;

/**
 * How often a job should save: CheckFreq's rule (Mohan et al., FAST 2021, section 4.3) for the
 * interval k in iterations,
 *
 * <pre>
 * k = max(1, ceil((T_total - T_stall) / T_iteration)), and then so large that the overhead &lt;= p
 * </pre>
 *
 * where T_total is the time until a checkpoint is durable and T_stall the part of it in which the
 * program was blocked: one checkpoint is in flight at a time, and the overhead stays below the
 * bound p. Deviations: CheckFreq adds 2 to k as long as the overhead that it measures is above p,
 * and never goes back. Here k is computed anew from the last measurements, so it follows the store
 * both ways; and the overhead is (T_stall + T_work) / (k T_iteration), where T_work is what
 * iterations lose if they keep all processors busy: the daemon's processor time over their number.
 *
 * @param intervalIterations k; 0 if the time of an iteration is not known
 * @param intervalSeconds the same in seconds; 0 if nothing was saved yet
 * @param overhead the part of the time that the program loses at that interval, 0 to 1
 */
public record Advice(long intervalIterations, double intervalSeconds, double overhead) {
  /** The bound of the overhead that CheckFreq reports. */
  public static final double DEFAULT_BOUND = 0.035;

  /**
   * Computes the advice.
   *
   * @param total seconds from the first write of a save until the store has it
   * @param blocked seconds of these in which the program waited
   * @param work seconds that a save takes from iterations while the program is not blocked
   * @param iteration seconds of an iteration; 0 if not known
   * @param bound of the overhead, above 0 and below 1
   */
  public static Advice of(
      double total, double blocked, double work, double iteration, double bound) {
    if (total <= 0) {
      return new Advice(0, 0, 0);
    }
    double lost = blocked + work;
    double least = Math.max(total - blocked, lost / bound);
    if (iteration <= 0) {
      return new Advice(0, least, lost / least);
    }
    long k = Math.max(1, (long) Math.ceil(least / iteration - ROUNDING));
    return new Advice(k, k * iteration, lost / (k * iteration));
  }

  /** Rounding alone may put a quotient so much above a whole number. */
  private static final double ROUNDING = 1e-9;
}
