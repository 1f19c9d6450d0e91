package io.holdfast.peer.membership;

import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.PeerSetupException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.jgroups.protocols.FILE_PING;
import org.jgroups.protocols.TCPPING;
import org.jgroups.protocols.dns.DNS_PING;

/** Creates the JGroups discovery protocol for the configured discovery. */
final class PeerFinder {
  private static final int LARGEST_PORT = 65535;

  static {
    KnownTypes.install();
  }

  private PeerFinder() {}

  /**
   * Creates the protocol.
   *
   * @param portOffset difference between membership port and data-plane port
   * @throws PeerSetupException where a configured peer does not resolve, or the directory cannot be
   *     used
   */
  static org.jgroups.protocols.Discovery of(Discovery discovery, int portOffset)
      throws PeerSetupException {
    if (discovery instanceof Discovery.Addresses named) {
      return new TCPPING()
          .setInitialHosts(resolved(named.addresses(), portOffset))
          .setPortRange(0)
          .asyncDiscoveryUseSeparateThread(true);
    }
    if (discovery instanceof Discovery.DnsName dns) {
      return new DNS_PING().setDNSQuery(dns.name()).asyncDiscoveryUseSeparateThread(true);
    }
    Path directory = ((Discovery.Directory) discovery).path();
    prepare(directory);
    // Killed members leave their files behind: the next coordinator removes them.
    FILE_PING files = new FILE_PING().setLocation(directory.toString());
    return files
        .removeAllDataOnViewChange(true)
        .writeDataOnFind(true)
        .registerShutdownHook(false)
        .asyncDiscovery(true);
  }

  static List<InetSocketAddress> resolved(List<NodeAddress> named, int portOffset)
      throws PeerSetupException {
    List<InetSocketAddress> found = new ArrayList<>();
    for (NodeAddress each : named) {
      int port = each.port() + portOffset;
      if (port < 1 || port > LARGEST_PORT) {
        throw new PeerSetupException(
            "peer %s has no port for membership, which would be %d: name a smaller port"
                .formatted(each, port));
      }
      InetSocketAddress address = each.at(port).resolve();
      if (address.isUnresolved()) {
        throw new PeerSetupException(
            "peer %s does not resolve: check the name, or write its IP address".formatted(each));
      }
      found.add(address);
    }
    return found;
  }

  /**
   * Creates the folder for the members' addresses. A user who can write to it can make nodes
   * connect to any address, but cannot join; still the folder is for the nodes alone.
   */
  private static void prepare(Path directory) throws PeerSetupException {
    if (!Files.isDirectory(directory)) {
      throw new PeerSetupException(
          "the directory '%s' for finding peers does not exist: make it, or mount it"
              .formatted(directory));
    }
    Path folder = directory.resolve(ClusterStack.GROUP);
    try {
      try {
        Files.createDirectory(
            folder,
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
      } catch (FileAlreadyExistsException e) {
        checkExisting(folder);
      }
      Files.delete(Files.createTempFile(folder, "writable", null));
    } catch (IOException e) {
      throw new PeerSetupException(
          "the directory '%s' for finding peers cannot be written to: change its owner or mode"
              .formatted(folder),
          e);
    }
  }

  private static void checkExisting(Path folder) throws IOException, PeerSetupException {
    if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)
        || Files.getPosixFilePermissions(folder).contains(PosixFilePermission.OTHERS_WRITE)) {
      throw new PeerSetupException(
          "'%s' is no directory, or others can write to it: run 'chmod o-w %s', or name another"
              .formatted(folder, folder));
    }
  }
}
