package io.holdfast.peer.transfer;

import io.holdfast.peer.NodeAddress;

/**
 * The node that sent a request. Immutable.
 *
 * @param node its address
 * @param sketches the sketches of both datasets, as it knows them
 */
public record Asker(NodeAddress node, Sketches sketches) {}
