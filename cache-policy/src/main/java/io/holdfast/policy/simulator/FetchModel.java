package io.holdfast.policy.simulator;

/**
 * How fast a job is fed, from where its bytes come: DS-Analyzer's model (Mohan et al., "Analyzing
 * and Mitigating Data Stalls in DNN Training", PVLDB 14(5), 2021, section 4), with peers as a third
 * tier. All rates are bytes per second. Immutable.
 *
 * @param origin what the origin gives
 * @param memory what resident items give
 * @param network what peers give
 * @param demand what the job takes when it never waits: the lower of what its preparation and its
 *     accelerators can do
 */
public record FetchModel(double origin, double memory, double network, double demand) {

  /**
   * Checks the rates.
   *
   * @throws IllegalArgumentException if one is not above 0
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
   * @param memoryShare of the bytes, from 0 to 1
   * @param peerShare of the bytes; the origin gives the rest
   */
  public double fetchRate(double memoryShare, double peerShare) {
    double originShare = Math.max(0, 1 - memoryShare - peerShare);
    return 1 / (memoryShare / memory + peerShare / network + originShare / origin);
  }

  /** Returns the rate at which the job runs: the lower of F and its demand. */
  public double speed(double memoryShare, double peerShare) {
    return Math.min(fetchRate(memoryShare, peerShare), demand);
  }

  /** Returns the seconds that an epoch takes. */
  public double seconds(Run.Epoch epoch) {
    return epoch.bytes() / speed(epoch.byteHitRatio(), epoch.peerShare());
  }

  /**
   * Returns the byte hit ratio beyond which more memory brings nothing, since the job's demand is
   * met: x* = (1/S - 1/m) / (1/S - 1/C), with no peers. 0 where the origin alone meets it, and 1
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
