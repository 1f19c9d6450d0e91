package io.holdfast.peer.transfer;

/**
 * What a peer told of its dataset. Immutable.
 *
 * @param outcome of asking
 * @param sketch the text, in ASCII, where it is {@link Outcome#isFetched()}; else empty
 */
public record Told(Outcome outcome, String sketch) {}
