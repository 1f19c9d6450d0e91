/**
 * The memory of this node, with its daemons: {@link io.holdfast.fs.allocate.node.BudgetJoin} gives
 * a mount that begins its part of the node's budget, {@link
 * io.holdfast.fs.allocate.node.NodeMounts} asks all daemons what an allocation needs, {@link
 * io.holdfast.fs.allocate.node.CapacityChanges} has them change, and {@link
 * io.holdfast.fs.allocate.node.AllocationWatch} goes on with that.
 */
@NullMarked
package io.holdfast.fs.allocate.node;

import org.jspecify.annotations.NullMarked;
