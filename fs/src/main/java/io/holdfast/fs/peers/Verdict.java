package io.holdfast.fs.peers;

/**
 * Whether a peer has the same dataset as this node, as far as is known. Immutable.
 *
 * @param kind of the three
 * @param theirs digest of the sketch that it told; empty where it told none
 * @param shared whether both read one store
 * @param heard whether the peer found it out, and this node did not
 * @param detail what differs, or why nothing is known; empty where they have the same
 */
record Verdict(Kind kind, String theirs, boolean shared, boolean heard, String detail) {
  /** What may come of a comparison. */
  enum Kind {
    /** It has the same dataset: items are taken from it and given to it. */
    SAME,
    /** It calls another dataset by this id: nothing is. */
    OTHER,
    /** It could not be found out yet: nothing is, until it can. */
    UNKNOWN
  }

  static Verdict unknown(String why) {
    return new Verdict(Kind.UNKNOWN, "", false, false, why);
  }

  static Verdict same(String theirs, boolean shared) {
    return new Verdict(Kind.SAME, theirs, shared, false, "");
  }

  static Verdict other(String theirs, String detail) {
    return new Verdict(Kind.OTHER, theirs, false, false, detail);
  }

  static Verdict heard(String theirs) {
    return new Verdict(
        Kind.OTHER, theirs, false, true, "it found that itself, and its log says what differs");
  }

  boolean isSame() {
    return kind == Kind.SAME;
  }
}
