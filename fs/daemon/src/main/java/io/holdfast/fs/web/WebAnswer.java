package io.holdfast.fs.web;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/** An answer to a {@link WebRequest}. Immutable; nobody may change the body. */
public final class WebAnswer {
  private final int status;
  private final Map<String, String> headers;
  private final byte[] body;

  private WebAnswer(int status, Map<String, String> headers, byte[] body) {
    this.status = status;
    this.headers = headers;
    this.body = body;
  }

  /**
   * Returns an answer.
   *
   * @param status the status code of HTTP
   * @param type the body's media type
   */
  public static WebAnswer of(int status, String type, byte[] body) {
    return new WebAnswer(status, Map.of("Content-Type", type), body);
  }

  /** Returns an answer of plain text. */
  public static WebAnswer text(int status, String text) {
    return of(status, "text/plain; charset=utf-8", text.getBytes(StandardCharsets.UTF_8));
  }

  /** Returns the same answer with more headers. */
  public WebAnswer with(Map<String, String> more) {
    Map<String, String> all = new LinkedHashMap<>(headers);
    all.putAll(more);
    return new WebAnswer(status, all, body);
  }

  /** Returns the status code of HTTP. */
  public int status() {
    return status;
  }

  /** Returns the headers, without those about the length. */
  public Map<String, String> headers() {
    return headers;
  }

  /** Returns the body itself. */
  public byte[] body() {
    return body;
  }
}
