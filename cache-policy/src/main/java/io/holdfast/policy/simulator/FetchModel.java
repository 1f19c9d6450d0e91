package io.holdfast.policy.simulator;

/**
 * The rate at which a job gets its data, by the sources of its bytes: DS-Analyzer's model (Mohan et
 * al., "Analyzing and Mitigating Data Stalls in DNN Training", PVLDB 14(5), 2021, section 4), with
 * peers as a third tier. All rates are in bytes per second. Immutable.
 *
 * @param origin rate of the origin
 * @param memory rate of resident items
 * @param network rate of peers
 * @param demand rate of the job when it never waits: the lower of the rates of its preparation and
 *     its accelerators
 */
public record FetchModel(double origin, double memory, double network, double demand) {

  /**
   * Checks the rates.
   *
   * @throws IllegalArgumentException if a rate is not greater than 0
   */
  public FetchModel {
    if (!(origin > 0 && memory > 0 && network > 0 && demand > 0)) {
      throw new IllegalArgumentException(
          "rates must be above 0: origin %s, memory %s, network %s, demand %s"
              .formatted(origin, memory, network, demand));
    }
  }

  /**
   * Returns F, the rate at which items can be fetched.
   *
   * @param memoryShare share of the bytes from memory, from 0 to 1
   * @param peerShare share of the bytes from peers; the rest comes from the origin
   */
  public double fetchRate(double memoryShare, double peerShare) {
    double originShare = Math.max(0, 1 - memoryShare - peerShare);
    return 1 / (memoryShare / memory + peerShare / network + originShare / origin);
  }

  /** Returns the rate at which the job runs: the lower of F and its demand. */
  public double speed(double memoryShare, double peerShare) {
    return Math.min(fetchRate(memoryShare, peerShare), demand);
  }

  /** Returns the duration of an epoch in seconds. */
  public double seconds(Run.Epoch epoch) {
    return epoch.bytes() / speed(epoch.byteHitRatio(), epoch.peerShare());
  }

  /**
   * Returns the byte hit ratio from which more memory does not help, since the job's demand is met:
   * x* = (1/S - 1/m) / (1/S - 1/C), without peers. 0 where the origin alone meets the demand, and 1
   * where memory itself does not.
   */
  public double sufficientHitRatio() {
    if (demand <= origin) {
      return 0;
    }
    if (demand >= memory) {
      return 1;
    }
    return (1 / origin - 1 / demand) / (1 / origin - 1 / memory);
  }
}
