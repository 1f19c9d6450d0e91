package io.holdfast.model;

/** A call on the system under test failed: with the name of its errno, such as ENOENT. */
final class Refused extends Exception {
  private static final long serialVersionUID = 1;

  private final String errno;

  Refused(String errno) {
    super(errno);
    this.errno = errno;
  }

  Refused(String errno, Throwable cause) {
    super(errno, cause);
    this.errno = errno;
  }

  String errno() {
    return errno;
  }
}
