package io.holdfast.peer;

/**
 * A node as the view tells of it. Immutable.
 *
 * @param address where it listens, and its name
 * @param dataset what it serves
 * @param capacityBytes bytes that its residents may take: its weight in the placement
 */
public record Node(NodeAddress address, Dataset dataset, long capacityBytes) {}
