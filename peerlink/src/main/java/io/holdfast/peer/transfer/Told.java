package io.holdfast.peer.transfer;

/**
 * A text that a peer tells of itself: its sketch, or its offer of a plan. Immutable.
 *
 * @param outcome the outcome of the request
 * @param name names the text, by its digest, if it {@link TransferResult#isFetched()}; otherwise
 *     empty
 * @param text the text, in ASCII; empty if it was not fetched, or if the asker knew a text of this
 *     name. Of a text that is longer than the asker wanted, the first part, with one letter too
 *     many
 */
public record Told(TransferResult outcome, String name, String text) {}
