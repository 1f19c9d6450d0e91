package io.holdfast.fs.memory;

import io.holdfast.fs.figures.MemoryFigures;

/**
 * Memory that others use as well: the machine's, or that of a cgroup. Immutable.
 *
 * <p>Some of it is to stay free at any time, the reserve: 1/50 of the whole, from 32 MiB to 4 GiB;
 * twice as much while tasks stall for want of memory for 10 % of their time (PSI, {@code some
 * avg10}).
 *
 * @param place who it is, for people
 * @param total bytes
 * @param available what could be had of it without taking any from a process, in bytes
 * @param stalled percent of the last ten seconds in which some task waited for memory; 0 where the
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

  /** Returns what is to stay free, in bytes. */
  public long reserve() {
    long reserve = Math.max(LEAST_RESERVE, Math.min(LARGEST_RESERVE, total / SHARE));
    return isStalling() ? 2 * reserve : reserve;
  }

  /** Returns what is missing of a reserve that many times as large; below 0 what is left. */
  long missing(int times) {
    return times * reserve() - available;
  }

  MemoryFigures.Room figures() {
    return new MemoryFigures.Room(place, total, available, reserve(), stalled);
  }
}
