package io.holdfast.policy.simulator;

/** Told how far a simulation has come; called on the thread that simulates. */
@FunctionalInterface
public interface Progress {

  /** Nobody wants to know. */
  Progress NONE = accesses -> {};

  /** So many further accesses are done. */
  void advanced(long accesses);
}
