package io.holdfast.fs.cli;

/** What a look at a path has found. */
enum PathState {
  DIRECTORY,
  /** Something else than a directory. */
  OTHER,
  MISSING,
  DENIED,
  /** On a mount whose daemon is gone. */
  NOT_CONNECTED,
  /** No answer in time. */
  HUNG,
  /** Any other error. */
  FAILED
}
