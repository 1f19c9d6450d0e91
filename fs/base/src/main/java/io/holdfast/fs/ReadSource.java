package io.holdfast.fs;

/** The source of the bytes of a read or a fetch. */
public enum ReadSource {
  /** The bytes were here already: resident, or in transit. */
  MEMORY,
  /** Another node of the cluster. */
  PEER,
  /** The dataset's store. */
  ORIGIN
}
