package io.holdfast.peer;

/**
 * A member of a cluster. Immutable.
 *
 * @param address the address that it listens at, and its name
 * @param dataset the dataset that it serves
 * @param capacityBytes bytes that its residents may take: its weight in the placement
 */
public record ClusterNode(NodeAddress address, SharedDataset dataset, long capacityBytes) {}
