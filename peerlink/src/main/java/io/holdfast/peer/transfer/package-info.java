/**
 * How an item's bytes travel: HTTP/1.1 with connections that are kept, on Netty. {@link
 * io.holdfast.peer.transfer.ItemServer} answers, from an {@link
 * io.holdfast.peer.transfer.ItemProvider}; {@link io.holdfast.peer.transfer.ItemClient} asks.
 */
@NullMarked
package io.holdfast.peer.transfer;

import org.jspecify.annotations.NullMarked;
