package io.holdfast.peer.membership;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.holdfast.peer.ClusterNode;
import io.holdfast.peer.Credentials;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.PeerSetupException;
import io.holdfast.peer.TestAuthority;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.jgroups.protocols.TCPPING;
import org.jgroups.protocols.dns.DNS_PING;
import org.jgroups.stack.IpAddress;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Settings that cannot work are refused at the start, in one line; and the ways to find peers. */
@Execution(ExecutionMode.CONCURRENT)
final class SetupTest {
  private static final int NOBODY = 65534;

  private final Cluster cluster = new Cluster();
  @TempDir private Path directory;

  @AfterEach
  void tearDown() {
    cluster.close();
  }

  @Test
  void join_ownAddressCannotBe_isRefused() throws Exception {
    assertRefused("no-such-host.invalid", "does not resolve: check the name");
    assertRefused("0.0.0.0", "stands for all interfaces");
    assertRefused("::", "stands for all interfaces");
    assertRefused("192.0.2.1", "is no address of this machine");
  }

  private void assertRefused(String host, String text) throws PeerSetupException {
    NodeAddress address = new NodeAddress(host, cluster.address(1).port());
    assertRefused(
        new JGroupsMembership.Config(
            new ClusterNode(address, Cluster.DATASET, 1),
            address,
            cluster.named(1),
            Cluster.bySecret(Cluster.SECRET),
            1),
        text);
  }

  @Test
  void join_portTaken_isRefused() throws Exception {
    NodeAddress at = cluster.address(1);
    try (ServerSocket taken =
        new ServerSocket(at.port() + 1, 1, InetAddress.getByName(at.host()))) {
      assertThat(taken.isBound()).isTrue();
      assertRefused(
          config(cluster.named(1)), "membership cannot listen at " + at.at(at.port() + 1));
    }
    // and nothing of the attempt is left
    assertThat(cluster.join(1, cluster.named(1)).await(Cluster.LONGEST)).isTrue();
  }

  @Test
  void join_peerThatCannotBe_isRefused() throws Exception {
    assertRefused(
        config(Discovery.parse("127.0.0.2:7070,no-such-host.invalid:7070")),
        "peer no-such-host.invalid:7070 does not resolve");
    assertRefused(config(Discovery.parse("127.0.0.2:65535")), "which would be 65536");
  }

  /**
   * A peer that has gone for good leaves the DNS as well. Nodes that changed their capacity then
   * left the cluster, and did not come back.
   */
  @Test
  void joinAgain_namedPeerHasGone_isLeftOut() throws Exception {
    NodeAddress gone = new NodeAddress("no-such-host.invalid", 7070);
    try (JGroupsMembership again =
        JGroupsMembership.joinAgain(
            config(new Discovery.Addresses(List.of(gone, cluster.address(1)))))) {
      Cluster.until(() -> again.view().version() > 0, () -> "it is a member");
    }
    assertThatExceptionOfType(PeerSetupException.class)
        .isThrownBy(
            () ->
                JGroupsMembership.joinAgain(config(new Discovery.Addresses(List.of(gone)))).close())
        .withMessageContaining("each of the peers " + gone + " does not resolve");
  }

  @Test
  void join_directoryThatCannotBe_isRefused() throws Exception {
    assertRefused(
        config(new Discovery.Directory(directory.resolve("missing"))), "missing' for finding");
    Path folder = Files.createDirectory(directory.resolve("holdfast"));
    for (String mode : List.of("rwxrwxrwx", "rwxrwx---")) {
      Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString(mode));
      assertRefused(config(new Discovery.Directory(directory)), "'chmod go-w " + folder);
    }
    Files.delete(folder);
    Files.writeString(folder, "a file");
    assertRefused(config(new Discovery.Directory(directory)), "is no directory");
    Files.delete(folder);
    Files.createSymbolicLink(folder, Files.createDirectory(directory.resolve("elsewhere")));
    assertRefused(config(new Discovery.Directory(directory)), "is no directory");
  }

  /**
   * Another user who owned the folder could put a symlink in the place of a member's file, and a
   * daemon of root wrote to whatever the symlink named.
   */
  @Test
  void join_folderThatOthersCanReplace_isRefused() throws Exception {
    Path shared = Files.createDirectory(directory.resolve("shared"));
    Discovery byShared = new Discovery.Directory(shared);
    Path folder = Files.createDirectory(shared.resolve("holdfast"));
    Files.setAttribute(folder, "unix:uid", NOBODY);
    assertRefused(config(byShared), "by " + folder + " (owner " + NOBODY + ", mode 0755)");
    Files.setAttribute(folder, "unix:uid", 0);
    Files.setAttribute(shared, "unix:mode", 0777);
    assertRefused(config(byShared), "by " + shared + " (owner 0, mode 0777)");
    Files.setAttribute(shared, "unix:mode", 0755);
    Files.setAttribute(shared, "unix:uid", NOBODY);
    assertRefused(config(byShared), "by " + shared + " (owner " + NOBODY + ", mode 0755)");
    Files.setAttribute(shared, "unix:uid", 0);
    Files.setAttribute(shared, "unix:mode", 01777);
    assertThat(MembersFolder.prepare(shared)).isEqualTo(shared.toRealPath());
    try (var left = Files.list(folder)) {
      assertThat(left).isEmpty();
    }
  }

  @Test
  void join_certificateForAnotherHost_isRefused() throws Exception {
    Credentials other =
        new Credentials(null, new TestAuthority(directory, "ours").issue("127.0.0.99"));
    assertRefused(cluster.config(1, cluster.named(1), other), "is not for '127.0.0.2'");
  }

  private JGroupsMembership.Config config(Discovery discovery) throws PeerSetupException {
    return cluster.config(1, discovery, Cluster.bySecret(Cluster.SECRET));
  }

  private static void assertRefused(JGroupsMembership.Config config, String text) {
    assertThatExceptionOfType(PeerSetupException.class)
        .isThrownBy(() -> JGroupsMembership.join(config).close())
        .withMessageContaining(text)
        .satisfies(e -> assertThat(e.getMessage()).doesNotContain("\n"));
  }

  @Test
  void finder_namedPeers_areAskedAtTheirMembershipPorts() throws Exception {
    TCPPING finder = (TCPPING) PeerFinder.of(Discovery.parse("127.0.0.2:7070,[::1]:9000"), 1, true);
    assertThat(finder.getInitialHosts())
        .containsExactly(new IpAddress("127.0.0.2", 7071), new IpAddress("::1", 9001));
    assertThat(finder.getPortRange()).isZero();
  }

  @Test
  void finder_dnsName_isTheQuery() throws Exception {
    DNS_PING finder = (DNS_PING) PeerFinder.of(Discovery.parse("dns:peers.example.org"), 1, true);
    assertThat(finder.getDNSQuery()).isEqualTo("peers.example.org");
    assertThat(finder.dnsRecordType()).isEqualTo("A");
  }

  @Test
  void join_byDnsName_findsEveryAddressOfIt() throws Exception {
    Path hosts =
        Files.writeString(
            directory.resolve("hosts"),
            "127.0.0.2 peers.example.org\n127.0.0.3 peers.example.org\n");
    String option = "-Djdk.net.hosts.file=" + hosts;
    Discovery byName = Discovery.parse("dns:peers.example.org");
    try (NodeProcess one = new NodeProcess(cluster.node(1), byName, option);
        NodeProcess two = new NodeProcess(cluster.node(2), byName, option)) {
      one.assertSees(cluster.address(1), cluster.address(2));
      two.assertSees(cluster.address(1), cluster.address(2));
    }
  }

  @Test
  void join_byDirectory_findsWhoIsThereWhateverElseIsInIt() throws Exception {
    Discovery byDirectory = new Discovery.Directory(directory);
    try (NodeProcess one = new NodeProcess(cluster.node(1), byDirectory);
        NodeProcess two = new NodeProcess(cluster.node(2), byDirectory)) {
      one.assertSees(cluster.address(1), cluster.address(2));
      two.assertSees(cluster.address(1), cluster.address(2));
    }
    // both were killed, and so left their addresses behind
    Path group = directory.resolve("holdfast");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(group)))
        .isEqualTo("rwx------");
    List<Path> left;
    try (var files = Files.list(group)) {
      left = files.toList();
    }
    assertThat(left).isNotEmpty();
    Files.writeString(group.resolve("garbage.list"), "garbage \u0000\n");
    Files.writeString(
        group.resolve("moved.list"),
        "x 00000000-0000-0000-0000-000000000001 127.0.0.9:" + cluster.address(1).port() + " T\n");
    JGroupsMembership three = cluster.join(3, byDirectory);
    JGroupsMembership four = cluster.join(4, byDirectory);
    cluster.assertSees(three, 3, 4);
    cluster.assertSees(four, 3, 4);
    three.close();
    JGroupsMembership five = cluster.join(5, byDirectory);
    cluster.assertSees(five, 4, 5);
    cluster.assertSees(four, 4, 5);
  }
}
