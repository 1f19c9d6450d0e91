/**
 * How an item's bytes travel: HTTP/1.1 with connections that are kept, on Netty. The entry is
 * {@link io.holdfast.peer.transfer.Transfer}. Behind it, {@link
 * io.holdfast.peer.transfer.ItemServer} answers, from an {@link
 * io.holdfast.peer.transfer.ItemProvider}, and {@link io.holdfast.peer.transfer.ItemClient} asks;
 * {@link io.holdfast.peer.transfer.Session} is how both know whom they speak with.
 */
@NullMarked
package io.holdfast.peer.transfer;

import org.jspecify.annotations.NullMarked;
