package io.holdfast.fs.origin.s3;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.security.cert.CertificateException;
import java.util.stream.Stream;
import javax.net.ssl.SSLHandshakeException;
import org.apache.hc.core5.http.ConnectionClosedException;
import org.apache.hc.core5.http.NoHttpResponseException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import software.amazon.awssdk.core.exception.SdkClientException;

/** A failure of the client tells whether the store is waited for. */
final class S3FailuresTest {
  static Stream<IOException> waysToBeAway() {
    return Stream.of(
        new ConnectException("Connection refused"),
        new NoRouteToHostException("No route to host"),
        new SocketException("Network is unreachable"),
        new UnknownHostException("s3.example.com"),
        new NoHttpResponseException("s3.example.com failed to respond"),
        new ConnectionClosedException("Connection is closed"),
        handshakeFailure(new EOFException("SSL peer shut down incorrectly")));
  }

  @ParameterizedTest
  @MethodSource("waysToBeAway")
  void failure_ofAStoreThatCannotBeReached_isOneThatIsWaitedFor(IOException cause) {
    FsException failure =
        S3Failures.of("file", SdkClientException.create("Unable to execute", cause));

    assertThat(failure.code()).isEqualTo(FsError.TIMED_OUT);
    assertThat(failure).hasMessageStartingWith("file: the store is not there: ");
  }

  private static IOException handshakeFailure(Exception cause) {
    IOException failure = new SSLHandshakeException("Remote host terminated the handshake");
    failure.initCause(cause);
    return failure;
  }

  /** To wait for a store whose certificate is wrong would hide what is to be mended. */
  @Test
  void failure_ofACertificate_isNotWaitedFor() {
    IOException cause = handshakeFailure(new CertificateException("expired"));

    FsException failure =
        S3Failures.of("file", SdkClientException.create("Unable to execute", cause));

    assertThat(failure.code()).isEqualTo(FsError.IO);
  }
}
