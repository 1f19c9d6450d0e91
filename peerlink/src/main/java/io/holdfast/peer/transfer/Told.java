package io.holdfast.peer.transfer;

/**
 * A peer's answer to the request for its sketch. Immutable.
 *
 * @param outcome the outcome of the request
 * @param sketch the sketch, in ASCII, if it {@link TransferResult#isFetched()}; otherwise empty
 */
public record Told(TransferResult outcome, String sketch) {}
