package io.holdfast.fs.origin.s3;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.NamedThreads;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.Origin;
import io.holdfast.fs.origin.OriginFile;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.origin.StoreFigures;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;

/**
 * An origin that is a prefix of an S3 bucket. {@link KeyNames} maps keys to a tree.
 *
 * <p>A version is size, time in whole seconds and ETag. Every GET names the version (If-Match), so
 * bytes of another version never arrive. Requests that fail temporarily are retried; every call
 * ends within about the deadline of the settings.
 *
 * <p>There are no symlinks, hard links, special files or extended attributes. Listings are in the
 * order of general purpose buckets: by key.
 */
public final class S3Origin implements Origin {
  /** Most prefetched pieces in memory. */
  private static final int BUFFERS = 16;

  /** Most bytes of memory outside the heap that an origin takes. */
  public static final long BUFFER_BYTES = (long) BUFFERS * S3File.PIECE;

  private static final int THREADS = 64;
  private static final int IDLE_SECONDS = 10;

  /** Figures of a store without a size of its own: 1 PiB, all of it free. */
  private static final StoreFigures FIGURES =
      new StoreFigures(
          1 << 20, 4096, 1L << 38, 1L << 38, 1L << 38, 1L << 40, 1L << 40, 1L << 40, 255);

  private final S3Settings settings;
  private final Bucket bucket;
  private final SortedKeys keys;
  private final Entries entries;
  private final ExecutorService threads;
  private final S3File.Ahead ahead;

  private S3Origin(S3Settings settings, Bucket bucket) {
    this.settings = settings.withEndpoint(bucket.endpoint());
    this.bucket = bucket;
    this.keys = new CheckedKeys(bucket);
    this.entries = new Entries(settings);
    this.threads =
        new ThreadPoolExecutor(
            0,
            THREADS,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new SynchronousQueue<>(),
            new NamedThreads("s3"),
            (task, pool) -> task.run());
    this.ahead = new S3File.Ahead(threads, new Semaphore(BUFFERS));
  }

  /**
   * Opens a prefix as an origin, and requests its first key.
   *
   * @throws FsException where the store does not answer, refuses, or has nothing there; the message
   *     says what to do
   */
  public static S3Origin open(S3Settings settings) throws FsException {
    S3Origin origin = reopen(settings);
    boolean found = false;
    try {
      String prefix = settings.location().prefix();
      SortedKeys.Page first = SortedKeys.Page.flat(prefix, null, 1);
      ListObjectsV2Response answer = origin.bucket.list(first);
      if (answer.isTruncated() == null) {
        throw new FsException(
            FsError.UNAVAILABLE,
            settings.location()
                + ": the store's answer is no listing: is this a store of S3? check --s3-endpoint;"
                + " many stores want --s3-path-style");
      }
      if (answer.contents().isEmpty() && !CheckedKeys.isTruncated(answer)) {
        throw new FsException(FsError.NOT_FOUND, S3Failures.nothingAt(origin.settings));
      }
      found = true;
      return origin;
    } catch (RuntimeException e) {
      throw S3Failures.atStart(origin.settings, e);
    } finally {
      if (!found) {
        origin.close();
      }
    }
  }

  /**
   * Opens a prefix without a request, for a mount that outlives its daemon: the store need not
   * answer at this moment.
   *
   * @throws FsException where no client can be created
   */
  public static S3Origin reopen(S3Settings settings) throws FsException {
    try {
      return new S3Origin(settings, new Bucket(settings));
    } catch (RuntimeException e) {
      throw S3Failures.atStart(settings, e);
    }
  }

  @Override
  public String describe() {
    return settings.location().toString();
  }

  /**
   * Returns the bucket with its store, owner and modes: a bucket's name is unique in one store
   * only, and the options set owner and modes.
   */
  @Override
  public String identity() {
    return "%s at %s, %d:%d, %o, %o"
        .formatted(
            describe(),
            settings.endpoint() == null ? "AWS" : settings.endpoint(),
            settings.uid(),
            settings.gid(),
            settings.fileMode(),
            settings.directoryMode());
  }

  @Override
  public boolean mayHang() {
    return true;
  }

  @Override
  public void probe() throws FsException {
    String prefix = settings.location().prefix();
    bucket.list(SortedKeys.Page.flat(prefix, null, 1), describe());
  }

  /**
   * Asks for a file and a directory of this name at once; the directory wins. So does the failure
   * of its listing: the answer to a HEAD has no body that tells why the store refuses.
   */
  @Override
  public Attributes stat(OriginPath path) throws FsException {
    String key = KeyNames.key(settings.location(), path);
    if (path.equals(OriginPath.ROOT)) {
      return entries.directory(key);
    }
    CompletableFuture<Boolean> directory =
        CompletableFuture.supplyAsync(() -> hasKeysBelow(key, path), threads);
    HeadObjectResponse head = null;
    FsException failure = null;
    try {
      head = bucket.head(key, path.toString());
    } catch (FsException e) {
      failure = e;
    }
    if (get(directory)) {
      return entries.directory(key);
    }
    if (failure != null) {
      throw failure;
    }
    if (head == null) {
      throw KeyNames.missing(path);
    }
    return entries.file(key, head.contentLength(), head.lastModified(), head.eTag());
  }

  private boolean hasKeysBelow(String key, OriginPath path) {
    try {
      return keys.hasKeys(key + "/", path.toString());
    } catch (FsException e) {
      throw new CompletionException(e);
    }
  }

  private static boolean get(CompletableFuture<Boolean> answer) throws FsException {
    try {
      return answer.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof FsException failure) {
        throw new FsException(failure.code(), String.valueOf(failure.getMessage()), failure);
      }
      throw e;
    }
  }

  /** Fails: there are no symlinks. */
  @Override
  public byte[] readLink(OriginPath path, Attributes known) throws FsException {
    stat(path);
    throw new FsException(FsError.INVALID, path + ": not a symlink");
  }

  @Override
  public void list(OriginPath path, EntrySink sink) throws FsException {
    String prefix = prefix(path);
    DirectoryListing listing = new DirectoryListing(entries, prefix, sink);
    String token = null;
    do {
      ListObjectsV2Response page =
          keys.list(SortedKeys.Page.directory(prefix, token), path.toString());
      listing.page(page);
      token = next(page);
    } while (token != null);
    if (!listing.end()) {
      requireDirectory(path);
    }
  }

  private static @Nullable String next(ListObjectsV2Response page) {
    return CheckedKeys.isTruncated(page) ? page.nextContinuationToken() : null;
  }

  /** Fails unless the path is an empty directory: a listing has found nothing there. */
  private void requireDirectory(OriginPath path) throws FsException {
    if (!path.equals(OriginPath.ROOT) && !stat(path).isDirectory()) {
      throw new FsException(FsError.NOT_DIRECTORY, path + ": not a directory");
    }
  }

  /** Returns the prefix of the keys in a directory. */
  private String prefix(OriginPath path) throws FsException {
    String key = KeyNames.key(settings.location(), path);
    return path.equals(OriginPath.ROOT) ? key : key + "/";
  }

  @Override
  public OriginFile open(OriginPath path, Part part) throws FsException {
    String key = KeyNames.key(settings.location(), path);
    if (part.version().etag().isEmpty() || part.length() == 0 || part.version().size() == 0) {
      requireVersion(path, part); // no GET would check the version
    }
    RangeReader.Source source =
        new RangeReader.Source(bucket, key, part.version(), path.toString(), settings.deadline());
    try {
      return S3File.open(source, ahead, part);
    } catch (FsException e) {
      if (e.code() == FsError.NOT_FOUND) {
        requireVersion(path, part);
      }
      throw e;
    }
  }

  private void requireVersion(OriginPath path, Part part) throws FsException {
    Attributes now = stat(path);
    if (now.isDirectory()) {
      throw new FsException(FsError.IS_DIRECTORY, path + ": a directory");
    }
    if (!now.version().equals(part.version())) {
      throw new FsException(FsError.STALE, path + ": changed at the origin");
    }
  }

  @Override
  public boolean hasDirectories() {
    return false;
  }

  /** Scans by flat listings, see {@link S3Scan}. */
  @Override
  public void scan(OriginPath directory, Executor executor, ScanSink sink) throws FsException {
    S3Scan.Target target = new S3Scan.Target(directory, prefix(directory));
    if (!new S3Scan(keys, entries, target, executor, sink).run()) {
      requireDirectory(directory);
      sink.complete(directory);
    }
  }

  /** Fails without a request, since every {@code ls -l} asks for attributes of every file. */
  @Override
  public byte[] extendedAttribute(OriginPath path, Attributes known, byte[] name)
      throws FsException {
    throw new FsException(FsError.NO_ATTRIBUTE, path + ": no extended attributes");
  }

  /** Returns none, without a request. */
  @Override
  public byte[] extendedAttributeNames(OriginPath path, Attributes known) {
    return new byte[0];
  }

  @Override
  public StoreFigures figures() {
    return FIGURES;
  }

  @Override
  public void close() {
    threads.shutdown();
    bucket.close();
  }
}
