/**
 * The transfer of items: HTTP/1.1 over kept connections, on Netty. The entry is {@link
 * io.holdfast.peer.transfer.Transfer}. {@link io.holdfast.peer.transfer.ItemServer} answers
 * requests from an {@link io.holdfast.peer.transfer.ItemProvider}. {@link
 * io.holdfast.peer.transfer.ItemClient} sends requests. {@link
 * io.holdfast.peer.transfer.AuthenticatedSession} authenticates both sides.
 */
@NullMarked
package io.holdfast.peer.transfer;

import org.jspecify.annotations.NullMarked;
