package io.holdfast.fs.stats;

/** Tells whether the processes of a job live. */
public enum JobLife {
  /** One of them lives. */
  ALIVE,

  /** All that were seen have ended, and no process lives that has started one of them. */
  ENDED,

  /**
   * The daemon cannot tell: it has seen none, one may be hidden, or the process that has started
   * them may start others.
   */
  UNKNOWN
}
