package io.holdfast.peer.transfer;

import org.jspecify.annotations.Nullable;

/**
 * The result of a request to a peer. Immutable.
 *
 * @param kind the kind of result
 * @param refusal why a healthy peer sent no bytes
 * @param detail for the log; empty where the bytes have arrived
 */
public record TransferResult(Kind kind, @Nullable Refusal refusal, String detail) {
  /** The kinds of results. */
  public enum Kind {
    /** All bytes have arrived and were verified. */
    FETCHED,
    /** The peer is healthy and refuses to send the bytes. */
    REFUSED,
    /** The peer or the network has a fault; requests to the peer are suspended for a while. */
    FAULT,
    /** The request was not sent, because requests to the peer are suspended. */
    SUSPECT
  }

  /** All bytes have arrived. */
  public static final TransferResult FETCHED = new TransferResult(Kind.FETCHED, null, "");

  /** The request was not sent. */
  public static final TransferResult SUSPECT =
      new TransferResult(Kind.SUSPECT, null, "left alone for a while");

  /** Returns the result of a refused request. */
  public static TransferResult refused(Refusal refusal) {
    return new TransferResult(Kind.REFUSED, refusal, "");
  }

  /** Returns the result of a fault. */
  public static TransferResult fault(String detail) {
    return new TransferResult(Kind.FAULT, null, detail);
  }

  /** Tells whether the bytes have arrived. */
  public boolean isFetched() {
    return kind == Kind.FETCHED;
  }
}
