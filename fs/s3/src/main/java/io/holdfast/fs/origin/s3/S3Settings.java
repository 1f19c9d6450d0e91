package io.holdfast.fs.origin.s3;

import java.net.URI;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.regions.PartitionMetadata;
import software.amazon.awssdk.regions.Region;

/**
 * The settings of a dataset in S3. Immutable.
 *
 * @param location bucket and prefix
 * @param endpoint the store's endpoint; null for Amazon's
 * @param region the bucket's region; null for the region of the environment, or else the one that
 *     the store names
 * @param pathStyle whether requests name the bucket in the path rather than in the host, as most
 *     other stores require
 * @param anonymous whether requests are not signed
 * @param requesterPays whether this user pays for the requests, if the bucket demands it
 * @param fileMode permission bits of files
 * @param directoryMode permission bits of directories
 * @param uid owner of all entries
 * @param gid group of all entries
 * @param deadline longest duration of a call
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
   * @throws IllegalArgumentException where a mode is more than permission bits, the deadline is not
   *     positive, or the endpoint is not a URI with scheme and host
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

  /** Returns Amazon's endpoint in a region; the one in China has a domain of its own. */
  public static URI amazon(String region) {
    return URI.create(
        "https://s3." + region + "." + PartitionMetadata.of(Region.of(region)).dnsSuffix());
  }

  /** Returns the same settings with another endpoint. */
  S3Settings withEndpoint(@Nullable URI other) {
    return with(other, deadline);
  }

  /** Returns the same settings with another deadline. */
  S3Settings withDeadline(Duration other) {
    return with(endpoint, other);
  }

  private S3Settings with(@Nullable URI otherEndpoint, Duration otherDeadline) {
    return new S3Settings(
        location,
        otherEndpoint,
        region,
        pathStyle,
        anonymous,
        requesterPays,
        fileMode,
        directoryMode,
        uid,
        gid,
        otherDeadline);
  }
}
