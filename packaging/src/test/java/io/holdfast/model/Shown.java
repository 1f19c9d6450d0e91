package io.holdfast.model;

/**
 * The entry that a name shows, as far as the model tells versions apart. Immutable.
 *
 * @param size bytes of a file, or of a link's target; else 0
 * @param modified of a file, which no two contents share, in seconds since 1970; else 0
 * @param more the target of a link; the errno if nothing is there; else empty
 */
record Shown(Kind kind, long size, long modified, String more) {
  static final Shown DIRECTORY = new Shown(Kind.DIRECTORY, 0, 0, "");

  /** The kinds of entries at a name. */
  enum Kind {
    NOTHING,
    FILE,
    DIRECTORY,
    LINK
  }

  static Shown nothing(String errno) {
    return new Shown(Kind.NOTHING, 0, 0, errno);
  }

  static Shown file(long size, long modified) {
    return new Shown(Kind.FILE, size, modified, "");
  }

  static Shown link(String target) {
    return new Shown(Kind.LINK, target.length(), 0, target);
  }

  /** Returns a link as stat shows it, without its target. */
  static Shown linkOfLength(long length) {
    return new Shown(Kind.LINK, length, 0, "");
  }

  boolean isFile() {
    return kind == Kind.FILE;
  }

  boolean isThere() {
    return kind != Kind.NOTHING;
  }

  /** Tells whether stat would say the same of both. */
  boolean looksLike(Shown other) {
    return kind == other.kind && size == other.size && modified == other.modified;
  }
}
