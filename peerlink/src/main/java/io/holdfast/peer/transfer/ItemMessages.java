package io.holdfast.peer.transfer;

import io.holdfast.peer.SharedDataset;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Converts requests for items to and from HTTP. Pure functions. */
final class ItemMessages {
  private static final Pattern ITEM = Pattern.compile("length=([0-9]{1,9});item-size=([0-9]{1,9})");
  private static final Pattern TAG = Pattern.compile("\"([\\x21\\x23-\\x7e]{1,256})\"");
  private static final Pattern RANGE = Pattern.compile("bytes=([0-9]{0,18})-([0-9]{0,18})");

  private ItemMessages() {}

  /**
   * A parsed request.
   *
   * @param ranged whether it has a range, even that of the whole item
   * @param sketches the sketches of both datasets, as the asker knows them
   */
  record Parsed(ItemRequest item, boolean ranged, Sketches sketches) {}

  /** The requested part of an item. */
  private record Part(int from, int length, boolean ranged) {}

  static FullHttpRequest request(HttpMethod method, ItemRequest item) {
    String uri = new ItemUri(item.dataset().id(), item.path(), item.extent()).toString();
    FullHttpRequest request =
        new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, method, uri, Unpooled.EMPTY_BUFFER);
    HttpHeaders headers = request.headers();
    headers.set(HttpHeaderNames.IF_MATCH, quoted(item.tag()));
    headers.set(
        HttpNames.ITEM, "length=" + item.itemLength() + ";item-size=" + item.dataset().itemSize());
    if (!item.isWhole()) {
      headers.set(
          HttpHeaderNames.RANGE, "bytes=" + item.from() + "-" + (item.from() + item.length() - 1));
    }
    if (item.onlyIfCached()) {
      headers.set(HttpHeaderNames.CACHE_CONTROL, HttpNames.ONLY_IF_CACHED);
    }
    return request;
  }

  /**
   * Parses a request.
   *
   * @param dataset the dataset that this node serves
   * @throws BadRequestException where this node cannot have the item
   */
  static Parsed parse(HttpRequest request, SharedDataset dataset) throws BadRequestException {
    HttpMethod method = request.method();
    if (!request.uri().startsWith(HttpNames.DATASETS)) {
      throw BadRequestException.noSuchPlace();
    }
    if (!HttpMethod.GET.equals(method)
        && !HttpMethod.HEAD.equals(method)
        && !HttpMethod.DELETE.equals(method)) {
      throw BadRequestException.noSuchMethod();
    }
    ItemUri uri = ItemUri.parse(request.uri());
    if (!uri.dataset().equals(dataset.id())) {
      throw BadRequestException.unknown(
          RejectedRequests.UNKNOWN_DATASET, "dataset " + uri.dataset());
    }
    int itemLength = itemLength(request.headers().get(HttpNames.ITEM), dataset);
    Part part = part(request.headers().get(HttpHeaderNames.RANGE), itemLength);
    return new Parsed(
        new ItemRequest(
            dataset,
            uri.path(),
            uri.extent(),
            tag(request.headers().get(HttpHeaderNames.IF_MATCH)),
            itemLength,
            part.from(),
            part.length(),
            HttpNames.ONLY_IF_CACHED.equals(request.headers().get(HttpHeaderNames.CACHE_CONTROL))),
        part.ranged(),
        sketches(request.headers().get(HttpNames.SKETCHES)));
  }

  private static Sketches sketches(@Nullable String text) throws BadRequestException {
    return text == null ? Sketches.NONE : Sketches.parse(text);
  }

  private static int itemLength(@Nullable String text, SharedDataset dataset)
      throws BadRequestException {
    Matcher matcher = ITEM.matcher(text == null ? "" : text);
    if (!matcher.matches()) {
      throw BadRequestException.malformed("no " + HttpNames.ITEM);
    }
    if (Integer.parseInt(matcher.group(2)) != dataset.itemSize()) {
      throw BadRequestException.unknown(
          RejectedRequests.ITEM_SIZE, "items of " + matcher.group(2) + " bytes, here " + dataset);
    }
    int length = Integer.parseInt(matcher.group(1));
    if (length > dataset.itemSize()) {
      throw BadRequestException.malformed("an item of " + length + " bytes");
    }
    return length;
  }

  private static String tag(@Nullable String text) throws BadRequestException {
    Matcher matcher = TAG.matcher(text == null ? "" : text);
    if (!matcher.matches()) {
      throw BadRequestException.malformed("no strong entity tag in If-Match");
    }
    return matcher.group(1);
  }

  /** Parses a range by RFC 9110, 14.2: a text that is no single range of bytes is ignored. */
  private static Part part(@Nullable String text, int itemLength) throws BadRequestException {
    Matcher matcher = RANGE.matcher(text == null ? "" : text);
    if (!matcher.matches() || (matcher.group(1).isEmpty() && matcher.group(2).isEmpty())) {
      return new Part(0, itemLength, false);
    }
    long from;
    long last = itemLength - 1L;
    if (matcher.group(1).isEmpty()) {
      from = Math.max(0, itemLength - Long.parseLong(matcher.group(2)));
    } else {
      from = Long.parseLong(matcher.group(1));
      if (!matcher.group(2).isEmpty()) {
        long given = Long.parseLong(matcher.group(2));
        if (given < from) {
          return new Part(0, itemLength, false);
        }
        last = Math.min(last, given);
      }
    }
    if (from > last) {
      throw BadRequestException.outOfRange();
    }
    return new Part((int) from, (int) (last - from + 1), true);
  }

  static String quoted(String tag) {
    return '"' + tag + '"';
  }

  static String contentRange(ItemRequest item) {
    int last = item.from() + item.length() - 1;
    return "bytes " + item.from() + "-" + last + "/" + item.itemLength();
  }
}
