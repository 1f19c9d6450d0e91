package io.holdfast.peer;

import org.jspecify.annotations.Nullable;

/**
 * The credentials by which nodes of a cluster authenticate each other; at least one of the two is
 * there. Immutable.
 *
 * @param secret the cluster's secret
 * @param tls certificates, which encrypt both planes
 */
public record Credentials(@Nullable ClusterSecret secret, @Nullable TlsFiles tls) {
  /** Requires a secret or certificates. */
  public Credentials {
    if (secret == null && tls == null) {
      throw new IllegalArgumentException("neither a secret nor certificates");
    }
  }
}
