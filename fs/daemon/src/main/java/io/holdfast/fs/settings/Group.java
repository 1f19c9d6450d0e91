package io.holdfast.fs.settings;

/** The groups of settings, in the order in which they are listed. */
public enum Group {
  /** The two arguments of mount. */
  PLACES(""),
  MEMORY("What is kept in memory"),
  MOUNT("How the mount behaves"),
  /** They have no meaning if the source is a directory. */
  S3("A source in S3"),
  /** They have no meaning without an address to listen at. */
  PEERS("Other nodes with the same dataset"),
  DAEMON("The daemon and its log"),
  MONITORING("Watching it");

  private final String title;

  Group(String title) {
    this.title = title;
  }

  /** Returns the heading of the options in a help. */
  public String title() {
    return title;
  }
}
