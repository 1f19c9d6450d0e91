package io.holdfast.fs.checkpoint;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.origin.s3.ObjectBucket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The object that names the last mount of a store. It stays when the mount has ended, and is apart
 * from the index: a mount that only reads puts no index of its own. Each process replaces the
 * object that it has found, and no other: a request that arrives late does not hide a later mount.
 * For one thread.
 */
final class S3LastMount {
  private final ObjectBucket bucket;
  private final String place;
  private final ObjectBucket.@Nullable Content there;

  /**
   * Reads the object.
   *
   * @param place the store as people write it
   */
  S3LastMount(ObjectBucket bucket, String place) throws FsException {
    this.bucket = bucket;
    this.place = place;
    there = bucket.get(S3Keys.LAST);
  }

  /** Returns the mount that the object has named at first; empty if it was not there. */
  String text() {
    return there == null ? "" : new String(there.bytes(), StandardCharsets.UTF_8);
  }

  /** Has the object name a mount. */
  void note(byte[] mount) throws FsException {
    if (there != null && Arrays.equals(there.bytes(), mount)) {
      return;
    }
    try {
      String unused =
          there == null
              ? bucket.create(S3Keys.LAST, mount)
              : bucket.replace(S3Keys.LAST, there.etag(), mount);
    } catch (FsException e) {
      if (e.code() != FsError.STALE) {
        throw e;
      }
      ObjectBucket.Content now = bucket.get(S3Keys.LAST);
      if (now == null || !Arrays.equals(now.bytes(), mount)) { // else the client has sent it twice
        throw S3Owner.takenOver(place);
      }
    }
  }
}
