package io.holdfast.s3server;

import java.time.Duration;
import java.util.List;

/** A fault of a request on its way through a {@link ForwardingProxy}. */
public sealed interface Fault {
  /**
   * The server is not asked; this is the answer, with a body as S3 writes it.
   *
   * @param status of HTTP
   * @param code of S3, such as SlowDown
   * @param headers further lines, such as {@code x-amz-bucket-region: eu-west-1}
   */
  record Answer(int status, String code, List<String> headers) implements Fault {
    /** An answer without further headers. */
    public Answer(int status, String code) {
      this(status, code, List.of());
    }
  }

  /** The connection ends without an answer, as at a balancer whose gateway is away. */
  record NoAnswer() implements Fault {}

  /**
   * The connection is reset in the middle of the body.
   *
   * @param after bytes of the body that still pass
   */
  record Reset(int after) implements Fault {}

  /**
   * Nothing more comes, and the connection stays open until the client gives it up.
   *
   * @param after bytes of the body that still pass
   */
  record Stall(int after) implements Fault {}

  /**
   * The answer says that it is shorter than it should be, and is.
   *
   * @param missing bytes
   */
  record Shorter(int missing) implements Fault {}

  /**
   * The answer has another ETag.
   *
   * @param value with quotes
   */
  record OtherEtag(String value) implements Fault {}

  /**
   * The answer lacks a header, as if a proxy had dropped it. The connection ends behind the body.
   *
   * @param header its name
   */
  record AnswerWithout(String header) implements Fault {}

  /**
   * The request reaches the server without a header, as if the server did not know it.
   *
   * @param header its name; a signature must not name it
   */
  record Without(String header) implements Fault {}

  /**
   * The server does what it is asked for, and the answer has another body.
   *
   * @param text ASCII
   */
  record OtherBody(String text) implements Fault {}

  /**
   * The request reaches the server later.
   *
   * @param time how much
   */
  record Delay(Duration time) implements Fault {}

  /**
   * The body of the request reaches the server slowly.
   *
   * @param bytesPerSecond how much of it
   */
  record SlowLink(int bytesPerSecond) implements Fault {}

  /**
   * The body comes one byte at a time, each in time for a client that waits for a byte.
   *
   * @param pause between two bytes
   */
  record Trickle(Duration pause) implements Fault {}
}
