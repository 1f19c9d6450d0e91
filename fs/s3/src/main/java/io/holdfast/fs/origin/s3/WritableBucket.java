package io.holdfast.fs.origin.s3;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.NamedThreads;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongFunction;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.core.exception.RetryableException;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.AbortableInputStream;
import software.amazon.awssdk.http.ContentStreamProvider;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.EncodingType;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.ListMultipartUploadsResponse;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;
import software.amazon.awssdk.services.s3.model.MultipartUpload;
import software.amazon.awssdk.services.s3.model.NoSuchUploadException;
import software.amazon.awssdk.services.s3.model.RequestPayer;
import software.amazon.awssdk.services.s3.model.S3Object;

/**
 * The bucket by Amazon's client. Large objects go in parts, several at a time; the store shows them
 * once all parts are there.
 */
public final class WritableBucket implements ObjectBucket {
  private static final Logger log = LoggerFactory.getLogger(WritableBucket.class);

  /** Parts at a time, of all objects together; as many pieces of downloads besides. */
  private static final int AT_ONCE = 8;

  /** Most parts of an object in S3. */
  private static final int MOST_PARTS = 10_000;

  /** How much longer than other requests the requests of {@link #patient} may take. */
  private static final int PATIENCE = 15;

  private static final int PIECE = 4 << 20;

  /** The largest body that a PUT sends within the deadline of other requests. */
  private static final long QUICK = 1 << 20;

  /** The bytes a second that a link must carry for each of the parts that are sent at a time. */
  private static final long SLOWEST = 64 << 10;

  private static final int PAGE = 1000;
  private static final String OCTETS = "application/octet-stream";
  private static final int LARGEST_SMALL = 128 << 20;

  /**
   * The sizes from which objects go in parts, in bytes.
   *
   * @param upload of a part that this machine sends; also the least object that goes in parts
   * @param copy the same for what the store copies
   */
  public record Parts(long upload, long copy) {
    /** A part that is sent again costs little, and few objects have more than one. */
    public static final Parts STANDARD = new Parts(16L << 20, 256L << 20);
  }

  private final S3Settings settings;
  private final S3Client client;

  /**
   * For requests that have the store copy bytes, or put the parts of an upload together: the store
   * may answer only when it has done that, which takes minutes for a large object. Also for
   * requests that send many bytes: the store answers once the last byte has left the buffers of
   * this machine, and eight parts share a slow link.
   */
  private final S3Client patient;

  private final String bucket;
  private final String prefix;
  private final @Nullable RequestPayer payer;
  private final Parts parts;
  private volatile Match match = Match.UNKNOWN;

  /** Uploads that were given up, and that the store has not ended yet. */
  private final Queue<Upload> unended = new ConcurrentLinkedQueue<>();

  private final ExecutorService threads =
      Executors.newFixedThreadPool(AT_ONCE, new NamedThreads("s3-parts"));

  /** Downloads have threads of their own, so that a reader does not wait for uploads. */
  private final ExecutorService downloads =
      Executors.newFixedThreadPool(AT_ONCE, new NamedThreads("s3-downloads"));

  /**
   * Creates a client, without a request.
   *
   * @throws FsException where the settings allow none; the message says what to do
   */
  public WritableBucket(S3Settings settings, Parts parts) throws FsException {
    this.settings = settings;
    this.bucket = settings.location().bucket();
    this.prefix = settings.location().prefix();
    this.payer = settings.requesterPays() ? RequestPayer.REQUESTER : null;
    this.parts = parts;
    try {
      client = Bucket.client(settings);
      patient = Bucket.client(settings.withDeadline(settings.deadline().multipliedBy(PATIENCE)));
    } catch (RuntimeException e) {
      throw S3Failures.atStart(settings, e);
    }
  }

  /** A request to the store. */
  @FunctionalInterface
  private interface Call<T> {
    T run();
  }

  private static <T> T call(String key, Call<T> call) throws FsException {
    try {
      return call.run();
    } catch (RuntimeException e) {
      throw S3Failures.of(key, e);
    }
  }

  private static String quoted(String etag) {
    return '"' + etag + '"';
  }

  /** How a PUT names the ETag of the object that it replaces. */
  private enum Match {
    /** Not known yet: no PUT has replaced an object. */
    UNKNOWN,
    /** In quotes, as HTTP wants it. */
    QUOTED,
    /** Without: Ceph's gateway compares all of the text, and no ETag of it has quotes. */
    BARE
  }

  @Override
  public void probe() throws FsException {
    try {
      client.listObjectsV2(r -> r.bucket(bucket).prefix(prefix).maxKeys(1).requestPayer(payer));
    } catch (RuntimeException e) {
      throw S3Failures.atStart(settings, e);
    }
  }

  @Override
  public String prefix() {
    return prefix;
  }

  @Override
  public @Nullable Content get(String key) throws FsException {
    try {
      return call(
          key,
          () ->
              client.getObject(
                  r -> r.bucket(bucket).key(prefix + key).requestPayer(payer),
                  (answer, body) -> new Content(small(body), Entries.unquoted(answer.eTag()))));
    } catch (FsException e) {
      if (e.code() == FsError.NOT_FOUND) {
        return null;
      }
      throw e;
    }
  }

  private static byte[] small(AbortableInputStream body) throws IOException {
    byte[] bytes = body.readNBytes(LARGEST_SMALL);
    if (bytes.length == LARGEST_SMALL) {
      body.abort();
      throw SdkClientException.create("it is larger than %d bytes".formatted(LARGEST_SMALL));
    }
    return bytes;
  }

  private String put(String key, RequestBody body, @Nullable String match, @Nullable String none)
      throws FsException {
    S3Client sender = body.optionalContentLength().orElse(0L) > QUICK ? patient : client;
    String etag =
        Entries.unquoted(
            call(
                key,
                () ->
                    sender
                        .putObject(
                            r ->
                                r.bucket(bucket)
                                    .key(prefix + key)
                                    .ifMatch(match)
                                    .ifNoneMatch(none)
                                    .requestPayer(payer)
                                    .overrideConfiguration(o -> o.apiCallTimeout(toSend(body))),
                            body)
                        .eTag()));
    abortUnended(); // the store answers
    return etag;
  }

  @Override
  public String put(String key, byte[] bytes) throws FsException {
    return put(key, body(key, bytes), null, null);
  }

  @Override
  public String create(String key, byte[] bytes) throws FsException {
    return put(key, body(key, bytes), null, "*");
  }

  @Override
  public String replace(String key, String etag, byte[] bytes) throws FsException {
    RequestBody body = body(key, bytes);
    if (match != Match.BARE) {
      try {
        String made = put(key, body, quoted(etag), null);
        match = Match.QUOTED;
        return made;
      } catch (FsException e) {
        if (e.code() != FsError.STALE || match == Match.QUOTED) {
          throw e;
        }
        log.debug("{}: the same again without quotes: {}", key, e.getMessage());
      }
    }
    String made = put(key, body, etag, null);
    match = Match.BARE;
    return made;
  }

  /** Nobody could read a larger one again. */
  private static RequestBody body(String key, byte[] bytes) throws FsException {
    if (bytes.length >= LARGEST_SMALL) {
      throw new FsException(
          FsError.INVALID,
          "%s would have %d bytes, and may have less than %d: there are too many names"
              .formatted(key, bytes.length, LARGEST_SMALL));
    }
    return RequestBody.fromBytes(bytes);
  }

  @Override
  public String upload(String key, Path file, long size) throws FsException {
    if (size <= parts.upload()) {
      return put(key, part(file, 0, size), null, null);
    }
    return inParts(
        key,
        size,
        parts.upload(),
        (id, number, begin, end) -> uploadPart(key, id, number, part(file, begin, end)));
  }

  private String uploadPart(String key, String id, int number, RequestBody body) {
    return patient
        .uploadPart(
            r ->
                r.bucket(bucket)
                    .key(prefix + key)
                    .uploadId(id)
                    .partNumber(number)
                    .requestPayer(payer)
                    .overrideConfiguration(o -> o.apiCallTimeout(toSend(body))),
            body)
        .eTag();
  }

  /**
   * Returns how long a request may take that sends a body. TCP alone takes a quarter of an hour to
   * give up a connection that has died in the middle of a body.
   */
  private Duration toSend(RequestBody body) {
    long bytes = body.optionalContentLength().orElse(0L);
    return settings.deadline().plusSeconds(bytes > QUICK ? bytes / SLOWEST : 0);
  }

  private static RequestBody part(Path file, long begin, long end) {
    return RequestBody.fromContentProvider(
        () -> new PartStream(file, begin, end), end - begin, OCTETS);
  }

  @Override
  public String copy(String from, String etag, long size, String to) throws FsException {
    String made;
    if (size <= parts.copy()) {
      made = copyWhole(from, etag, to);
    } else if (isDecodedTwice(prefix + from)) {
      made =
          inParts(
              to,
              size,
              parts.upload(),
              (id, number, begin, end) ->
                  uploadPart(to, id, number, part(new Piece(from, etag, size, begin, end))));
    } else {
      made =
          inParts(
              to,
              size,
              parts.copy(),
              (id, number, begin, end) ->
                  patient
                      .uploadPartCopy(
                          r ->
                              r.sourceBucket(bucket)
                                  .sourceKey(prefix + from)
                                  .copySourceIfMatch(quoted(etag))
                                  .copySourceRange("bytes=" + begin + "-" + (end - 1))
                                  .destinationBucket(bucket)
                                  .destinationKey(prefix + to)
                                  .uploadId(id)
                                  .partNumber(number)
                                  .requestPayer(payer))
                      .copyPartResult()
                      .eTag());
    }
    if (!made.equals(etag)) { // the same ETag would be the same bytes
      requireSource(from, etag);
    }
    return made;
  }

  private String copyWhole(String from, String etag, String to) throws FsException {
    return Entries.unquoted(
        call(
            to,
            () ->
                patient
                    .copyObject(
                        r ->
                            r.sourceBucket(bucket)
                                .sourceKey(prefix + from)
                                .copySourceIfMatch(quoted(etag))
                                .destinationBucket(bucket)
                                .destinationKey(prefix + to)
                                .requestPayer(payer))
                    .copyObjectResult()
                    .eTag()));
  }

  /**
   * Fails with STALE unless an object still has an ETag: Ceph's gateway copies an object whatever
   * x-amz-copy-source-if-match says.
   */
  private void requireSource(String key, String etag) throws FsException {
    if (!etagOf(key).equals(etag)) {
      throw new FsException(FsError.STALE, key + ": changed while the store copied it");
    }
  }

  private String etagOf(String key) throws FsException {
    return Entries.unquoted(
        call(
            key,
            () ->
                client
                    .headObject(r -> r.bucket(bucket).key(prefix + key).requestPayer(payer))
                    .eTag()));
  }

  /**
   * Tells whether a key may be another one as the source of a part: Ceph's gateway decodes that
   * twice, so that {@code a%41} is {@code aA}, and looks for a version behind a question mark.
   * Objects that are copied as a whole are not concerned.
   */
  private static boolean isDecodedTwice(String key) {
    return key.indexOf('%') >= 0 || key.indexOf('?') >= 0;
  }

  /**
   * A range of an object to read.
   *
   * @param etag the object's
   * @param size the object's
   * @param begin first byte
   * @param end the byte after the last one
   */
  private record Piece(String key, String etag, long size, long begin, long end) {
    int length() {
      return Math.toIntExact(end - begin);
    }

    /**
     * Fails unless an answer has this range of this object: some stores and caches ignore If-Match
     * or Range.
     */
    void check(GetObjectResponse answer) {
      if (!Entries.unquoted(answer.eTag()).equals(etag)) {
        throw new S3Failures.WrongAnswer(FsError.STALE, "the store has another object by now");
      }
      String range = answer.contentRange();
      boolean right =
          range == null
              ? begin == 0 && end == size
              : range.startsWith("bytes " + begin + "-" + (end - 1) + "/");
      Long told = answer.contentLength();
      if (!right || (told != null && told != end - begin)) {
        throw wrongLength(told);
      }
    }

    S3Failures.WrongAnswer wrongLength(@Nullable Object told) {
      return new S3Failures.WrongAnswer(
          FsError.IO, "asked for %d bytes and was answered with %s".formatted(end - begin, told));
    }
  }

  private GetObjectRequest request(Piece piece) {
    return GetObjectRequest.builder()
        .bucket(bucket)
        .key(prefix + piece.key())
        .ifMatch(quoted(piece.etag()))
        .range("bytes=" + piece.begin() + "-" + (piece.end() - 1))
        .requestPayer(payer)
        .build();
  }

  /** Returns a part of an object as a body; each attempt to send it requests it again. */
  private RequestBody part(Piece piece) {
    return RequestBody.fromContentProvider(
        ContentStreamProvider.fromInputStreamSupplier(() -> open(piece)),
        piece.end() - piece.begin(),
        OCTETS);
  }

  private ResponseInputStream<GetObjectResponse> open(Piece piece) {
    ResponseInputStream<GetObjectResponse> body = client.getObject(request(piece));
    try {
      piece.check(body.response());
    } catch (S3Failures.WrongAnswer e) {
      body.abort();
      throw e;
    }
    return body;
  }

  /** Brings a part to the store, and returns its ETag. */
  @FunctionalInterface
  private interface PartCall {
    String bring(String id, int number, long begin, long end);
  }

  private String inParts(String key, long size, long least, PartCall one) throws FsException {
    long length = Math.max(least, (size + MOST_PARTS - 1) / MOST_PARTS);
    String id =
        call(
                key,
                () ->
                    client.createMultipartUpload(
                        r -> r.bucket(bucket).key(prefix + key).requestPayer(payer)))
            .uploadId();
    boolean done = false;
    try {
      List<CompletedPart> completed =
          atOnce(
              threads,
              key,
              size,
              length,
              begin -> {
                int number = (int) (begin / length) + 1;
                String etag = one.bring(id, number, begin, Math.min(size, begin + length));
                return CompletedPart.builder().partNumber(number).eTag(etag).build();
              });
      String etag =
          call(
              key,
              () ->
                  patient
                      .completeMultipartUpload(
                          r ->
                              r.bucket(bucket)
                                  .key(prefix + key)
                                  .uploadId(id)
                                  .multipartUpload(m -> m.parts(completed))
                                  .requestPayer(payer))
                      .eTag());
      done = true;
      String made = Entries.unquoted(etag);
      return made.isEmpty() ? etagOf(key) : made; // Ceph's gateway leaves it out
    } finally {
      if (!done) {
        abort(new Upload(prefix + key, id));
      }
    }
  }

  /** An upload that was begun: its key with the prefix, and the store's name for it. */
  private record Upload(String key, String id) {}

  /** Takes the parts away, which cost money; if the store is away, once it answers again. */
  private void abort(Upload upload) {
    try {
      client.abortMultipartUpload(
          r -> r.bucket(bucket).key(upload.key()).uploadId(upload.id()).requestPayer(payer));
    } catch (NoSuchUploadException e) {
      log.debug("{} has no parts any more: {}", upload.key(), e.getMessage());
    } catch (RuntimeException e) {
      unended.add(upload);
      log.warn("parts of {} stay in the bucket for now: {}", upload.key(), e.getMessage());
    }
  }

  private void abortUnended() {
    for (int i = unended.size(); i > 0; i--) {
      Upload upload = unended.poll();
      if (upload != null) {
        abort(upload);
      }
    }
  }

  /**
   * Runs a request for each part, some at a time, and returns the answers in the order of parts.
   */
  private static <T> List<T> atOnce(
      ExecutorService threads, String key, long size, long length, LongFunction<T> one)
      throws FsException {
    AtomicReference<@Nullable RuntimeException> failure = new AtomicReference<>();
    List<Future<T>> futures = new ArrayList<>();
    List<T> answers = new ArrayList<>();
    try {
      for (long at = 0; at < size; at += length) {
        long begin = at;
        futures.add(threads.submit(() -> unlessFailed(failure, () -> one.apply(begin))));
      }
      for (Future<T> future : futures) {
        answers.add(future.get());
      }
      return answers;
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw S3Failures.of(key, cause);
      }
      throw new FsException(FsError.IO, key + ": " + e.getCause(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new FsException(FsError.IO, key + ": interrupted", e);
    } finally {
      failure.compareAndSet(null, new CancellationException("given up"));
      awaitEnd(futures);
    }
  }

  private static <T> T unlessFailed(
      AtomicReference<@Nullable RuntimeException> failure, Supplier<T> part) {
    RuntimeException before = failure.get();
    if (before != null) {
      throw before;
    }
    try {
      return part.get();
    } catch (RuntimeException e) {
      failure.compareAndSet(null, e);
      throw e;
    }
  }

  /** No part may come after an upload was given up: one that is under way is not cancelled. */
  private static void awaitEnd(List<? extends Future<?>> futures) {
    for (Future<?> future : futures) {
      try {
        future.get();
      } catch (ExecutionException e) {
        log.debug("a part has ended: {}", e.getMessage()); // the first failure was told
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }

  @Override
  public void download(String key, String etag, long size, Path file) throws FsException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      List<Boolean> done =
          atOnce(
              downloads,
              key,
              size,
              PIECE,
              begin -> {
                long end = Math.min(size, begin + PIECE);
                write(new Piece(key, etag, size, begin, end), channel);
                return true;
              });
      log.debug("{}: {} pieces", key, done.size());
    } catch (FsException e) {
      throw e;
    } catch (IOException e) {
      throw new FsException(FsError.IO, file + ": " + e.getMessage(), e);
    }
  }

  private static byte[] bytes(Piece piece, GetObjectResponse answer, AbortableInputStream body) {
    try {
      piece.check(answer);
      byte[] bytes = body.readNBytes(piece.length() + 1);
      if (bytes.length != piece.length()) {
        throw piece.wrongLength(bytes.length);
      }
      return bytes;
    } catch (S3Failures.WrongAnswer e) {
      body.abort();
      throw e;
    } catch (IOException e) {
      throw RetryableException.create("the body broke off: " + e.getMessage(), e);
    }
  }

  private void write(Piece piece, FileChannel to) {
    ByteBuffer bytes =
        ByteBuffer.wrap(
            client.getObject(request(piece), (answer, body) -> bytes(piece, answer, body)));
    try {
      long at = piece.begin();
      while (bytes.hasRemaining()) {
        at += to.write(bytes, at);
      }
    } catch (IOException e) {
      throw SdkClientException.create(String.valueOf(e.getMessage()), e);
    }
  }

  @Override
  public void delete(String key) throws FsException {
    call(
        key,
        () -> client.deleteObject(r -> r.bucket(bucket).key(prefix + key).requestPayer(payer)));
  }

  @Override
  public List<String> keys(String begin, int limit) throws FsException {
    List<String> keys = new ArrayList<>();
    String token = null;
    do {
      String after = token;
      ListObjectsV2Response page =
          call(
              begin,
              () ->
                  client.listObjectsV2(
                      r ->
                          r.bucket(bucket)
                              .prefix(prefix + begin)
                              .maxKeys(Math.min(PAGE, limit))
                              .encodingType(EncodingType.URL)
                              .continuationToken(after)
                              .requestPayer(payer)));
      requireListing(begin, page.isTruncated());
      for (S3Object object : page.contents()) {
        keys.add(own(object.key(), begin));
      }
      boolean more = CheckedKeys.isTruncated(page);
      token = more ? page.nextContinuationToken() : null;
      requireProgress(begin, !more || (token != null && !token.equals(after)));
    } while (token != null && keys.size() < limit);
    return keys;
  }

  /** Returns a key without the prefix. Cut off blindly, a foreign key could name the index. */
  private String own(@Nullable String key, String begin) throws FsException {
    if (key == null || !key.startsWith(prefix + begin)) {
      throw new FsException(
          FsError.IO, begin + ": the store's listing has keys that were not asked for: " + key);
    }
    return key.substring(prefix.length());
  }

  /**
   * Fails where an answer does not say whether it is the whole listing: it is the page of a proxy,
   * or empty, and does not mean that there are no keys.
   */
  private static void requireListing(String begin, @Nullable Boolean isTruncated)
      throws FsException {
    if (isTruncated == null) {
      throw new FsException(FsError.IO, begin + ": the store's answer is no listing");
    }
  }

  /** Fails where a listing begins again: it would go on for ever. */
  private static void requireProgress(String begin, boolean goesOn) throws FsException {
    if (!goesOn) {
      throw new FsException(FsError.IO, begin + ": the store's listing does not go on");
    }
  }

  @Override
  public void abortUploads(Predicate<String> which) throws FsException {
    ListMultipartUploadsResponse page = null;
    do {
      ListMultipartUploadsResponse before = page;
      page =
          call(
              prefix,
              () ->
                  client.listMultipartUploads(
                      r ->
                          r.bucket(bucket)
                              .prefix(prefix)
                              .keyMarker(before == null ? null : before.nextKeyMarker())
                              .uploadIdMarker(before == null ? null : before.nextUploadIdMarker())
                              .requestPayer(payer)));
      requireListing(prefix, page.isTruncated());
      for (MultipartUpload upload : page.uploads()) {
        if (upload.key().startsWith(prefix)
            && which.test(upload.key().substring(prefix.length()))) {
          abort(new Upload(upload.key(), upload.uploadId()));
        }
      }
      requireProgress(prefix, !page.isTruncated() || !isAtSamePlace(page, before));
    } while (page.isTruncated());
  }

  private static boolean isAtSamePlace(
      ListMultipartUploadsResponse page, @Nullable ListMultipartUploadsResponse before) {
    return before == null
        ? page.nextKeyMarker() == null
        : Objects.equals(page.nextKeyMarker(), before.nextKeyMarker())
            && Objects.equals(page.nextUploadIdMarker(), before.nextUploadIdMarker());
  }

  @Override
  public void close() {
    threads.shutdown();
    downloads.shutdown();
    client.close();
    patient.close();
  }
}
