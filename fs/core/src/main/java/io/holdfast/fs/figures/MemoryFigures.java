package io.holdfast.fs.figures;

import java.util.List;

/**
 * What the mount takes of its ceiling, and for whom residents make way. Immutable.
 *
 * @param peakBytes the most that it has taken when it was looked at
 * @param state ok, limited, shrinking or growing
 * @param cause what residents make way for; empty for nothing
 * @param minBytes what residents keep in any case
 * @param allowedBytes what residents may take now
 */
public record MemoryFigures(
    long limitBytes,
    long usedBytes,
    long peakBytes,
    long residentBytes,
    long windowBytes,
    long transitBytes,
    long metadataBytes,
    long heapBytes,
    long virtualMachineBytes,
    long kernelBytes,
    long otherBytes,
    String state,
    String cause,
    long capacityBytes,
    long minBytes,
    long allowedBytes,
    long givenUpBytes,
    long givenUpItems,
    long givenUpTimes,
    List<Room> rooms) {

  /** The machine's memory, or that of a cgroup of the daemon. Immutable. */
  public record Room(
      String place,
      long totalBytes,
      long availableBytes,
      long reserveBytes,
      double stalledPercent) {}
}
