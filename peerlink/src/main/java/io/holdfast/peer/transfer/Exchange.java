package io.holdfast.peer.transfer;

import io.netty.handler.codec.http.HttpMethod;
import java.util.concurrent.CompletableFuture;

/**
 * One request to a peer, until its outcome. Its fields that change belong to the peer's event loop.
 */
final class Exchange {
  final HttpMethod method;
  final ItemRequest request;

  /** Where the bytes go; nothing is written there once the outcome is known. */
  final long address;

  final long began = System.nanoTime();
  final CompletableFuture<Outcome> outcome = new CompletableFuture<>();

  /** When it was sent, or its connection begun, as {@link System#nanoTime()} tells it. */
  long sent;

  /** It was asked on a kept connection which turned out to be closed. */
  boolean again;

  /** It waits for a connection. */
  boolean waiting;

  Exchange(HttpMethod method, ItemRequest request, long address) {
    this.method = method;
    this.request = request;
    this.address = address;
  }

  boolean isFetch() {
    return HttpMethod.GET.equals(method);
  }
}
