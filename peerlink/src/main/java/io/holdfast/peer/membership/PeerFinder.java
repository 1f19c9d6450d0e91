package io.holdfast.peer.membership;

import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.PeerSetupException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jgroups.protocols.FILE_PING;
import org.jgroups.protocols.TCPPING;
import org.jgroups.protocols.dns.DNS_PING;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Creates the JGroups discovery protocol for the configured discovery. */
final class PeerFinder {
  private static final Logger log = LoggerFactory.getLogger(PeerFinder.class);
  private static final int LARGEST_PORT = 65535;

  static {
    KnownTypes.install();
  }

  private PeerFinder() {}

  /**
   * Creates the protocol.
   *
   * @param portOffset difference between membership port and data-plane port
   * @param every whether each configured peer must resolve; otherwise one of them is enough
   * @throws PeerSetupException where the configured peers do not resolve, or the directory cannot
   *     be used
   */
  static org.jgroups.protocols.Discovery of(Discovery discovery, int portOffset, boolean every)
      throws PeerSetupException {
    if (discovery instanceof Discovery.Addresses named) {
      return new TCPPING()
          .setInitialHosts(resolved(named.addresses(), portOffset, every))
          .setPortRange(0)
          .asyncDiscoveryUseSeparateThread(true);
    }
    if (discovery instanceof Discovery.DnsName dns) {
      return new DNS_PING().setDNSQuery(dns.name()).asyncDiscoveryUseSeparateThread(true);
    }
    Path directory = MembersFolder.prepare(((Discovery.Directory) discovery).path());
    // Killed members leave their files behind: the next coordinator removes them.
    FILE_PING files = new FILE_PING().setLocation(directory.toString());
    return files
        .removeAllDataOnViewChange(true)
        .writeDataOnFind(true)
        .registerShutdownHook(false)
        .asyncDiscovery(true);
  }

  private static List<InetSocketAddress> resolved(
      List<NodeAddress> named, int portOffset, boolean every) throws PeerSetupException {
    List<InetSocketAddress> found = new ArrayList<>();
    for (NodeAddress each : named) {
      int port = each.port() + portOffset;
      if (port < 1 || port > LARGEST_PORT) {
        throw new PeerSetupException(
            "peer %s has no port for membership, which would be %d: name a smaller port"
                .formatted(each, port));
      }
      InetSocketAddress address = each.at(port).resolve();
      if (!address.isUnresolved()) {
        found.add(address);
      } else if (every) {
        throw unresolved("peer " + each);
      } else {
        log.warn("peer {} does not resolve, and is left out: take it from --peers", each);
      }
    }
    if (found.isEmpty()) {
      throw unresolved("each of the peers " + new Discovery.Addresses(named));
    }
    return found;
  }

  private static PeerSetupException unresolved(String who) {
    return new PeerSetupException(
        "%s does not resolve: check the name, or write its IP address".formatted(who));
  }
}
