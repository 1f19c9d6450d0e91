package io.holdfast.peer.transfer;

/** A request that is refused because of the asker's mistake. */
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
    return new BadRequestException(400, RejectedRequests.MALFORMED, detail);
  }

  static BadRequestException badPath(String detail) {
    return new BadRequestException(400, RejectedRequests.BAD_PATH, detail);
  }

  static BadRequestException noSuchPlace() {
    return new BadRequestException(404, RejectedRequests.MALFORMED, "no URL of an item");
  }

  static BadRequestException noSuchMethod() {
    return new BadRequestException(
        405, RejectedRequests.MALFORMED, "another method than GET and DELETE");
  }

  static BadRequestException outOfRange() {
    return new BadRequestException(416, RejectedRequests.MALFORMED, "a range outside of the item");
  }

  static BadRequestException unknown(String reason, String detail) {
    return new BadRequestException(Refusal.UNKNOWN.status(), reason, detail);
  }

  /** Returns the HTTP status. */
  int status() {
    return status;
  }

  /** Returns the reason under which the request is counted. */
  String reason() {
    return reason;
  }
}
