package io.holdfast.fs.checkpoint;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.origin.s3.ObjectBucket;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import jnr.constants.platform.Errno;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The object that names the node which may write to a store. It is apart from the index, so that an
 * admin can free the store of a node that is gone for good, and lose nothing. Thread-safe.
 */
final class S3Owner {
  private static final Logger log = LoggerFactory.getLogger(S3Owner.class);

  /** How long this process writes without a look whether the store still is its own. */
  private static final long OWNED = Duration.ofSeconds(2).toNanos();

  /** The ETag of no object. */
  private static final String WRONG_ETAG = "0".repeat(32);

  private final ObjectBucket bucket;
  private final String place;
  private final byte[] owner;
  private final boolean isNew;
  private volatile long checked;

  /**
   * Takes a store for a node.
   *
   * @param place the store as people write it
   * @param owner what identifies the node's front and, in another line, its mount
   * @param isHeld whether the front has operations that the store lacks
   * @throws IOException EBUSY if another node has it, or had it although it was held, or if the
   *     operations are for another store; UNSUPPORTED if the bucket cannot tell whether a node has
   *     it
   */
  S3Owner(ObjectBucket bucket, String place, String owner, boolean isHeld) throws IOException {
    this.bucket = bucket;
    this.place = place;
    this.owner = owner.getBytes(StandardCharsets.UTF_8);
    ObjectBucket.Content there = bucket.get(S3Keys.OWNER);
    if (there == null && isHeld) {
      throw Store.isNotHeld(place + ": the object " + bucket.prefix() + S3Keys.OWNER);
    }
    isNew = there == null && create();
    if (there == null && !isNew) {
      there = bucket.get(S3Keys.OWNER); // perhaps this node's, sent twice
    }
    if (there != null && !isOwn(there)) {
      replace(there, isHeld);
    }
    boolean isTaken = false;
    try {
      requireConditions();
      isTaken = true;
    } finally {
      if (!isTaken) {
        giveBack();
      }
    }
  }

  /** Writes the object over that of an earlier mount with the same front. */
  private void replace(ObjectBucket.Content there, boolean isHeld) throws IOException {
    String mark = new String(there.bytes(), StandardCharsets.UTF_8);
    String own = new String(owner, StandardCharsets.UTF_8);
    String object = bucket.prefix() + S3Keys.OWNER;
    boolean isSameFront = Store.isOfFront(mark, own, isHeld);
    if (isSameFront && isHeld) {
      throw Store.isOfAnEarlierMount(place + ": the object " + object);
    }
    if (!isSameFront || !replace(there.etag())) {
      throw ErrnoException.because(
          Errno.EBUSY,
          "",
          "the store %s is written by %s; if that is gone for good, delete the object %s and try again"
              .formatted(place, Store.describeWriter(mark, own), object));
    }
  }

  /** Makes an object with this ETag the node's; returns false if it is another one by now. */
  private boolean replace(String etag) throws FsException {
    return isReplaced(etag) || isOwn(bucket.get(S3Keys.OWNER)); // perhaps this node's, sent twice
  }

  /** Writes the object as a store must not take it, and as it must; the bytes are the same. */
  private void requireConditions() throws FsException {
    if (create()) {
      throw unconditional("that must not be there (If-None-Match)");
    }
    ObjectBucket.Content there = bucket.get(S3Keys.OWNER);
    if (there == null || !isOwn(there)) {
      throw takenOver(place);
    }
    if (!isReplaced(there.etag())) {
      throw needsConditions(
          "writes no object in the place of one whose ETag it has told (If-Match)", null);
    }
    if (isReplaced(WRONG_ETAG)) {
      throw unconditional("that must be another one (If-Match)");
    }
  }

  private boolean isReplaced(String etag) throws FsException {
    try {
      String unused = bucket.replace(S3Keys.OWNER, etag, owner);
      return true;
    } catch (FsException e) {
      if (e.code() != FsError.STALE) {
        throw e;
      }
      return false;
    }
  }

  private FsException unconditional(String which) {
    return needsConditions(
        "writes an object %s: two nodes could write at once".formatted(which), null);
  }

  private FsException needsConditions(String problem, @Nullable FsException cause) {
    String text =
        "%s: this store %s. Checkpoints need a store with conditional writes"
            .formatted(place, cause == null ? problem : problem + " (" + cause.getMessage() + ")");
    return cause == null
        ? new FsException(FsError.UNSUPPORTED, text)
        : new FsException(FsError.UNSUPPORTED, text, cause);
  }

  /** Gives the store free if it was when this process took it, and nothing was written. */
  void giveBack() {
    if (isNew) {
      try {
        bucket.delete(S3Keys.OWNER);
      } catch (FsException e) {
        log.warn("the store stays this node's: {}", e.getMessage());
      }
    }
  }

  /** Makes the object this node's if it is not there; returns whether it was not. */
  private boolean create() throws FsException {
    try {
      String unused = bucket.create(S3Keys.OWNER, owner);
      return true;
    } catch (FsException e) {
      return switch (e.code()) {
        case STALE -> false;
        case UNSUPPORTED -> throw needsConditions("refuses conditions", e);
        default -> throw e;
      };
    }
  }

  private boolean isOwn(ObjectBucket.@Nullable Content there) {
    return there != null && Arrays.equals(there.bytes(), owner);
  }

  /** Makes sure that this node still is the one that may write. */
  void require() throws FsException {
    if (!isOwn(bucket.get(S3Keys.OWNER))) {
      throw takenOver(place);
    }
    checked = System.nanoTime();
  }

  /** The same, unless that was asked for shortly before. */
  void requireAgain() throws FsException {
    if (System.nanoTime() - checked > OWNED) {
      require();
    }
  }

  /** Has an object name this mount as the last one. */
  void note(S3LastMount last) throws FsException {
    require();
    last.note(owner);
  }

  /** Gives the store free. */
  void release() throws FsException {
    require();
    bucket.delete(S3Keys.OWNER);
  }

  /** Returns the failure of a process whose store another one has taken. */
  static FsException takenOver(String place) {
    return new FsException(
        FsError.BUSY,
        place
            + ": another node has taken the store over: nothing is written to it from here any"
            + " more");
  }
}
