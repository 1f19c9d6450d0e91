package io.holdfast.fs.control;

/** The content of a control file at one moment. Immutable; no caller changes the content. */
final class FileSnapshot {
  private final long node;
  private final String name;
  private final byte[] content;
  private final long made;
  private final long madeAt = System.currentTimeMillis() * 1_000_000;

  /**
   * Takes a snapshot.
   *
   * @param made when, by the ticker
   */
  FileSnapshot(long node, String name, byte[] content, long made) {
    this.node = node;
    this.name = name;
    this.content = content;
    this.made = made;
  }

  long node() {
    return node;
  }

  String name() {
    return name;
  }

  byte[] content() {
    return content;
  }

  /** Returns when it was made, by the ticker. */
  long made() {
    return made;
  }

  /** Returns the same by the calendar, in nanoseconds since 1970. */
  long madeAt() {
    return madeAt;
  }
}
