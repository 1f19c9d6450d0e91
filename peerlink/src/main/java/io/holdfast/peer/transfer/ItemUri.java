package io.holdfast.peer.transfer;

import java.io.ByteArrayOutputStream;

/**
 * The URL of an item: {@code /v1/datasets/{id}/items/{path}?extent=n}; the bytes of the path are
 * percent-encoded part by part. Immutable.
 *
 * @param dataset the id as it was written, unchecked
 */
record ItemUri(String dataset, ItemPath path, long extent) {
  private static final String QUERY = "?extent=";
  private static final int LONGEST_NUMBER = 18;
  private static final char[] HEX = "0123456789ABCDEF".toCharArray();

  /** Writes the URL. */
  @Override
  public String toString() {
    byte[] bytes = path.bytes();
    StringBuilder text = new StringBuilder(bytes.length + 64);
    text.append(HttpNames.DATASETS).append(dataset).append(HttpNames.ITEMS);
    for (byte each : bytes) {
      if (each == '/' || isPlain((char) (each & 0xff))) {
        text.append((char) each);
      } else {
        text.append('%').append(HEX[(each >> 4) & 0xf]).append(HEX[each & 0xf]);
      }
    }
    return text.append(QUERY).append(extent).toString();
  }

  /**
   * Parses a URL.
   *
   * @throws BadRequestException where the URL is not of an item within a dataset
   */
  static ItemUri parse(String uri) throws BadRequestException {
    int items = uri.indexOf(HttpNames.ITEMS);
    if (!uri.startsWith(HttpNames.DATASETS) || items < HttpNames.DATASETS.length()) {
      throw BadRequestException.noSuchPlace();
    }
    int query = uri.indexOf('?');
    if (query < items || !uri.startsWith(QUERY, query)) {
      throw BadRequestException.malformed("no extent");
    }
    byte[] path = decode(uri, items + HttpNames.ITEMS.length(), query);
    try {
      return new ItemUri(
          uri.substring(HttpNames.DATASETS.length(), items),
          ItemPath.of(path),
          number(uri.substring(query + QUERY.length())));
    } catch (IllegalArgumentException e) {
      throw BadRequestException.badPath(String.valueOf(e.getMessage()));
    }
  }

  /**
   * Parses a number of at least 0.
   *
   * @throws BadRequestException where the text is no such number
   */
  static long number(String text) throws BadRequestException {
    boolean digits = !text.isEmpty() && text.length() <= LONGEST_NUMBER;
    for (int i = 0; digits && i < text.length(); i++) {
      digits = text.charAt(i) >= '0' && text.charAt(i) <= '9';
    }
    if (!digits) {
      throw BadRequestException.malformed("no number");
    }
    return Long.parseLong(text);
  }

  private static byte[] decode(String uri, int from, int to) throws BadRequestException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(to - from);
    for (int i = from; i < to; i++) {
      char each = uri.charAt(i);
      if (each == '%') {
        int high = i + 2 < to ? Character.digit(uri.charAt(i + 1), 16) : -1;
        int low = i + 2 < to ? Character.digit(uri.charAt(i + 2), 16) : -1;
        int value = high * 16 + low;
        if (high < 0 || low < 0 || value == '/') {
          throw BadRequestException.badPath("a percent sign that encodes nothing, or a slash");
        }
        bytes.write(value);
        i += 2;
      } else if (each == '/' || isPlain(each) || "!$&'()*+,;=:@".indexOf(each) >= 0) {
        bytes.write(each);
      } else {
        throw BadRequestException.badPath("a character that must be encoded");
      }
    }
    return bytes.toByteArray();
  }

  /** Tells whether a character is unreserved in URLs (RFC 3986). */
  private static boolean isPlain(char each) {
    return (each >= 'a' && each <= 'z')
        || (each >= 'A' && each <= 'Z')
        || (each >= '0' && each <= '9')
        || "-._~".indexOf(each) >= 0;
  }
}
