package io.holdfast.fs.origin.s3;

import io.holdfast.fs.FsException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Whole objects of a bucket, below one prefix, for one who also writes them. Keys are without the
 * prefix, ETags without quotes. A method that returns has done its work durably; one that fails may
 * have done it, too. Thread-safe.
 *
 * <p>Methods throw {@link FsException}: NOT_FOUND if an object is missing, STALE if it is not the
 * one with the ETag that the caller named, ACCESS_DENIED, UNAVAILABLE if the store does not take
 * the credentials, TIMED_OUT, or IO.
 */
public interface ObjectBucket extends AutoCloseable {
  /** The longest key that S3 takes, with the prefix, in bytes. */
  int LONGEST_KEY = 1024;

  /**
   * The largest object that can be put, in bytes: S3 takes 10,000 parts, and larger ones than 64
   * MiB would not come through a slow network in time.
   */
  long LARGEST_OBJECT = 10_000L * (64 << 20);

  /** The bytes of an object and their ETag. Whoever gets it owns the array. */
  final class Content {
    private final byte[] bytes;
    private final String etag;

    /** Creates a content that has the array itself. */
    public Content(byte[] bytes, String etag) {
      this.bytes = bytes;
      this.etag = etag;
    }

    /** Returns the array itself. */
    public byte[] bytes() {
      return bytes;
    }

    /** Returns the ETag, without quotes. */
    public String etag() {
      return etag;
    }
  }

  /** Asks the store for a key; a failure says what to do, as at the start of a mount. */
  void probe() throws FsException;

  /** Returns the prefix, for the length of keys: empty, or with a slash at its end. */
  String prefix();

  /** Returns a small object, or null where there is none. Small is less than 128 MiB. */
  @Nullable Content get(String key) throws FsException;

  /** Puts a small object, and returns its ETag. A large one is not sent: INVALID. */
  String put(String key, byte[] bytes) throws FsException;

  /** The same for an object that must not be there yet: STALE if it is. */
  String create(String key, byte[] bytes) throws FsException;

  /** The same for one that must be there with an ETag: STALE if it is not. */
  String replace(String key, String etag, byte[] bytes) throws FsException;

  /** Puts the first {@code size} bytes of a file, and returns the ETag. */
  String upload(String key, Path file, long size) throws FsException;

  /** Has the store copy an object, and returns the ETag of the copy. */
  String copy(String from, String etag, long size, String to) throws FsException;

  /** Writes an object to a file that is there. */
  void download(String key, String etag, long size, Path file) throws FsException;

  /** Deletes an object, which may be missing. */
  void delete(String key) throws FsException;

  /**
   * Returns the first keys that begin with a text.
   *
   * @param limit how many at most
   */
  List<String> keys(String begin, int limit) throws FsException;

  /** Ends the uploads that somebody has begun and never completed, of some keys. */
  void abortUploads(Predicate<String> which) throws FsException;

  @Override
  void close();
}
