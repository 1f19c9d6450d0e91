package io.holdfast.policy.simulator;

/** Learns of a simulation's progress, on the thread that simulates. */
@FunctionalInterface
public interface Progress {

  /** Ignores the progress. */
  Progress NONE = accesses -> {};

  /** Learns that further accesses are done. */
  void advanced(long accesses);
}
