package io.holdfast.fs.settings;

/** Who is told of single jobs and processes, and of file names. */
public enum StatsAudience {
  /** Root and the user that mounted; the others are told sums. */
  OWNER,
  /** Every user that may use the mount, and whoever scrapes. */
  ALL
}
