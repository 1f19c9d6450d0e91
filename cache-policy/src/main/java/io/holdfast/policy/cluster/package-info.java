/**
 * Decides which of the nodes that share their memory keeps which item, where the orders of all of
 * them are known: {@link io.holdfast.policy.cluster.CooperativeCache}.
 */
@NullMarked
package io.holdfast.policy.cluster;

import org.jspecify.annotations.NullMarked;
