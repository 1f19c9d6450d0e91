package io.holdfast.peer;

/** Settings for peers that cannot work; the message is one line that says what to do. */
public final class PeerSetupException extends Exception {
  private static final long serialVersionUID = 1;

  /** Creates an exception without a cause. */
  public PeerSetupException(String message) {
    super(message);
  }

  /** Creates an exception with a cause. */
  public PeerSetupException(String message, Throwable cause) {
    super(message, cause);
  }
}
