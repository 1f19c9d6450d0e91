package io.holdfast.fs.cli;

import io.holdfast.fs.daemon.Settings;
import io.holdfast.fs.daemon.SettingsBuilder;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.membership.Discovery;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of mount that concern the cluster. Not thread-safe. */
final class PeerWords {
  @Option(
      names = "--listen",
      paramLabel = "HOST:PORT",
      description = {
        "Where other nodes reach this one; the next port is used too. With it, what another node"
            + " has in memory comes from there. Default: no peers."
      })
  private @Nullable String listen;

  @Option(
      names = "--peers",
      paramLabel = "HOST:PORT,...|dns:NAME|dir:/PATH",
      description = {
        "How the nodes find each other: what some or all of them have for --listen, a DNS name"
            + " with all their addresses, or a directory that all can write to."
      })
  private @Nullable String peers;

  @Option(
      names = "--cluster-secret-file",
      paramLabel = "FILE",
      description = {
        "A secret that all nodes have and nobody else: 'head -c 32 /dev/urandom | base64'."
      })
  private @Nullable Path secretFile;

  @Option(
      names = "--tls-cert",
      paramLabel = "FILE",
      description = "This node's certificate (PEM): nodes encrypt, and prove who they are.")
  private @Nullable Path tlsCertificate;

  @Option(
      names = "--tls-key",
      paramLabel = "FILE",
      description = "The certificate's private key (PEM, PKCS #8, no password).")
  private @Nullable Path tlsKey;

  @Option(
      names = "--tls-ca",
      paramLabel = "FILE",
      description = "The authority's certificate (PEM), which signed those of all nodes.")
  private @Nullable Path tlsAuthority;

  @Option(
      names = "--dataset-id",
      paramLabel = "NAME",
      description = {
        "The dataset's name, the same on every node. Default: one that follows from all of SOURCE:"
            + " give it where nodes have the dataset at different paths."
      })
  private @Nullable String datasetId;

  /** Says what they mean. */
  void fill(MountOptions.Filling f) {
    SettingsBuilder b = f.builder();
    f.set(Settings.Key.LISTEN, listen, v -> b.listen(NodeAddress.parse(v)));
    f.set(Settings.Key.PEERS, peers, v -> b.discovery(Discovery.parse(v)));
    f.set(Settings.Key.CLUSTER_SECRET_FILE, secretFile, b::secretFile);
    f.set(Settings.Key.TLS_CERT, tlsCertificate, b::tlsCertificate);
    f.set(Settings.Key.TLS_KEY, tlsKey, b::tlsKey);
    f.set(Settings.Key.TLS_CA, tlsAuthority, b::tlsAuthority);
    f.set(Settings.Key.DATASET_ID, datasetId, b::datasetId);
  }
}
