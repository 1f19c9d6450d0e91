package io.holdfast.fs.memory;

import io.holdfast.fs.figures.MemoryFigures;

/**
 * Memory that others use as well: the machine's, or that of a cgroup. Immutable.
 *
 * <p>A part of it, the reserve, should stay free at any time: 1/50 of the whole, from 32 MiB to 4
 * GiB. The reserve doubles while tasks stall for memory for 10 % of the time (PSI, {@code some
 * avg10}).
 *
 * @param place the name of the machine or the cgroup, for people
 * @param total bytes
 * @param available bytes that could be had without taking any from a process
 * @param stalled percent of the last ten seconds in which some task waited for memory; 0 if the
 *     kernel does not tell
 */
public record Room(String place, long total, long available, double stalled) {
  private static final int SHARE = 50;
  private static final long LEAST_RESERVE = 32L << 20;
  private static final long LARGEST_RESERVE = 4L << 30;
  private static final double STALLING = 10;

  /** Tells whether tasks stall. */
  boolean isStalling() {
    return stalled >= STALLING;
  }

  /** Returns the bytes that should stay free. */
  public long reserve() {
    long reserve = Math.max(LEAST_RESERVE, Math.min(LARGEST_RESERVE, total / SHARE));
    return isStalling() ? 2 * reserve : reserve;
  }

  /** Returns the bytes that are missing of so many reserves; below 0 if more is left. */
  long missing(int times) {
    return times * reserve() - available;
  }

  MemoryFigures.Room figures() {
    return new MemoryFigures.Room(place, total, available, reserve(), stalled);
  }
}
