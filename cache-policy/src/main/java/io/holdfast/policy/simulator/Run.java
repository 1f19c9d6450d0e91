package io.holdfast.policy.simulator;

import java.util.List;

/**
 * The result of one policy at one capacity.
 *
 * @param policy the policy's name
 * @param capacity bytes, of each node
 * @param scenario the scenario
 * @param epochs results of the epochs, in order
 */
public record Run(String policy, long capacity, Scenario scenario, List<Epoch> epochs) {

  /** Makes the list immutable. */
  public Run {
    epochs = List.copyOf(epochs);
  }

  /**
   * The reads of all nodes and jobs together in one epoch.
   *
   * @param epoch from 1
   * @param accesses items read
   * @param hits items that were resident on the reader's own node
   * @param memoryBytes bytes read from the own node's memory
   * @param peerBytes bytes read from other nodes' memory
   * @param originBytes bytes read from the origin
   * @param pushedBytes bytes that a node gave to another one that did not read them
   */
  public record Epoch(
      int epoch,
      long accesses,
      long hits,
      long memoryBytes,
      long peerBytes,
      long originBytes,
      long pushedBytes) {

    /** Returns the share of items that were hits; 0 where nothing was read. */
    public double hitRatio() {
      return accesses == 0 ? 0 : (double) hits / accesses;
    }

    /** Returns the share of bytes that came from the own node's memory. */
    public double byteHitRatio() {
      return share(memoryBytes);
    }

    /** Returns the share of bytes that came from other nodes' memory. */
    public double peerShare() {
      return share(peerBytes);
    }

    /** Returns the share of bytes that came from the origin. */
    public double originShare() {
      return share(originBytes);
    }

    /** Returns the bytes that went from node to node, as a share of the bytes read. */
    public double movedShare() {
      return share(peerBytes + pushedBytes);
    }

    /** Returns the bytes read. */
    public long bytes() {
      return memoryBytes + peerBytes + originBytes;
    }

    private double share(long part) {
      return bytes() == 0 ? 0 : (double) part / bytes();
    }
  }

  /** Returns the epochs after the first, or the only one. */
  public List<Epoch> later() {
    return epochs.size() == 1 ? epochs : epochs.subList(1, epochs.size());
  }

  /** Returns the mean hit ratio of the epochs after the first, or of the only one. */
  public double laterHitRatio() {
    return later().stream().mapToDouble(Epoch::hitRatio).average().orElse(0);
  }
}
