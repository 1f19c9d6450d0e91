package io.holdfast.peer.transfer;

import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;

/** A request for an item, or the message that this node holds an item. */
final class ItemExchange extends Exchange {
  final ItemRequest item;

  /** The memory for the bytes; no byte is written there once the outcome is known. */
  final long address;

  private final HttpMethod method;
  private final Sketches sketches;

  ItemExchange(HttpMethod method, Sketches sketches, ItemRequest item, long address) {
    this.method = method;
    this.sketches = sketches;
    this.item = item;
    this.address = address;
  }

  boolean isFetch() {
    return HttpMethod.GET.equals(method);
  }

  @Override
  FullHttpRequest request() {
    FullHttpRequest request = ItemMessages.request(method, item);
    request.headers().set(HttpNames.SKETCHES, sketches.toString());
    return request;
  }

  @Override
  Sink sink(HttpResponse head) {
    return new ItemSink(this, head);
  }

  @Override
  boolean mayNeedOrigin() {
    return isFetch() && !item.onlyIfCached();
  }

  @Override
  int itemBytes() {
    return isFetch() ? item.length() : -1;
  }
}
