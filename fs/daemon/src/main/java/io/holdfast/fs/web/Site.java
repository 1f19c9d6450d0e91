package io.holdfast.fs.web;

/** The content that a {@link WebServer} serves. Several threads call it at once. */
public interface Site {
  /** Returns the answer to a request for reading; must wait for nothing without a bound. */
  WebAnswer answer(WebRequest request);
}
