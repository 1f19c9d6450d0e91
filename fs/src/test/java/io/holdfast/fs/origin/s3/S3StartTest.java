package io.holdfast.fs.origin.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.origin.S3Store;
import io.holdfast.fs.origin.SharedS3Server;
import io.holdfast.s3server.Fault;
import io.holdfast.s3server.ForwardingProxy;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whatever keeps a dataset from being opened is one line that says what to do. */
@ExtendWith(SharedS3Server.class)
final class S3StartTest {
  private static final Duration DEADLINE = Duration.ofSeconds(5);

  private static void assertRefused(URI endpoint, String location, FsError code, String... words) {
    S3Settings settings = SharedS3Server.settings(endpoint, location, DEADLINE);
    assertThatThrownBy(() -> S3Origin.open(settings).close())
        .isInstanceOfSatisfying(
            FsException.class,
            failure -> {
              assertThat(failure.code()).isEqualTo(code);
              assertThat(failure.getMessage())
                  .startsWith(location + ": ")
                  .contains(words)
                  .doesNotContain("\n");
            });
  }

  @Test
  void open_noSuchBucket_saysSo() {
    String bucket = SharedS3Server.newBucket();
    assertRefused(
        SharedS3Server.endpoint(), "s3://" + bucket + "/a", FsError.NOT_FOUND, "no bucket", bucket);
  }

  @Test
  void open_nothingBelowThePrefix_saysSo() {
    String bucket = SharedS3Server.newBucket();
    try (S3Store store = new S3Store(SharedS3Server.endpoint(), bucket, "")) {
      store.put("database/file", new byte[1]);
      assertRefused(
          SharedS3Server.endpoint(), "s3://" + bucket + "/data", FsError.NOT_FOUND, "nothing");
    }
  }

  @Test
  void open_wrongSecret_saysSo() {
    String bucket = SharedS3Server.newBucket();
    String right = System.setProperty("aws.secretAccessKey", "wrong");
    try {
      assertRefused(
          SharedS3Server.endpoint(), "s3://" + bucket, FsError.ACCESS_DENIED, "credentials");
    } finally {
      System.setProperty("aws.secretAccessKey", right);
    }
  }

  @Test
  void open_noCredentials_saysSo() {
    String right = System.clearProperty("aws.secretAccessKey");
    System.setProperty("aws.disableEc2Metadata", "true");
    try {
      assertRefused(
          SharedS3Server.endpoint(),
          "s3://bucket",
          FsError.ACCESS_DENIED,
          "no credentials found",
          "--s3-anonymous");
    } finally {
      System.setProperty("aws.secretAccessKey", right);
      System.clearProperty("aws.disableEc2Metadata");
    }
  }

  @Test
  void open_endpointDown_saysWhichAndWhy() throws IOException {
    int port;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = socket.getLocalPort();
    }
    URI endpoint = URI.create("http://127.0.0.1:" + port);
    assertRefused(
        endpoint, "s3://bucket", FsError.UNAVAILABLE, "cannot reach", endpoint.toString());
  }

  @ParameterizedTest
  @CsvSource({
    "403, AccessDenied, ACCESS_DENIED, s3:ListBucket",
    "403, RequestTimeTooSkewed, UNAVAILABLE, clock",
    "403, RequestTimeTooSkewed, UNAVAILABLE, 01 Jan 2026",
    "400, AuthorizationHeaderMalformed, INVALID, --s3-region eu-west-1",
    "301, PermanentRedirect, INVALID, --s3-region eu-west-1",
    "403, InvalidAccessKeyId, ACCESS_DENIED, credentials",
  })
  void open_refusedByTheStore_saysWhatToDo(int status, String code, FsError error, String words)
      throws IOException {
    try (ForwardingProxy proxy = ForwardingProxy.start(SharedS3Server.endpoint())) {
      List<String> headers = status == 403 ? List.of() : List.of("x-amz-bucket-region: eu-west-1");
      proxy.disturb(request -> true, 100, new Fault.Answer(status, code, headers));
      assertRefused(proxy.endpoint(), "s3://bucket/data", error, words);
    }
  }
}
