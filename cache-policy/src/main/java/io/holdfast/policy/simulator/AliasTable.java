package io.holdfast.policy.simulator;

import java.util.SplittableRandom;

/**
 * Draws from a fixed distribution over 0 to n - 1 in constant time (Vose, "A Linear Algorithm for
 * Generating Random Numbers with a Given Distribution", IEEE TSE 17(9), 1991). Immutable; 12 bytes
 * a value.
 */
final class AliasTable {
  private final double[] keep;
  private final int[] alias;

  private AliasTable(double[] weights) {
    int n = weights.length;
    double total = 0;
    for (double weight : weights) {
      total += weight;
    }
    keep = new double[n];
    alias = new int[n];
    int[] work = new int[n];
    int small = 0;
    int large = n;
    for (int i = 0; i < n; i++) {
      keep[i] = weights[i] * n / total;
      if (keep[i] < 1) {
        work[small++] = i;
      } else {
        work[--large] = i;
      }
    }
    while (small > 0 && large < n) {
      int less = work[--small];
      int more = work[large];
      alias[less] = more;
      keep[more] -= 1 - keep[less];
      if (keep[more] < 1) {
        large++;
        work[small++] = more;
      }
    }
    // rounding leaves some values over on either side, which keep their own slot
    while (small > 0) {
      keep[work[--small]] = 1;
    }
    while (large < n) {
      keep[work[large++]] = 1;
    }
  }

  /** Creates a table that draws the value i in proportion to 1 / (i + 1)^exponent. */
  static AliasTable zipf(int values, double exponent) {
    if (!(exponent >= 0)) {
      throw new IllegalArgumentException("the skew must be at least 0: " + exponent);
    }
    double[] weights = new double[values];
    for (int i = 0; i < values; i++) {
      weights[i] = Math.pow(i + 1.0, -exponent);
    }
    return new AliasTable(weights);
  }

  int draw(SplittableRandom random) {
    int i = random.nextInt(keep.length);
    return random.nextDouble() < keep[i] ? i : alias[i];
  }
}
