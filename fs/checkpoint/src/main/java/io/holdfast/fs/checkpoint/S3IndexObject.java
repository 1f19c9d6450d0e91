package io.holdfast.fs.checkpoint;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.Procfs;
import io.holdfast.fs.origin.s3.ObjectBucket;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.HashSet;
import java.util.List;
import java.util.NavigableMap;
import java.util.Set;
import java.util.function.LongSupplier;
import jnr.constants.platform.Errno;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The object with the {@link S3Index}, which one process replaces, each time only if it still is
 * the one that the process knows. One thread writes; {@link #now} is thread-safe.
 */
final class S3IndexObject {
  private static final Logger log = LoggerFactory.getLogger(S3IndexObject.class);
  private static final SecureRandom random = new SecureRandom();
  private static final int ATTEMPTS = 10;

  private final ObjectBucket bucket;
  private final String place;

  /** The stamps of indexes that were sent, and that the bucket may have. */
  private final Set<Long> sent = new HashSet<>();

  private String etag = "";
  private volatile S3Index now;

  /**
   * Makes the object in the bucket this process's, or begins one.
   *
   * @param place the store as people write it
   * @param clock nanoseconds of the epoch
   * @throws IOException with one line if there is none and the prefix has objects, if the index is
   *     damaged, or if another process replaces it all the time
   */
  S3IndexObject(ObjectBucket bucket, String place, LongSupplier clock) throws IOException {
    this.bucket = bucket;
    this.place = place;
    this.now = take(clock);
  }

  private S3Index take(LongSupplier clock) throws IOException {
    for (int i = 0; i < ATTEMPTS; i++) {
      ObjectBucket.Content there = bucket.get(S3Keys.INDEX);
      S3Index next;
      try {
        if (there == null) {
          requireEmpty();
          next = S3Index.empty(random.nextLong(), Procfs.ownUid(), clock.getAsLong());
          etag = bucket.create(S3Keys.INDEX, next.encode());
        } else {
          next = S3Index.decode(there.bytes()).stamped(random.nextLong());
          etag = bucket.replace(S3Keys.INDEX, there.etag(), next.encode());
        }
        return next;
      } catch (FsException e) {
        if (e.code() != FsError.STALE) {
          throw e;
        }
      }
    }
    throw ErrnoException.because(Errno.EBUSY, "", "another node writes to the store " + place);
  }

  private void requireEmpty() throws FsException {
    // a plan without its index would have objects deleted
    Set<String> allowed = Set.of(S3Keys.OWNER, S3Keys.LAST);
    for (String key : bucket.keys("", allowed.size() + 1)) {
      if (!allowed.contains(key)) {
        throw new FsException(
            FsError.INVALID,
            "%s: there are objects (%s) and no index of Holdfast: give a prefix without objects"
                .formatted(place, key));
      }
    }
  }

  /** Returns the index that the bucket has, as far as this process knows. */
  S3Index now() {
    return now;
  }

  /**
   * Finds out whether the bucket has an index that was sent and not answered for. If not, the last
   * one is put again under another stamp: so none that was sent can arrive any more.
   */
  void refresh() throws FsException {
    for (int i = 0; i < ATTEMPTS && !sent.isEmpty(); i++) {
      findSent();
    }
    if (!sent.isEmpty()) {
      throw S3Owner.takenOver(place);
    }
  }

  private void findSent() throws FsException {
    ObjectBucket.Content there = bucket.get(S3Keys.INDEX);
    if (there == null) {
      throw S3Owner.takenOver(place);
    }
    S3Index index;
    try {
      index = S3Index.decode(there.bytes());
    } catch (ErrnoException e) {
      throw new FsException(FsError.IO, place + ": " + e.getMessage(), e);
    }
    if (!sent.contains(index.stamp()) && index.stamp() != now.stamp()) {
      throw S3Owner.takenOver(place);
    }
    etag = there.etag();
    if (index.stamp() != now.stamp()) {
      now = index;
      sent.clear();
      return;
    }
    try {
      send(now.stamped(random.nextLong()));
    } catch (FsException e) {
      if (e.code() != FsError.STALE) {
        throw e;
      }
      log.debug("an index that was sent has arrived: {}", e.getMessage());
    }
  }

  private void send(S3Index next) throws FsException {
    sent.add(next.stamp());
    etag = bucket.replace(S3Keys.INDEX, etag, next.encode());
    now = next;
    sent.clear();
  }

  /**
   * Puts the next index in the place of the last one. If this fails, the bucket may have it all the
   * same: {@link #refresh} tells.
   */
  void put(long row, NavigableMap<String, S3Index.Name> names, List<String> garbage)
      throws FsException {
    S3Index next = new S3Index(random.nextLong(), row, names, garbage);
    try {
      send(next);
    } catch (FsException e) {
      if (e.code() != FsError.STALE) {
        throw e;
      }
      refresh(); // the client may have sent it twice
      if (now.stamp() != next.stamp()) {
        throw e;
      }
    }
  }
}
