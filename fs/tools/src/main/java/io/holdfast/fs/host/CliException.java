package io.holdfast.fs.host;

/**
 * Ends a command with an exit code and one line for the user: what is wrong, and what to do about
 * it.
 */
public final class CliException extends RuntimeException {
  /** The command was all right, but could not be done. */
  public static final int COULD_NOT = 1;

  /** An option, a value or an argument is wrong. */
  public static final int USAGE = 2;

  private static final long serialVersionUID = 1L;

  private final int exitCode;

  public CliException(int exitCode, String message) {
    super(message);
    this.exitCode = exitCode;
  }

  public static CliException usage(String message) {
    return new CliException(USAGE, message);
  }

  public static CliException usage(String message, Throwable cause) {
    CliException failure = new CliException(USAGE, message);
    failure.initCause(cause);
    return failure;
  }

  public static CliException couldNot(String message) {
    return new CliException(COULD_NOT, message);
  }

  public static CliException couldNot(String message, Throwable cause) {
    CliException failure = new CliException(COULD_NOT, message);
    failure.initCause(cause);
    return failure;
  }

  public int exitCode() {
    return exitCode;
  }
}
