package io.holdfast.peer;

/** What was given for peers cannot work; the message is one line that says what to do. */
public final class PeerSetupException extends Exception {
  private static final long serialVersionUID = 1;

  /** Creates one without a cause. */
  public PeerSetupException(String message) {
    super(message);
  }

  /** Creates one. */
  public PeerSetupException(String message, Throwable cause) {
    super(message, cause);
  }
}
