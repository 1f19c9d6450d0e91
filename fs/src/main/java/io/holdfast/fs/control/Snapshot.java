package io.holdfast.fs.control;

/** What a control file said at one moment. Immutable; nobody changes the content. */
final class Snapshot {
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
  Snapshot(long node, String name, byte[] content, long made) {
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
