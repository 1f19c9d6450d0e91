package io.holdfast.fs.plan;

/**
 * The plan's answer about an item that this node wants. Immutable.
 *
 * @param holder the address of the node that is asked for the item; this node's own where it has
 *     the item, or fetches it from the origin and keeps it; empty where it fetches the item from
 *     the origin and does not keep it
 * @param isHere whether the holder is this node
 * @param keeps whether this node keeps the item
 */
public record PlannedItem(String holder, boolean isHere, boolean keeps) {}
