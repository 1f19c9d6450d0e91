package io.holdfast.peer.transfer;

/**
 * A text that a peer tells of itself: its sketch, or its offer of a plan. Immutable.
 *
 * @param outcome the outcome of the request
 * @param text the text, in ASCII, if it {@link TransferResult#isFetched()}; otherwise empty
 */
public record Told(TransferResult outcome, String text) {}
