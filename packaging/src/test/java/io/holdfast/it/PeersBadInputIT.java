package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A node that cannot be a peer as it was told says so in one line, and leaves nothing behind. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PeersBadInputIT {
  @RegisterExtension static final Sandbox SANDBOX = new Sandbox();

  private static final int USAGE = 2;
  private static final int NOBODY = 65534;
  private static final String HERE = "127.0.0.1:17070";

  /** In arguments this stands for the sandbox's folder. */
  private static final String ROOT = "@";

  @BeforeAll
  static void makeFiles() throws IOException {
    Files.writeString(SANDBOX.folder("source").resolve("a.txt"), "a");
    SANDBOX.folder("mountpoint");
    writeSecret("secret");
    writeSecret("foreign-secret");
    Files.setAttribute(SANDBOX.root().resolve("foreign-secret"), "unix:uid", NOBODY);
  }

  private static void writeSecret(String name) throws IOException {
    Path file =
        Files.writeString(SANDBOX.root().resolve(name), "thirty-two bytes or so of a secret");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
  }

  /**
   * One mistake of each kind: in the options, in names that are looked up, and in the secret's
   * file. MountOptionsTest, SetupTest and ClusterSecretTest try all mistakes without a process.
   */
  static Stream<Arguments> badPeers() {
    return Stream.of(
        bad("--listen", "--peers", HERE, "--cluster-secret-file", "@/secret"),
        bad("no-such-host.invalid", withSecret(HERE, HERE + ",no-such-host.invalid:17070")),
        bad(
            "owned",
            "--listen",
            HERE,
            "--peers",
            HERE,
            "--cluster-secret-file",
            "@/foreign-secret"));
  }

  private static Arguments bad(String mentioned, String... options) {
    return Arguments.of(List.of(options), mentioned);
  }

  private static String[] withSecret(String listen, String peers) {
    return new String[] {"--listen", listen, "--peers", peers, "--cluster-secret-file", "@/secret"};
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("badPeers")
  void peers_thatCannotBe_areUsageErrors(List<String> options, String mentioned) {
    assertRefused(options, mentioned);
  }

  @Test
  void port_taken_isToldInOneLine() throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String address = "127.0.0.1:" + taken.getLocalPort();
      assertRefused(List.of(withSecret(address, address)), address);
    }
  }

  /** The port after the one that was named is used too. */
  @Test
  void portOfMembership_taken_isToldInOneLine() throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String address = "127.0.0.1:" + (taken.getLocalPort() - 1);
      assertRefused(List.of(withSecret(address, address)), Integer.toString(taken.getLocalPort()));
    }
  }

  /** TlsContextTest has the other mistakes of a certificate and its key. */
  @Test
  void certificate_expired_isToldInOneLine() {
    List<String> options = new ArrayList<>(List.of("--listen", HERE, "--peers", HERE));
    options.addAll(Authority.create(SANDBOX, "tls").issueExpired("127.0.0.1").options());
    assertRefused(options, "expired");
  }

  private static void assertRefused(List<String> options, String mentioned) {
    Leftovers before = Leftovers.of(SANDBOX);
    List<String> command = new ArrayList<>(List.of("mount", "--name", SANDBOX.id() + "-bad"));
    command.addAll(List.of("--binding", System.getProperty("holdfast.binding")));
    command.addAll(List.of("--log-file", resolve("@/log")));
    options.forEach(option -> command.add(resolve(option)));
    command.addAll(List.of(resolve("@/source"), resolve("@/mountpoint")));

    Child.Result result = SANDBOX.holdfast(command.toArray(String[]::new));

    assertThat(result.exit()).as("%s", result).isEqualTo(USAGE);
    Leftovers.assertOneLine(result, resolve(mentioned));
    before.assertNothingMore();
  }

  private static String resolve(String argument) {
    return argument.startsWith(ROOT) ? SANDBOX.root() + argument.substring(1) : argument;
  }
}
