package io.holdfast.fs;

/** Where the bytes of a read, or of a fetch, came from. */
public enum ReadSource {
  /** They were here already: resident, or in transit. */
  MEMORY,
  /** Another node of the cluster. */
  PEER,
  /** The dataset's store. */
  ORIGIN
}
