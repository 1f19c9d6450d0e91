package io.holdfast.peer.transfer;

import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import java.util.concurrent.CompletableFuture;

/** One request to a peer, until its outcome. Its mutable fields belong to the peer's event loop. */
abstract class Exchange {
  final long began = System.nanoTime();
  final CompletableFuture<TransferResult> outcome = new CompletableFuture<>();

  /** When it was sent, or its connection begun, by {@link System#nanoTime()}. */
  long sent;

  /** It was sent on a kept connection that the peer had closed. */
  boolean again;

  /** It waits for a connection. */
  boolean waiting;

  /** Creates the request. */
  abstract FullHttpRequest request();

  /** Creates the sink for an answer with this head. */
  abstract Sink sink(HttpResponse head);

  /** Returns the bytes of the item that it fetches; -1 for another kind of request. */
  abstract int itemBytes();
}
