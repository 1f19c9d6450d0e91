package io.holdfast.fs.peers;

/**
 * Whether a peer has the same dataset as this node. Immutable.
 *
 * @param kind the result
 * @param theirs digest of the peer's sketch; empty where it sent none
 * @param shared whether both nodes read one store
 * @param heard whether only the peer found the difference
 * @param detail the difference, or why the result is unknown; empty for the same dataset
 */
record Verdict(Kind kind, String theirs, boolean shared, boolean heard, String detail) {
  /** The result of a comparison. */
  enum Kind {
    /** The peer has the same dataset: items are exchanged. */
    SAME,
    /** The peer has another dataset under the same id: no items are exchanged. */
    OTHER,
    /** Not known yet: no items are exchanged until then. */
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
