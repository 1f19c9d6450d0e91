package io.holdfast.peer.transfer;

import org.jspecify.annotations.Nullable;

/**
 * How asking a peer ended. Immutable.
 *
 * @param kind what happened
 * @param refusal why there are no bytes, where the peer is well
 * @param detail for the log; empty where the bytes are there
 */
public record Outcome(Kind kind, @Nullable Refusal refusal, String detail) {
  /** What happened. */
  public enum Kind {
    /** All bytes are there, and were checked. */
    FETCHED,
    /** The peer is well and sends none. */
    REFUSED,
    /** The peer, or the way to it, is not well; it is left alone for a while. */
    FAULT,
    /** The peer was not asked, because it is being left alone. */
    SUSPECT
  }

  /** All bytes are there. */
  public static final Outcome FETCHED = new Outcome(Kind.FETCHED, null, "");

  /** The peer was not asked. */
  public static final Outcome SUSPECT = new Outcome(Kind.SUSPECT, null, "left alone for a while");

  /** The peer said why not. */
  public static Outcome refused(Refusal refusal) {
    return new Outcome(Kind.REFUSED, refusal, "");
  }

  /** Something went wrong. */
  public static Outcome fault(String detail) {
    return new Outcome(Kind.FAULT, null, detail);
  }

  /** Tells whether the bytes are there. */
  public boolean isFetched() {
    return kind == Kind.FETCHED;
  }
}
