package io.holdfast.fs.throughput;

/**
 * How fast a number of readers is that all do the same: wait for the origin, which serves one after
 * the other, or for something that serves all at once, then compute on one of some processors. A
 * closed queueing network, solved by mean value analysis (Reiser and Lavenberg, JACM 27(2), 1980),
 * with the processors as one station that is the faster the more readers are at it.
 *
 * <p>Deviation: the origin's times vary little, so that a reader finds the one that is being served
 * about half done, and not as if it had just begun (Reiser, "A queueing network analysis of
 * computer communication networks with window flow control", 1979). Without this, speeds near the
 * knee come out a tenth too low. Never above what the slowest part allows.
 *
 * <p>Cost: the square of the number of readers. Immutable.
 *
 * @param originShare share of the bytes that come from the origin where readers queue, from 0 to 1
 * @param originRate bytes per second of that origin, greater than 0
 * @param delay seconds that a reader waits for each byte beside that, on average
 * @param processing seconds of a processor for each byte
 * @param processors at least 1
 */
record ReaderNetwork(
    double originShare, double originRate, double delay, double processing, int processors) {
  /** The squared coefficient of variation of an origin's times: sizes of files vary a little. */
  private static final double VARIATION = 0.2;

  /** The most readers that are computed exactly. More are no faster than these many times more. */
  private static final int MOST_READERS = 512;

  /**
   * Returns the bytes per second of all readers together.
   *
   * @param readers at least 1
   */
  double throughput(int readers) {
    int all = Math.min(readers, MOST_READERS);
    double service = 1 / originRate;
    double most = Math.min(limit(originShare * service), limit(processing / processors));
    double speed = 0;
    double queue = 0;
    double busy = 0;
    double[] computing = new double[all + 1];
    computing[0] = 1;
    for (int n = 1; n <= all; n++) {
      double atOrigin = originShare * service * (1 + queue - busy * (1 - VARIATION) / 2);
      double atProcessors = 0;
      for (int j = 1; j <= n; j++) {
        atProcessors += (double) j / Math.min(j, processors) * processing * computing[j - 1];
      }
      double round = atOrigin + delay + atProcessors;
      speed = Math.min(round == 0 ? Double.POSITIVE_INFINITY : n / round, most);
      if (Double.isInfinite(speed)) {
        return speed;
      }
      queue = speed * atOrigin;
      busy = speed * originShare * service;
      computing = next(computing, n, speed);
    }
    return Math.min(most, speed * readers / all);
  }

  /** Returns how likely how many readers compute, with one reader more. */
  private double[] next(double[] before, int readers, double speed) {
    double[] after = new double[before.length];
    double sum = 0;
    for (int j = 1; j <= readers; j++) {
      after[j] = processing * speed / Math.min(j, processors) * before[j - 1];
      sum += after[j];
    }
    after[0] = Math.max(0, 1 - sum);
    double total = sum + after[0];
    for (int j = 0; j <= readers; j++) {
      after[j] /= total;
    }
    return after;
  }

  private static double limit(double secondsPerByte) {
    return secondsPerByte == 0 ? Double.POSITIVE_INFINITY : 1 / secondsPerByte;
  }
}
