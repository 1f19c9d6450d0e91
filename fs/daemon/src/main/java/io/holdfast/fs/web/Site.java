package io.holdfast.fs.web;

import io.holdfast.fs.FsException;
import java.net.InetAddress;

/** The content that a {@link WebServer} serves. Several threads call it at once. */
public interface Site {
  /** Returns the answer to a request for reading; must wait for nothing without a bound. */
  WebAnswer answer(WebRequest request);

  /**
   * Checks that everybody who reaches an address may see this site. Called before the server
   * listens there.
   *
   * @param setting the option that gave the address, with its value, for the message
   * @throws FsException if not, with one line for the user
   */
  default void requireVisibleAt(InetAddress address, String setting) throws FsException {}
}
