package io.holdfast.fs.checkpoint;

/**
 * How often a job should save: CheckFreq's rule (Mohan et al., FAST 2021, section 4.3) for the
 * interval k in iterations,
 *
 * <pre>
 * k = max(1, ceil((T_total - T_stall) / T_iteration)), and then so large that T_stall / (k T_iteration) &lt;= p
 * </pre>
 *
 * where T_total is the time until a checkpoint is durable and T_stall the part of it in which the
 * program was blocked: one checkpoint is in flight at a time, and the overhead stays below the
 * bound p. Deviation: CheckFreq adds 2 to k as long as the overhead is above p, and never goes
 * back. Here k is computed anew from the last measurements, so it follows the store both ways.
 *
 * @param intervalIterations k; 0 if the time of an iteration is not known
 * @param intervalSeconds the same in seconds; 0 if nothing was saved yet
 * @param overhead the part of the time in which the program is blocked at that interval, 0 to 1
 */
public record Advice(long intervalIterations, double intervalSeconds, double overhead) {
  /** The bound of the overhead that CheckFreq reports. */
  public static final double DEFAULT_BOUND = 0.035;

  /**
   * Computes the advice.
   *
   * @param total seconds from the first write of a save until the store has it
   * @param blocked seconds of these in which the program waited
   * @param iteration seconds of an iteration; 0 if not known
   * @param bound of the overhead, above 0 and below 1
   */
  public static Advice of(double total, double blocked, double iteration, double bound) {
    if (total <= 0) {
      return new Advice(0, 0, 0);
    }
    double least = Math.max(total - blocked, blocked / bound);
    if (iteration <= 0) {
      return new Advice(0, least, blocked / least);
    }
    long k = Math.max(1, (long) Math.ceil(least / iteration - ROUNDING));
    return new Advice(k, k * iteration, blocked / (k * iteration));
  }

  /** Rounding alone may put a quotient so much above a whole number. */
  private static final double ROUNDING = 1e-9;
}
