package io.holdfast.s3server;

import java.util.List;

/**
 * The head of a request. Immutable.
 *
 * @param method GET, HEAD, PUT and so on
 * @param target path and query as they were sent
 * @param headers lines without the first
 */
public record Request(String method, String target, List<String> headers) {
  /** Tells whether it asks for keys. */
  public boolean isList() {
    return method.equals("GET") && target.contains("list-type=2");
  }

  /** Tells whether it asks for the content of an object. */
  public boolean isGet() {
    return method.equals("GET") && !target.contains("list-type=2");
  }

  /** Tells whether it puts an object, or a part of one. */
  public boolean isPut() {
    return method.equals("PUT");
  }

  /** Tells whether it asks what an object is. */
  public boolean isHead() {
    return method.equals("HEAD");
  }

  /** Returns the value of a header, or an empty text. */
  public String header(String name) {
    for (String line : headers) {
      int colon = line.indexOf(':');
      if (colon > 0 && line.substring(0, colon).trim().equalsIgnoreCase(name)) {
        return line.substring(colon + 1).trim();
      }
    }
    return "";
  }
}
