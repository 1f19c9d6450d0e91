package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Whatever cannot work with S3 gets one clear line and an exit code, and leaves nothing behind: one
 * of each kind. All of them are tried without a process, in BadInputTest and S3StartTest.
 */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class S3BadInputIT {
  @Order(1)
  @RegisterExtension
  static final Bucket BUCKET = new Bucket();

  @Order(2)
  @RegisterExtension
  static final Sandbox SANDBOX = new Sandbox();

  private static final int COULD_NOT = 1;
  private static final int USAGE = 2;

  private static final String MOUNTPOINT = "@mountpoint";

  @BeforeAll
  static void start() {
    SANDBOX.folder("mountpoint");
    BUCKET.put("train/a", new byte[10]);
  }

  @Test
  void source_thatIsNoBucket_isAUsageError() {
    assertRefused(Map.of(), List.of("s3://", MOUNTPOINT), USAGE, "is not the name of a bucket");
  }

  @Test
  void bucket_thatIsNot_isSaid() {
    refused(Bucket.credentials(), "no bucket no-such-bucket", "s3://no-such-bucket/train");
  }

  @Test
  void credentials_thatAreNot_areAskedFor() {
    refused(Bucket.NO_CREDENTIALS, "no credentials found", BUCKET.source("train"));
  }

  @Test
  void credentials_thatAreWrong_areSaidToBe() {
    Map<String, String> wrongSecret = new HashMap<>(Bucket.credentials());
    wrongSecret.put("AWS_SECRET_ACCESS_KEY", "wrong");
    refused(wrongSecret, "does not take these credentials", BUCKET.source("train"));
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
        List.of(BUCKET.source("train"), MOUNTPOINT, "--s3-endpoint=" + endpoint),
        COULD_NOT,
        "cannot reach " + endpoint);
  }

  private static void refused(Map<String, String> environment, String mentioned, String source) {
    List<String> arguments = new ArrayList<>(List.of(source, MOUNTPOINT));
    arguments.addAll(BUCKET.options());
    assertRefused(environment, arguments, COULD_NOT, mentioned);
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
