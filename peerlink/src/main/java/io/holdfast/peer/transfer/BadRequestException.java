package io.holdfast.peer.transfer;

/** A request that gets no item, for a reason that is the asker's. */
final class BadRequestException extends Exception {
  private static final long serialVersionUID = 1;

  private final int status;
  private final String reason;

  private BadRequestException(int status, String reason, String detail) {
    super(detail, null, false, false);
    this.status = status;
    this.reason = reason;
  }

  static BadRequestException malformed(String detail) {
    return new BadRequestException(400, Refusals.MALFORMED, detail);
  }

  static BadRequestException badPath(String detail) {
    return new BadRequestException(400, Refusals.BAD_PATH, detail);
  }

  static BadRequestException noSuchPlace() {
    return new BadRequestException(404, Refusals.MALFORMED, "no URL of an item");
  }

  static BadRequestException noSuchMethod() {
    return new BadRequestException(405, Refusals.MALFORMED, "another method than GET and DELETE");
  }

  static BadRequestException outOfRange() {
    return new BadRequestException(416, Refusals.MALFORMED, "a range outside of the item");
  }

  static BadRequestException unknown(String reason, String detail) {
    return new BadRequestException(Refusal.UNKNOWN.status(), reason, detail);
  }

  /** Returns the HTTP status. */
  int status() {
    return status;
  }

  /** Returns what it is counted as. */
  String reason() {
    return reason;
  }
}
