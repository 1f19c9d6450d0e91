package io.holdfast.fs.settings;

/** The users who see single jobs and processes, and names of files. */
public enum StatsAudience {
  /** Root and the user that mounted; other users see sums. */
  OWNER,
  /** Every user that may use the mount, and every scrape. */
  ALL
}
