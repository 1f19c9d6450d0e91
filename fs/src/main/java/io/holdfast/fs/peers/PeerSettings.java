package io.holdfast.fs.peers;

import io.holdfast.peer.Dataset;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.TlsFiles;
import io.holdfast.peer.membership.Discovery;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * How this node takes part in a cluster. Immutable.
 *
 * @param listen where peers reach it, and its name; membership uses the next port
 * @param discovery how it finds the others
 * @param secretFile what all nodes know; null where certificates prove who they are
 * @param tls certificates; null where the secret does
 * @param dataset what is shared
 */
public record PeerSettings(
    NodeAddress listen,
    Discovery discovery,
    @Nullable Path secretFile,
    @Nullable TlsFiles tls,
    Dataset dataset) {
  /** Returns the files that are read when it starts. */
  public List<Path> files() {
    return tls == null
        ? Stream.ofNullable(secretFile).toList()
        : Stream.of(secretFile, tls.certificate(), tls.key(), tls.authority())
            .filter(Objects::nonNull)
            .toList();
  }
}
