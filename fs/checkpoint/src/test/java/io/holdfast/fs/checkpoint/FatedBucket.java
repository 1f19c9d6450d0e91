package io.holdfast.fs.checkpoint;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.origin.s3.ObjectBucket;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A bucket of which one request goes wrong: it fails before or after the bucket has done it, or the
 * process is killed then, and no request of it comes after. Tells the requests that changed
 * something. Thread-safe.
 */
final class FatedBucket implements ObjectBucket {
  /** The process is gone, in the middle of whatever it did. */
  static final class Killed extends Error {
    private static final long serialVersionUID = 1L;
  }

  /** The fate of a request. */
  enum Fate {
    FAILS,
    FAILS_AFTERWARDS,
    /** It fails; if it puts the index, it is on its way until {@link #arrive}. */
    IS_LATE,
    IS_KILLED,
    IS_KILLED_AFTERWARDS,
    /** The answer is lost on its way, and the client sends the request again. */
    IS_SENT_TWICE
  }

  private final ObjectBucket bucket;
  private final List<String> changes = new CopyOnWriteArrayList<>();
  private int left = Integer.MAX_VALUE;
  private Fate fate = Fate.FAILS;
  private boolean killed;
  private @Nullable Request<?> late;

  FatedBucket(ObjectBucket bucket) {
    this.bucket = bucket;
  }

  /** Decides what becomes of the request behind some others. */
  synchronized void decide(int requests, Fate what) {
    left = requests;
    fate = what;
  }

  /** Has the bucket get the index that is late, if there is one; returns whether it takes it. */
  boolean arrive() throws FsException {
    Request<?> arriving = late;
    late = null;
    try {
      return arriving != null && arriving.send() != null;
    } catch (FsException e) {
      if (e.code() != FsError.STALE) {
        throw e;
      }
      return false;
    }
  }

  /** Tells whether an index is late. */
  boolean isLate() {
    return late != null;
  }

  synchronized boolean isKilled() {
    return killed;
  }

  /** Returns the changes until now: the method and the key. */
  List<String> changes() {
    return changes;
  }

  private interface Request<T> {
    T send() throws FsException;
  }

  /** Returns whether it is the turn of the one request. */
  private synchronized boolean isFated() {
    if (killed) {
      throw new Killed();
    }
    return left-- == 0;
  }

  private synchronized Killed kill() {
    killed = true;
    return new Killed();
  }

  private <T> T send(Request<T> request) throws FsException {
    return send(request, false);
  }

  private <T> T send(Request<T> request, boolean isIndex) throws FsException {
    if (!isFated()) {
      return request.send();
    }
    if (fate == Fate.IS_KILLED) {
      throw kill();
    }
    if (fate == Fate.IS_LATE) {
      late = isIndex ? request : null;
    } else if (fate != Fate.FAILS) {
      T unused = request.send();
    }
    if (fate == Fate.IS_SENT_TWICE) {
      return request.send();
    }
    if (fate == Fate.IS_KILLED_AFTERWARDS) {
      throw kill();
    }
    throw new FsException(FsError.IO, "fate");
  }

  private <T> T change(String what, Request<T> request) throws FsException {
    return send(
        () -> {
          changes.add(what);
          return request.send();
        },
        what.equals("replace " + S3Keys.INDEX));
  }

  @Override
  public void probe() throws FsException {
    bucket.probe();
  }

  @Override
  public String prefix() {
    return bucket.prefix();
  }

  @Override
  public @Nullable Content get(String key) throws FsException {
    return send(() -> bucket.get(key));
  }

  @Override
  public String put(String key, byte[] bytes) throws FsException {
    return change("put " + key, () -> bucket.put(key, bytes));
  }

  @Override
  public String create(String key, byte[] bytes) throws FsException {
    return change("create " + key, () -> bucket.create(key, bytes));
  }

  @Override
  public String replace(String key, String etag, byte[] bytes) throws FsException {
    return change("replace " + key, () -> bucket.replace(key, etag, bytes));
  }

  @Override
  public String upload(String key, Path file, long size) throws FsException {
    return change("upload " + key, () -> bucket.upload(key, file, size));
  }

  @Override
  public String copy(String from, String etag, long size, String to) throws FsException {
    return change("copy " + to, () -> bucket.copy(from, etag, size, to));
  }

  @Override
  public void download(String key, String etag, long size, Path file) throws FsException {
    boolean unused =
        send(
            () -> {
              bucket.download(key, etag, size, file);
              return true;
            });
  }

  @Override
  public void delete(String key) throws FsException {
    boolean unused =
        change(
            "delete " + key,
            () -> {
              bucket.delete(key);
              return true;
            });
  }

  @Override
  public List<String> keys(String begin, int limit) throws FsException {
    return send(() -> bucket.keys(begin, limit));
  }

  @Override
  public void abortUploads(Predicate<String> which) throws FsException {
    boolean unused =
        send(
            () -> {
              bucket.abortUploads(which);
              return true;
            });
  }

  @Override
  public void close() {
    bucket.close();
  }
}
