package io.holdfast.peer.transfer;

import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

/** One request to a peer, until its outcome. Its mutable fields belong to the peer's event loop. */
abstract class Exchange {
  private static final TransferResult FULL_HEAP = TransferResult.fault("the heap is full");

  final long began = System.nanoTime();
  final CompletableFuture<TransferResult> outcome = new CompletableFuture<>();

  /** When it was sent, or its connection begun, by {@link System#nanoTime()}. */
  long sent;

  /** It was sent on a kept connection that the peer had closed. */
  boolean again;

  /** It waits for a connection. */
  boolean waiting;

  private final AtomicBoolean begun = new AtomicBoolean();

  /**
   * Begins the exchange; returns false where it has begun before. With a full heap, an event loop
   * may run a task that it seemed to have rejected, and its memory may be gone by then.
   */
  final boolean begin() {
    return begun.compareAndSet(false, true);
  }

  /** Ends with a fault, in any case: others wait for the outcome. */
  final void fail(String detail) {
    TransferResult result = FULL_HEAP;
    try {
      result = TransferResult.fault(detail);
    } finally {
      outcome.complete(result);
    }
  }

  /** Creates the request. */
  abstract FullHttpRequest request();

  /** Creates the sink for an answer with this head. */
  abstract Sink sink(HttpResponse head);

  /** Tells whether the peer fetches something from its origin if it has to. */
  abstract boolean mayNeedOrigin();

  /** Returns the bytes of the item that it fetches; -1 for another kind of request. */
  abstract int itemBytes();
}
