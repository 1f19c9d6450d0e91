package io.holdfast.fs;

import java.io.IOException;

/**
 * A request or a command that failed, with a code for programs and a message for people. The
 * message is one line that names the thing that failed. Users see it as it is.
 */
public final class FsException extends IOException {
  private static final long serialVersionUID = 1L;

  private final FsError code;

  /**
   * Creates a failure without a deeper cause.
   *
   * @param code what went wrong
   * @param message one line for people
   */
  public FsException(FsError code, String message) {
    super(message);
    this.code = code;
  }

  /**
   * Creates a failure that keeps its cause.
   *
   * @param code what went wrong
   * @param message one line for people
   * @param cause the exception that led to the failure
   */
  public FsException(FsError code, String message, Throwable cause) {
    super(message, cause);
    this.code = code;
  }

  /** Returns what went wrong. */
  public FsError code() {
    return code;
  }
}
