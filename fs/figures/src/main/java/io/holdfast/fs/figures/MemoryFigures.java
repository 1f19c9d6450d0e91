package io.holdfast.fs.figures;

import java.util.List;

/**
 * The memory of the mount below its ceiling, and the reason why residents make way. Immutable.
 *
 * @param peakBytes the most that a look has found it to take
 * @param state ok, limited, shrinking or growing
 * @param cause the reason why residents make way; empty if they do not
 * @param minBytes the bytes that residents keep in any case
 * @param allowedBytes the most that residents may take now
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

  /** Tells whether residents may take less than the capacity now. */
  public boolean isLimited() {
    return !state.isEmpty() && !state.equals("ok");
  }

  /** The machine's memory, or that of a cgroup of the daemon. Immutable. */
  public record Room(
      String place,
      long totalBytes,
      long availableBytes,
      long reserveBytes,
      double stalledPercent) {}
}
