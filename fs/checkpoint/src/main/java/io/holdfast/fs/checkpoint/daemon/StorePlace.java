package io.holdfast.fs.checkpoint.daemon;

import io.holdfast.fs.checkpoint.DirectoryStore;
import io.holdfast.fs.checkpoint.S3Store;
import io.holdfast.fs.checkpoint.Store;
import io.holdfast.fs.origin.s3.S3Location;
import io.holdfast.fs.origin.s3.S3Settings;
import io.holdfast.fs.origin.s3.WritableBucket;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Where checkpoints are kept for good. Its text is what a user gives for it. Immutable. */
public sealed interface StorePlace {
  /**
   * Opens the store for this node.
   *
   * @param owner what identifies this node's front and, in another line, its mount
   * @param front the front's directory
   * @param clock nanoseconds of the epoch
   * @param isHeld whether the front has operations that the store lacks: then no other node may
   *     have had the store meanwhile
   * @throws IOException with one line for the user
   */
  Store open(String owner, Path front, LongSupplier clock, boolean isHeld) throws IOException;

  /** Returns a text that no other store has. */
  String identity();

  /** Tells whether a text means a bucket, rightly written or not. */
  static boolean isBucket(String text) {
    return S3Location.isMeant(text);
  }

  /** A directory of this machine. */
  record Directory(Path path) implements StorePlace {
    @Override
    public Store open(String owner, Path front, LongSupplier clock, boolean isHeld)
        throws IOException {
      return new DirectoryStore(path, owner, isHeld);
    }

    @Override
    public String identity() {
      return path.toString();
    }

    @Override
    public String toString() {
      return path.toString();
    }
  }

  /**
   * A prefix of a bucket. The credentials are those of the environment.
   *
   * @param location {@code s3://BUCKET/PREFIX}
   * @param endpoint the store's endpoint; null for Amazon's
   * @param region the bucket's region; null for what the environment or the store says
   * @param pathStyle whether requests name the bucket in the path
   */
  record Bucket(String location, @Nullable URI endpoint, @Nullable String region, boolean pathStyle)
      implements StorePlace {
    /** The longest duration of a request that neither sends many bytes nor has them copied. */
    private static final Duration DEADLINE = Duration.ofMinutes(1);

    /**
     * Creates a place.
     *
     * @throws IllegalArgumentException where the location or the endpoint is none
     */
    public Bucket {
      location = S3Location.parse(location).toString();
      if (endpoint != null && endpoint.getHost() == null) {
        throw new IllegalArgumentException("not an endpoint: '" + endpoint + "'");
      }
    }

    @Override
    public Store open(String owner, Path front, LongSupplier clock, boolean isHeld)
        throws IOException {
      S3Settings settings =
          new S3Settings(
              S3Location.parse(location),
              endpoint,
              region,
              pathStyle,
              false,
              false,
              0600,
              0700,
              0,
              0,
              DEADLINE);
      WritableBucket bucket = new WritableBucket(settings, WritableBucket.Parts.STANDARD);
      return new S3Store(bucket, location, owner, isHeld, front, clock);
    }

    @Override
    public String identity() {
      return location + (endpoint == null ? "" : " at " + endpoint);
    }

    @Override
    public String toString() {
      return location;
    }
  }
}
