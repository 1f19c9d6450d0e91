package io.holdfast.peer.transfer;

import io.holdfast.peer.Credentials;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.PeerSetupException;
import io.holdfast.peer.SharedDataset;
import io.holdfast.peer.TlsContext;
import javax.crypto.SecretKey;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * This node's identity towards its peers. Thread-safe.
 *
 * @param name the address by which peers name it
 * @param dataset the dataset that it serves
 * @param key the key that proves that it is of the cluster; null where nodes authenticate by
 *     certificates alone
 * @param tls its certificates; null where there are none
 */
record Identity(
    NodeAddress name, SharedDataset dataset, @Nullable SecretKey key, @Nullable SSLContext tls) {
  static Identity of(NodeAddress name, SharedDataset dataset, Credentials credentials)
      throws PeerSetupException {
    return new Identity(
        name,
        dataset,
        credentials.secret() == null ? null : Seal.key(credentials.secret().key("data plane")),
        credentials.tls() == null ? null : TlsContext.of(credentials.tls(), name.host()));
  }

  static String[] protocols() {
    return new String[] {"TLSv1.3", "TLSv1.2"};
  }
}
