package io.holdfast.fs.throughput;

import java.util.List;

/**
 * The speed that a job reaches at least, from epochs in which its origin was hardly used, so that
 * its rate is not known. Three facts of closed queueing networks hold for any origin:
 *
 * <ul>
 *   <li>With more in memory the job is no slower.
 *   <li>With less in memory it takes no less from the origin in a second: more of its readers wait
 *       there.
 *   <li>With fewer readers each is no slower, nor does it wait longer for a file than before.
 * </ul>
 *
 * Immutable.
 *
 * @param epochs what was seen
 * @param processing seconds of a processor for each byte
 * @param processors those that its readers can use
 */
record LeastSpeed(List<Observation> epochs, double processing, int processors) {

  /**
   * Returns bytes per second; 0 if nothing can be told.
   *
   * @param with not less than what was seen, but for memory and readers
   * @param nodes those that were seen
   */
  double of(Setup with, int nodes) {
    return with.nodes() == nodes
        ? epochs.stream().mapToDouble(seen -> of(with, seen)).max().orElse(0)
        : 0;
  }

  private double of(Setup with, Observation seen) {
    double missing = 1 - with.hitShare();
    boolean hasAsMuch = missing <= 1 - seen.hitShare();
    double speed = hasAsMuch ? seen.speed() : seen.originSpeed() / missing;
    double part = (double) with.readers() / seen.readers();
    if (part >= 1) {
      return speed;
    }
    double fewer = hasAsMuch && processing > 0 ? fewer(with, seen) : 0;
    return Math.max(part * speed, Math.min(speed, fewer));
  }

  /** Returns how fast fewer readers are who wait for each byte as long as those that were seen. */
  private double fewer(Setup with, Observation seen) {
    double blocked = seen.waitingForOrigin() + seen.waitingForPeers();
    double delay = blocked * seen.readerSeconds() / seen.epoch().bytes();
    return new ReaderNetwork(0, 1, delay, processing, processors).throughput(with.readers());
  }
}
