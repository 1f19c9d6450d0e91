package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.s3server.Fault;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever cannot work with S3 gets one clear line and an exit code, and leaves nothing behind. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class S3BadInputIT {
  @Order(1)
  @RegisterExtension
  static final Bucket BUCKET = new Bucket();

  @Order(2)
  @RegisterExtension
  static final Sandbox SANDBOX = new Sandbox();

  private static final int COULD_NOT = 1;
  private static final int USAGE = 2;
  private static final int ALWAYS = Integer.MAX_VALUE;

  /** As S3 answers where a request is signed for another region than the bucket's. */
  private static final Fault OTHER_REGION =
      new Fault.Answer(
          400, "AuthorizationHeaderMalformed", List.of("x-amz-bucket-region: eu-central-1"));

  private static final String MOUNTPOINT = "@mountpoint";
  private static final String DIRECTORY = "@directory";

  @BeforeAll
  static void start() {
    SANDBOX.folder("mountpoint");
    SANDBOX.folder("directory");
    BUCKET.put("train/a", new byte[10]);
  }

  static Stream<Arguments> usageErrors() {
    return Stream.of(
        bad("missing MOUNTPOINT", "s3://data/train"),
        bad("is not the name of a bucket", "s3://", MOUNTPOINT),
        bad("'gs://data/train'", "gs://data/train", MOUNTPOINT),
        bad("does not exist", "s3://data/train", "@missing"),
        bad("'/' is the whole machine", "s3://data/train", "/"),
        bad("names a user", "s3://data", MOUNTPOINT, "--s3-endpoint=http://a:b@localhost"),
        bad("--s3-region means nothing", DIRECTORY, MOUNTPOINT, "--s3-region=us-east-1"),
        bad("--uid means nothing", DIRECTORY, MOUNTPOINT, "--uid=0"));
  }

  private static Arguments bad(String mentioned, String... arguments) {
    return Arguments.of(List.of(arguments), mentioned);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("usageErrors")
  void badArguments_ofSources_areUsageErrors(List<String> arguments, String mentioned) {
    assertRefused(Map.of(), arguments, USAGE, mentioned);
  }

  @Test
  void bucket_thatIsNot_isSaid() {
    refused(Bucket.credentials(), "no bucket no-such-bucket", "s3://no-such-bucket/train");
  }

  @Test
  void prefix_thatIsEmpty_isSaid() {
    refused(Bucket.credentials(), "nothing", Bucket.source("no/such/prefix"));
  }

  @Test
  void credentials_thatAreNot_areAskedFor() {
    refused(Bucket.NO_CREDENTIALS, "no credentials found", Bucket.source("train"));
  }

  @Test
  void credentials_thatAreWrong_areSaidToBe() {
    Map<String, String> wrongSecret = new HashMap<>(Bucket.credentials());
    wrongSecret.put("AWS_SECRET_ACCESS_KEY", "wrong");
    refused(wrongSecret, "does not take these credentials", Bucket.source("train"));
    Map<String, String> unknown = new HashMap<>(Bucket.credentials());
    unknown.put("AWS_ACCESS_KEY_ID", "nobody");
    refused(unknown, "does not take these credentials", Bucket.source("train"));
  }

  @Test
  void region_thatIsAnother_isNamed() {
    BUCKET.proxy().disturb(all -> true, ALWAYS, OTHER_REGION);
    refused(Bucket.credentials(), "--s3-region eu-central-1", Bucket.source("train"));
  }

  @Test
  void clock_thatIsOff_isSaid() {
    BUCKET.proxy().disturb(all -> true, ALWAYS, new Fault.Answer(403, "RequestTimeTooSkewed"));
    refused(Bucket.credentials(), "clock is wrong", Bucket.source("train"));
  }

  @Test
  void endpoint_thatIsDown_isSaid() throws IOException {
    int port;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    String endpoint = "http://127.0.0.1:" + port;
    assertRefused(
        Bucket.credentials(),
        List.of(Bucket.source("train"), MOUNTPOINT, "--s3-endpoint=" + endpoint),
        COULD_NOT,
        "cannot reach " + endpoint);
  }

  private static void refused(Map<String, String> environment, String mentioned, String source) {
    List<String> arguments = new ArrayList<>(List.of(source, MOUNTPOINT));
    arguments.addAll(BUCKET.options());
    try {
      assertRefused(environment, arguments, COULD_NOT, mentioned);
    } finally {
      BUCKET.proxy().reset();
    }
  }

  private static void assertRefused(
      Map<String, String> environment, List<String> arguments, int exit, String mentioned) {
    Leftovers before = Leftovers.of(SANDBOX);
    Path log = SANDBOX.root().resolve("refused.log");
    List<String> command =
        new ArrayList<>(
            List.of(
                Sandbox.launcher(),
                "mount",
                "--name=" + SANDBOX.id() + "-bad",
                "--binding=" + System.getProperty("holdfast.binding"),
                "--log-file=" + log));
    arguments.forEach(word -> command.add(resolve(word)));

    Child.Result result = SANDBOX.run(environment, command);

    assertThat(result.exit()).as("%s", result).isEqualTo(exit);
    Leftovers.assertOneLine(result, mentioned);
    before.assertNothingMore();
  }

  private static String resolve(String argument) {
    return argument.startsWith("@")
        ? SANDBOX.root().resolve(argument.substring(1)).toString()
        : argument;
  }
}
