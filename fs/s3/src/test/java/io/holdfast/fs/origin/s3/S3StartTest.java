package io.holdfast.fs.origin.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.origin.S3Store;
import io.holdfast.fs.origin.SharedS3Server;
import io.holdfast.s3server.Fault;
import io.holdfast.s3server.ForwardingProxy;
import io.holdfast.s3server.Request;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertPathBuilderException;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.services.s3.model.S3Exception;

/** Whatever keeps a dataset from being opened is one line that says what to do. */
@ExtendWith(SharedS3Server.class)
final class S3StartTest {
  private static final Duration DEADLINE = Duration.ofSeconds(5);

  @TempDir Path temp;

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
        SharedS3Server.endpoint(),
        "s3://" + bucket + "/a",
        FsError.NOT_FOUND,
        "no bucket",
        bucket,
        "check its name and --s3-endpoint");
  }

  @Test
  void open_nothingBelowThePrefix_saysSo() {
    String bucket = SharedS3Server.newBucket();
    try (S3Store store = new S3Store(SharedS3Server.endpoint(), bucket, "")) {
      store.put("database/file", new byte[1]);
      assertRefused(
          SharedS3Server.endpoint(),
          "s3://" + bucket + "/data",
          FsError.NOT_FOUND,
          "nothing is there",
          "check the prefix, as with 'aws s3 ls s3://" + bucket + "/ --endpoint-url http");
    }
  }

  /** It took the list of buckets for a listing without keys, and advised to check the prefix. */
  @Test
  void open_gatewayThatListsItsBuckets_namesTheOptionThatMends() throws IOException {
    try (FakeS3 store = new FakeS3(List.of("data/file"));
        ForwardingProxy proxy = ForwardingProxy.start(store.endpoint())) {
      proxy.disturb(
          Request::isList,
          1,
          new Fault.OtherBody("<ListAllMyBucketsResult><Buckets/></ListAllMyBucketsResult>"));
      assertRefused(proxy.endpoint(), "s3://bucket/data", FsError.UNAVAILABLE, "--s3-path-style");
    }
  }

  /** Java says "unable to find valid certification path to requested target". */
  @Test
  void open_certificateOfAnUnknownAuthority_saysWhatToDo() {
    String location = "s3://bucket/a";
    S3Settings settings =
        SharedS3Server.settings(URI.create("https://127.0.0.1:1"), location, DEADLINE);
    Exception cause = new SSLHandshakeException("PKIX path building failed");
    cause.initCause(new CertPathBuilderException("unable to find valid certification path"));

    FsException failure =
        S3Failures.atStart(settings, SdkClientException.create("Unable to execute", cause));

    assertThat(failure)
        .hasMessageStartingWith(location + ": cannot reach https://127.0.0.1:1: no authority")
        .hasMessageContaining("HOLDFAST_JAVA_OPTIONS=-Djavax.net.ssl.trustStore=FILE");
    assertThat(failure.code()).isEqualTo(FsError.UNAVAILABLE);
  }

  @Test
  void open_wrongSecret_saysSo() {
    String bucket = SharedS3Server.newBucket();
    String right = System.setProperty("aws.secretAccessKey", "wrong");
    try {
      assertRefused(
          SharedS3Server.endpoint(),
          "s3://" + bucket,
          FsError.ACCESS_DENIED,
          "credentials",
          "check AWS_ACCESS_KEY_ID");
    } finally {
      System.setProperty("aws.secretAccessKey", right);
    }
  }

  @Test
  void open_unknownKey_saysSo() {
    String bucket = SharedS3Server.newBucket();
    String right = System.setProperty("aws.accessKeyId", "nobody");
    try {
      assertRefused(
          SharedS3Server.endpoint(), "s3://" + bucket, FsError.ACCESS_DENIED, "credentials");
    } finally {
      System.setProperty("aws.accessKeyId", right);
    }
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '"',
      value = {
        "expecting 'eu-west-1', use --s3-region eu-west-1",
        "expecting 'eu-west-1, name it with --s3-region",
        "expecting 'eu west', name it with --s3-region",
        "expecting, name it with --s3-region"
      })
  void open_otherRegionInWords_isNamedIfItIsAName(String told, String advice) {
    AwsServiceException answer =
        S3Exception.builder()
            .statusCode(400)
            .awsErrorDetails(
                AwsErrorDetails.builder()
                    .errorCode("AuthorizationHeaderMalformed")
                    .errorMessage("the region is wrong; " + told)
                    .build())
            .build();

    assertThat(S3Failures.atStart(settings(SharedS3Server.endpoint(), "s3://bucket", "x"), answer))
        .hasMessageContaining(advice);
  }

  /** The store checks the region of a request's signature; the fix in its message works. */
  @Test
  void open_otherRegion_namesTheOptionThatMends() throws IOException {
    String bucket = SharedS3Server.newBucket();
    try (S3Store store = new S3Store(SharedS3Server.endpoint(), bucket, "");
        ForwardingProxy proxy = ForwardingProxy.start(SharedS3Server.endpoint())) {
      store.put("file", new byte[1]);
      proxy.disturb(
          request -> !request.header("Authorization").contains("/eu-west-1/s3/aws4_request"),
          Integer.MAX_VALUE,
          new Fault.Answer(
              400, "AuthorizationHeaderMalformed", List.of("x-amz-bucket-region: eu-west-1")));
      assertRefused(
          proxy.endpoint(), "s3://" + bucket, FsError.INVALID, "use --s3-region eu-west-1");
      S3Origin.open(settings(proxy.endpoint(), "s3://" + bucket, "eu-west-1")).close();
    }
  }

  private static S3Settings settings(URI endpoint, String location, String region) {
    S3Settings some = SharedS3Server.settings(endpoint, location, DEADLINE);
    return new S3Settings(
        some.location(),
        endpoint,
        region,
        some.pathStyle(),
        some.anonymous(),
        some.requesterPays(),
        some.fileMode(),
        some.directoryMode(),
        some.uid(),
        some.gid(),
        some.deadline());
  }

  /** Accepts requests that are signed for an hour from now, like a store whose clock is right. */
  private static void anHourAhead(ForwardingProxy proxy) {
    ZonedDateTime now = ZonedDateTime.now(ZoneOffset.UTC).plusHours(1);
    String date = DateTimeFormatter.RFC_1123_DATE_TIME.format(now);
    String hour = DateTimeFormatter.ofPattern("yyyyMMdd'T'HH", Locale.ROOT).format(now);
    String next =
        DateTimeFormatter.ofPattern("yyyyMMdd'T'HH", Locale.ROOT).format(now.plusHours(1));
    proxy.disturb(
        request ->
            !request.header("X-Amz-Date").startsWith(hour)
                && !request.header("X-Amz-Date").startsWith(next),
        Integer.MAX_VALUE,
        new Fault.Answer(403, "RequestTimeTooSkewed", List.of("Date: " + date)));
  }

  /** The client learns the store's time from its answer, and signs with that. */
  @Test
  void open_clockThatIsOff_isAllowedFor() throws IOException {
    try (FakeS3 store = new FakeS3(List.of("data/file"));
        ForwardingProxy proxy = ForwardingProxy.start(store.endpoint())) {
      anHourAhead(proxy);
      S3Origin.open(SharedS3Server.settings(proxy.endpoint(), "s3://bucket/data", DEADLINE))
          .close();
      assertThat(proxy.count(Request::isList)).isEqualTo(2);
    }
  }

  /** Whatever time it signs with, one of the two refuses it: the server behind looks, too. */
  @Test
  void open_clockThatNoStoreTakes_saysSo() throws IOException {
    String bucket = SharedS3Server.newBucket();
    try (S3Store store = new S3Store(SharedS3Server.endpoint(), bucket, "");
        ForwardingProxy proxy = ForwardingProxy.start(SharedS3Server.endpoint())) {
      store.put("file", new byte[1]);
      anHourAhead(proxy);
      assertRefused(
          proxy.endpoint(), "s3://" + bucket, FsError.UNAVAILABLE, "this machine's clock is wrong");
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
          "no credentials found: set AWS_ACCESS_KEY_ID",
          "--s3-anonymous");
    } finally {
      System.setProperty("aws.secretAccessKey", right);
      System.clearProperty("aws.disableEc2Metadata");
    }
  }

  /** The message named AWS_PROFILE, which was set, and kept what was wrong with it. */
  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '"',
      value = {
        "nosuch, no credentials for profile 'nosuch'): set AWS_ACCESS_KEY_ID",
        "process, Failed to refresh process-based credentials.): set AWS_ACCESS_KEY_ID",
        "sso, credential_process = aws configure export-credentials --profile PROFILE",
      })
  void open_credentialsThatFail_saysWhich(String profile, String words) throws IOException {
    Path file =
        Files.writeString(
            temp.resolve("config"),
            """
            [profile process]
            credential_process = /bin/false
            [profile sso]
            sso_session = session
            sso_account_id = 1
            sso_role_name = role
            region = us-east-1
            [sso-session session]
            sso_region = us-east-1
            sso_start_url = https://127.0.0.1/start
            """);
    Map<String, String> properties =
        Map.of(
            "aws.disableEc2Metadata",
            "true",
            "aws.configFile",
            file.toString(),
            "aws.sharedCredentialsFile",
            temp.resolve("none").toString(),
            "aws.profile",
            profile);
    String right = System.clearProperty("aws.secretAccessKey");
    properties.forEach(System::setProperty);
    try {
      assertRefused(
          SharedS3Server.endpoint(),
          "s3://bucket",
          FsError.ACCESS_DENIED,
          "no credentials found (ProfileCredentialsProvider: ",
          words);
    } finally {
      System.setProperty("aws.secretAccessKey", right);
      properties.keySet().forEach(System::clearProperty);
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
    "404, , NOT_FOUND, check --s3-endpoint",
    "403, RequestTimeTooSkewed, UNAVAILABLE, clock",
    "403, RequestTimeTooSkewed, UNAVAILABLE, 01 Jan 2026",
    "400, AuthorizationHeaderMalformed, INVALID, --s3-region eu-west-1",
    "301, PermanentRedirect, INVALID, --s3-region eu-west-1",
    "403, InvalidAccessKeyId, ACCESS_DENIED, credentials",
  })
  void open_refusedByTheStore_saysWhatToDo(
      int status, @Nullable String code, FsError error, String words) throws IOException {
    try (ForwardingProxy proxy = ForwardingProxy.start(SharedS3Server.endpoint())) {
      List<String> headers =
          List.of(
              status == 403
                  ? "Date: Thu, 01 Jan 2026 00:00:00 GMT"
                  : "x-amz-bucket-region: eu-west-1");
      proxy.disturb(
          request -> true, 100, new Fault.Answer(status, code == null ? "" : code, headers));
      assertRefused(proxy.endpoint(), "s3://bucket/data", error, words);
    }
  }
}
