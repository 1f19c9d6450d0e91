package io.holdfast.peer;

import org.jspecify.annotations.Nullable;

/**
 * How nodes of a cluster prove to each other that they are; at least one of the two is there.
 * Immutable.
 *
 * @param secret what all of them know
 * @param tls certificates; with them both planes are encrypted
 */
public record Credentials(@Nullable ClusterSecret secret, @Nullable TlsFiles tls) {
  /** Checks that there is something to prove with. */
  public Credentials {
    if (secret == null && tls == null) {
      throw new IllegalArgumentException("neither a secret nor certificates");
    }
  }
}
