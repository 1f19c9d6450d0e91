package io.holdfast.peer.transfer;

import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import java.nio.charset.StandardCharsets;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** Creates the answers of a server. Pure functions. */
final class HttpResponses {
  /** The date format of RFC 9110. */
  private static final DateTimeFormatter HTTP_DATE =
      DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US);

  private HttpResponses() {}

  /** Creates an answer without a body. */
  static FullHttpResponse empty(int status) {
    FullHttpResponse answer =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(status), Unpooled.EMPTY_BUFFER);
    if (status >= HttpResponseStatus.OK.code() && status != 204) {
      answer.headers().set(HttpHeaderNames.CONTENT_LENGTH, 0);
    }
    return answer;
  }

  static FullHttpResponse refused(Refusal refusal, long residentBytes) {
    FullHttpResponse answer = empty(refusal.status());
    answer.headers().set(HttpNames.RESIDENT, residentBytes);
    if (refusal == Refusal.BUSY) {
      answer.headers().set(HttpHeaderNames.RETRY_AFTER, 1);
    }
    return answer;
  }

  /** Creates the answer to a health check, with the server's time. */
  static FullHttpResponse healthy() {
    byte[] ok = "ok".getBytes(StandardCharsets.US_ASCII);
    FullHttpResponse answer =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1, HttpResponseStatus.OK, Unpooled.wrappedBuffer(ok));
    answer.headers().set(HttpHeaderNames.CONTENT_TYPE, "text/plain");
    answer.headers().set(HttpHeaderNames.CONTENT_LENGTH, ok.length);
    answer.headers().set(HttpHeaderNames.DATE, HTTP_DATE.format(ZonedDateTime.now(ZoneOffset.UTC)));
    return answer;
  }

  /**
   * Creates an answer with a text of this node.
   *
   * @param known the name of the text that the asker has; empty if it has none
   */
  static FullHttpResponse text(OwnText text, String known, long residentBytes) {
    if (text.name().equals(known)) {
      FullHttpResponse same = empty(HttpResponseStatus.NOT_MODIFIED.code());
      same.headers().set(HttpNames.RESIDENT, residentBytes);
      return same;
    }
    FullHttpResponse answer =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1, HttpResponseStatus.OK, Unpooled.wrappedBuffer(text.bytes()));
    answer
        .headers()
        .set(HttpHeaderNames.CONTENT_TYPE, "text/plain")
        .set(HttpHeaderNames.CONTENT_LENGTH, text.bytes().length)
        .set(HttpNames.DIGEST, BodyDigest.headerOf(text.sha256()))
        .set(HttpNames.RESIDENT, residentBytes);
    return answer;
  }

  /** Creates the head of an answer with an item's bytes. */
  static HttpResponse head(ItemMessages.Parsed parsed, byte[] sha256, long residentBytes) {
    ItemRequest item = parsed.item();
    HttpResponse head =
        new DefaultHttpResponse(
            HttpVersion.HTTP_1_1,
            parsed.ranged() ? HttpResponseStatus.PARTIAL_CONTENT : HttpResponseStatus.OK);
    head.headers()
        .set(HttpHeaderNames.ETAG, ItemMessages.quoted(item.tag()))
        .set(HttpHeaderNames.CONTENT_LENGTH, item.length())
        .set(HttpNames.DIGEST, BodyDigest.headerOf(sha256))
        .set(HttpNames.RESIDENT, residentBytes);
    if (parsed.ranged()) {
      head.headers().set(HttpHeaderNames.CONTENT_RANGE, ItemMessages.contentRange(item));
    }
    return head;
  }
}
