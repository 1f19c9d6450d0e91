/**
 * The members of a cluster, found and watched with JGroups, as immutable views. The entry is {@link
 * io.holdfast.peer.membership.Membership}.
 */
@NullMarked
package io.holdfast.peer.membership;

import org.jspecify.annotations.NullMarked;
