package io.holdfast.peer.transfer;

import io.holdfast.peer.NodeAddress;

/**
 * Who asks for an item. Immutable.
 *
 * @param node which
 * @param sketches what it takes its own dataset for, and this node's
 */
public record Asker(NodeAddress node, Sketches sketches) {}
