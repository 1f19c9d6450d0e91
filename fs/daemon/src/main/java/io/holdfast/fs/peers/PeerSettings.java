package io.holdfast.fs.peers;

import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.SharedDataset;
import io.holdfast.peer.TlsFiles;
import io.holdfast.peer.membership.Discovery;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The settings of this node as a member of a cluster. Immutable.
 *
 * @param listen the address that peers use, and this node's name; membership uses the next port
 * @param discovery how to find the other nodes
 * @param secretFile the file of the cluster's secret; null where nodes authenticate by certificates
 * @param tls the certificates; null where nodes authenticate by the secret
 * @param dataset the dataset that the nodes share
 * @param sourceTimeout how long a read waits for peers and the origin
 */
public record PeerSettings(
    NodeAddress listen,
    Discovery discovery,
    @Nullable Path secretFile,
    @Nullable TlsFiles tls,
    SharedDataset dataset,
    Duration sourceTimeout) {
  /** Returns the files that are read at the start. */
  public List<Path> files() {
    return tls == null
        ? Stream.ofNullable(secretFile).toList()
        : Stream.of(secretFile, tls.certificate(), tls.key(), tls.authority())
            .filter(Objects::nonNull)
            .toList();
  }
}
