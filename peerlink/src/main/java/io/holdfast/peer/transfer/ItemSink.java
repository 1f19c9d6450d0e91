package io.holdfast.peer.transfer;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponse;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Takes the answer to one request for an item: checks that it answers this request, and writes the
 * bytes to their memory. Reports the bytes only after their digest has been verified. Belongs to
 * one event loop.
 */
final class ItemSink implements Sink {
  private static final int NO_CONTENT = 204;

  /** Most digits that always fit into a long. */
  private static final Pattern NUMBER = Pattern.compile("[0-9]{1,18}");

  private final ItemRequest request;
  private final long residentBytes;
  private final BodyDigest digest = new BodyDigest();
  private @Nullable String wrong;
  private @Nullable TransferResult outcome;
  private @Nullable ByteBuf memory;
  private @Nullable String digestTold;

  /** Checks the head of an answer, which is known to be the peer's. */
  ItemSink(ItemExchange exchange, HttpResponse response) {
    request = exchange.item;
    HttpHeaders headers = response.headers();
    residentBytes = number(headers.get(HttpNames.RESIDENT));
    int status = response.status().code();
    if (exchange.isFetch() && (status == 200 || status == 206)) {
      wrong = checkHead(status, headers);
      memory = NativeBuffers.at(exchange.address, request.length()).clear();
      return;
    }
    Refusal refusal = Refusal.of(status);
    if (refusal != null) {
      outcome = TransferResult.refused(refusal);
    } else if (!exchange.isFetch() && status == NO_CONTENT) {
      // nothing was requested, and the peer took notice
      outcome = TransferResult.FETCHED;
    } else {
      wrong = "status " + status;
    }
  }

  private @Nullable String checkHead(int status, HttpHeaders headers) {
    if ((status == 200) != request.isWhole()) {
      return "status " + status + " for " + (request.isWhole() ? "an item" : "a part of one");
    }
    if (!ItemMessages.quoted(request.tag()).equals(headers.get(HttpHeaderNames.ETAG))) {
      return "another version than was asked for";
    }
    if (number(headers.get(HttpHeaderNames.CONTENT_LENGTH)) != request.length()) {
      return "another length than was asked for";
    }
    String range = headers.get(HttpHeaderNames.CONTENT_RANGE);
    if (status == 206 && !ItemMessages.contentRange(request).equals(range)) {
      return "another range than was asked for";
    }
    digestTold = headers.get(HttpNames.DIGEST);
    return BodyDigest.parse(digestTold) == null ? "no digest" : null;
  }

  static long number(@Nullable String text) {
    return text != null && NUMBER.matcher(text).matches() ? Long.parseLong(text) : -1;
  }

  @Override
  public void take(ByteBuf bytes) {
    int length = bytes.readableBytes();
    if (length == 0 || wrong != null) {
      return;
    }
    if (memory == null || length > memory.writableBytes()) {
      wrong = "more bytes than were asked for";
      return;
    }
    digest.update(bytes.nioBuffer());
    memory.writeBytes(bytes);
  }

  @Override
  public @Nullable TransferResult outcome() {
    if (outcome == null && memory != null) {
      if (memory.isWritable()) {
        wrong = "a short body";
      } else if (!BodyDigest.isIn(digestTold, digest.finish())) {
        wrong = "a wrong digest";
      } else {
        outcome = TransferResult.FETCHED;
      }
    }
    return wrong == null ? outcome : null;
  }

  @Override
  public @Nullable String wrong() {
    return wrong;
  }

  @Override
  public long residentBytes() {
    return residentBytes;
  }
}
