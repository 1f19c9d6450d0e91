package io.holdfast.peer.transfer;

import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import java.util.concurrent.CompletableFuture;

/**
 * One request to a peer, until its outcome. Its fields that change belong to the peer's event loop.
 */
abstract class Exchange {
  final long began = System.nanoTime();
  final CompletableFuture<Outcome> outcome = new CompletableFuture<>();

  /** When it was sent, or its connection begun, as {@link System#nanoTime()} tells it. */
  long sent;

  /** It was asked on a kept connection which turned out to be closed. */
  boolean again;

  /** It waits for a connection. */
  boolean waiting;

  /** Writes the request. */
  abstract FullHttpRequest request();

  /** Makes what takes the answer with this head. */
  abstract Sink sink(HttpResponse head);

  /** Returns how many bytes of an item it brings; -1 where it is for something else. */
  abstract int itemBytes();
}
