package io.holdfast.fs.origin.s3;

import java.net.URI;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How a dataset in S3 is reached and shown. Immutable.
 *
 * @param location bucket and prefix
 * @param endpoint where the store answers; null for Amazon's
 * @param region the bucket's; null for what the surroundings say, and else the one that the store
 *     names
 * @param pathStyle whether the bucket is named in the path of a request rather than in its host, as
 *     most other stores want it
 * @param anonymous whether requests are not signed
 * @param requesterPays whether the requests are paid for by who makes them, if the bucket asks so
 * @param fileMode permission bits of files
 * @param directoryMode permission bits of directories
 * @param uid owner of everything
 * @param gid group of everything
 * @param deadline how long a call may take at most
 */
public record S3Settings(
    S3Location location,
    @Nullable URI endpoint,
    @Nullable String region,
    boolean pathStyle,
    boolean anonymous,
    boolean requesterPays,
    int fileMode,
    int directoryMode,
    int uid,
    int gid,
    Duration deadline) {
  private static final int PERMISSIONS = 0777;

  /**
   * Creates settings.
   *
   * @throws IllegalArgumentException where a mode is more than permission bits, or the deadline is
   *     not positive
   */
  public S3Settings {
    if ((fileMode & ~PERMISSIONS) != 0 || (directoryMode & ~PERMISSIONS) != 0) {
      throw new IllegalArgumentException(
          String.format("not permission bits: %o, %o", fileMode, directoryMode));
    }
    if (deadline.isNegative() || deadline.isZero()) {
      throw new IllegalArgumentException("no deadline: " + deadline);
    }
    if (endpoint != null && (endpoint.getHost() == null || endpoint.getScheme() == null)) {
      throw new IllegalArgumentException(
          "not an endpoint of the form https://host:port: '" + endpoint + "'");
    }
  }
}
