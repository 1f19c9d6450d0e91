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
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PeersBadInputIT {
  @RegisterExtension static final Sandbox SANDBOX = new Sandbox();

  private static final int USAGE = 2;
  private static final String HERE = "127.0.0.1:17070";

  /** In arguments this stands for the sandbox's folder. */
  private static final String ROOT = "@";

  @BeforeAll
  static void makeFiles() throws IOException {
    Files.writeString(SANDBOX.folder("source").resolve("a.txt"), "a");
    SANDBOX.folder("mountpoint");
    writeSecret("secret", "rw-------", "thirty-two bytes or so of a secret");
    writeSecret("open-secret", "rw-r--r--", "thirty-two bytes or so of a secret");
    writeSecret("short-secret", "rw-------", "short");
  }

  private static void writeSecret(String name, String mode, String text) throws IOException {
    Path file = Files.writeString(SANDBOX.root().resolve(name), text);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
  }

  static Stream<Arguments> badPeers() {
    return Stream.of(
        bad("--listen", "--peers", HERE, "--cluster-secret-file", "@/secret"),
        bad("--listen", "--cluster-secret-file", "@/secret"),
        bad("--listen", "--dataset-id", "photos"),
        bad("--peers", "--listen", HERE, "--cluster-secret-file", "@/secret"),
        bad("--cluster-secret-file", "--listen", HERE, "--peers", HERE),
        bad("no-port", withSecret("no-port", HERE)),
        bad("every address", withSecret("0.0.0.0:17070", HERE)),
        bad("70000", withSecret("127.0.0.1:70000", HERE)),
        bad("no-such-host.invalid", withSecret(HERE, HERE + ",no-such-host.invalid:17070")),
        bad("twice", withSecret(HERE, HERE + ",127.0.0.2:17070," + HERE)),
        bad("192.0.2.1", withSecret("192.0.2.1:17070", "192.0.2.1:17070")),
        bad("relative", withSecret(HERE, "dir:relative")),
        bad("dns:", withSecret(HERE, "dns:")),
        bad("--tls-key", "--listen", HERE, "--peers", HERE, "--tls-cert", "@/secret"),
        bad("@/missing", "--listen", HERE, "--peers", HERE, "--cluster-secret-file", "@/missing"),
        bad("chmod", "--listen", HERE, "--peers", HERE, "--cluster-secret-file", "@/open-secret"),
        bad("bytes", "--listen", HERE, "--peers", HERE, "--cluster-secret-file", "@/short-secret"),
        bad("../up", withSecret(HERE, HERE, "--dataset-id", "../up")));
  }

  private static Arguments bad(String mentioned, String... options) {
    return Arguments.of(List.of(options), mentioned);
  }

  private static String[] withSecret(String listen, String peers, String... more) {
    List<String> options =
        new ArrayList<>(
            List.of("--listen", listen, "--peers", peers, "--cluster-secret-file", "@/secret"));
    options.addAll(List.of(more));
    return options.toArray(String[]::new);
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

  @Test
  void certificate_expiredOrForAnotherNameOrOfAnotherAuthority_isToldInOneLine() {
    Authority authority = Authority.create(SANDBOX, "tls");
    Authority foreign = Authority.create(SANDBOX, "foreign-tls");
    Authority.Certified good = authority.issue("127.0.0.1");

    assertRefusedWith(authority.issueExpired("127.0.0.1"), "expired");
    assertRefusedWith(authority.issue("127.0.0.9"), "127.0.0.1");
    assertRefusedWith(
        new Authority.Certified(
            good.certificate(), good.key(), foreign.issue("127.0.0.1").authority()),
        "authority");
    assertRefusedWith(
        new Authority.Certified(good.certificate(), good.certificate(), good.authority()), "key");
  }

  private static void assertRefusedWith(Authority.Certified certified, String mentioned) {
    List<String> options = new ArrayList<>(List.of("--listen", HERE, "--peers", HERE));
    options.addAll(certified.options());
    assertRefused(options, mentioned);
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
