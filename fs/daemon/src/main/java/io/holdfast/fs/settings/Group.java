package io.holdfast.fs.settings;

/** What settings are about. They are listed in this order. */
public enum Group {
  /** The two arguments of mount. */
  PLACES(""),
  MEMORY("What is kept in memory"),
  MOUNT("How the mount behaves"),
  /** They mean nothing where the source is a directory. */
  S3("A source in S3"),
  /** They mean nothing without an address to listen at. */
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
