package io.holdfast.fs.analyze;

import io.holdfast.fs.throughput.Evidence;

/**
 * Whose epochs are analysed. Immutable.
 *
 * @param job its name
 * @param mount where it read
 * @param datasetBytes what the whole dataset has; 0 if that is not known
 * @param memoryPerByte bytes of whole pages that a byte of its files takes in memory
 * @param site where it ran
 */
public record Subject(
    String job, String mount, long datasetBytes, double memoryPerByte, Evidence.Site site) {
  /** Creates one whose files have so many pages each that the last one does not count. */
  public Subject(String job, String mount, long datasetBytes, Evidence.Site site) {
    this(job, mount, datasetBytes, 1, site);
  }
}
