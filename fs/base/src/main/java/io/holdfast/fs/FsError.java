package io.holdfast.fs;

/**
 * The errors of a request, in the words of the domain. A binding maps each value to exactly one
 * errno; nothing else in the filesystem knows errno values of replies.
 */
public enum FsError {
  /** There is no such entry at the origin. */
  NOT_FOUND,
  /** A component of the path is no directory. */
  NOT_DIRECTORY,
  /** A directory was named where a file is needed. */
  IS_DIRECTORY,
  /** The origin does not let the daemon do this. */
  ACCESS_DENIED,
  /** The origin refuses the operation whatever the rights. */
  NOT_PERMITTED,
  /** A name or path is longer than the origin can hold. */
  NAME_TOO_LONG,
  /** The path leads through a symlink where the daemon follows none. */
  SYMLINK,
  /** An argument makes no sense for this entry. */
  INVALID,
  /** The entry has no such extended attribute. */
  NO_ATTRIBUTE,
  /** The caller's buffer is too small for the value. */
  RANGE,
  /** The origin, or this filesystem, does not offer the operation. */
  UNSUPPORTED,
  /** The origin has another version by now than the one that was asked for. */
  STALE,
  /** Every source failed. */
  IO,
  /** No source answered before the deadline. */
  TIMED_OUT,
  /** The origin has not answered for so long that the daemon does not ask it until it does. */
  ORIGIN_SILENT,
  /** Too little memory to answer. */
  NO_MEMORY,
  /** Another node has what the request needs. */
  BUSY,
  /** The machine or the settings lack something that the daemon cannot work without. */
  UNAVAILABLE
}
