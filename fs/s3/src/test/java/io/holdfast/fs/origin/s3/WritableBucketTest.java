package io.holdfast.fs.origin.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.origin.S3Store;
import io.holdfast.fs.origin.SharedS3Server;
import io.holdfast.s3server.Fault;
import io.holdfast.s3server.ForwardingProxy;
import io.holdfast.s3server.Request;
import io.holdfast.s3server.S3Server;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import software.amazon.awssdk.services.s3.S3Client;

/** Objects that are written and read as a whole, against a real server. */
@ExtendWith(SharedS3Server.class)
@Execution(ExecutionMode.CONCURRENT)
@Timeout(60)
class WritableBucketTest {
  /** The smallest that S3 takes. */
  private static final int PART = 5 << 20;

  private static final int SIZE = 2 * PART + 7;

  /** Takes requests without a signature, which would name the headers that a proxy removes. */
  private static S3Server forEverybody;

  @TempDir Path directory;

  private ForwardingProxy proxy;
  private S3Store raw;
  private S3Settings settings;
  private WritableBucket bucket;

  @BeforeAll
  static void start() throws IOException {
    forEverybody = S3Server.startForEverybody();
  }

  @AfterAll
  static void end() throws IOException {
    forEverybody.close();
  }

  @BeforeEach
  void open() throws IOException {
    String name = SharedS3Server.newBucket();
    raw = new S3Store(SharedS3Server.endpoint(), name, "p/");
    proxy = ForwardingProxy.start(SharedS3Server.endpoint());
    settings =
        SharedS3Server.settings(proxy.endpoint(), "s3://" + name + "/p", Duration.ofSeconds(10));
    bucket = new WritableBucket(settings, new WritableBucket.Parts(PART, PART));
  }

  @AfterEach
  void close() throws IOException {
    bucket.close();
    raw.close();
    proxy.close();
  }

  private Path file(int size) throws IOException {
    byte[] bytes = new byte[size];
    new Random(size).nextBytes(bytes);
    return Files.write(directory.resolve("file-" + size), bytes);
  }

  private static boolean is(Throwable failure, FsError code) {
    return failure instanceof FsException e && e.code() == code;
  }

  /** Nobody could read it again. */
  @Test
  void smallObject_thatIsLarge_isNotSent() throws IOException {
    assertThatThrownBy(() -> bucket.put("a", new byte[128 << 20]))
        .matches(e -> is(e, FsError.INVALID));
    assertThat(bucket.get("a")).isNull();
  }

  @Test
  void largeObject_goesInParts_isCopiedInParts_andComesBack() throws IOException {
    Path file = file(SIZE);

    String etag = bucket.upload("50% a+b/ä", file, SIZE);
    assertThat(proxy.count(r -> r.isPut() && r.target().contains("partNumber"))).isEqualTo(3);
    String copied = bucket.copy("50% a+b/ä", etag, SIZE, "copy");

    Path back = Files.createFile(directory.resolve("back"));
    bucket.download("copy", copied, SIZE, back);
    assertThat(back).hasSameBinaryContentAs(file);
    assertThat(bucket.keys("", 10)).containsExactlyInAnyOrder("50% a+b/ä", "copy");
    bucket.delete("copy");
    bucket.delete("copy");
    assertThat(bucket.keys("co", 10)).isEmpty();
  }

  private long copies() {
    return proxy.count(r -> !r.header("x-amz-copy-source").isEmpty());
  }

  /** Ceph's gateway took {@code a%41} for {@code aA} there, and copied that. */
  @Test
  void keyThatAStoreMayDecodeTwice_isNoSourceOfAPart() throws IOException {
    Path file = file(SIZE);
    for (String key : new String[] {"a%41", "a?versionId=1"}) {
      String etag = bucket.upload(key, file, SIZE);
      assertThatThrownBy(() -> bucket.copy(key, "0".repeat(32), SIZE, "copy"))
          .matches(e -> is(e, FsError.STALE));

      String copied = bucket.copy(key, etag, SIZE, "copy");

      Path back = Files.write(directory.resolve("back"), new byte[0]);
      bucket.download("copy", copied, SIZE, back);
      assertThat(back).hasSameBinaryContentAs(file);
    }
    assertThat(copies()).isZero();

    bucket.copy("plain", bucket.upload("plain", file, SIZE), SIZE, "copy");
    assertThat(copies()).isEqualTo(3);
  }

  /** Ceph's gateway says so: the file of such an object could never be read again. */
  @Test
  void uploadThatIsCompletedWithoutAnEtag_hasTheOneOfTheObject() throws IOException {
    proxy.disturb(
        r -> r.method().equals("POST") && r.target().contains("uploadId="),
        1,
        new Fault.OtherBody(
            "<?xml version=\"1.0\"?><CompleteMultipartUploadResult><ETag></ETag>"
                + "</CompleteMultipartUploadResult>"));
    Path file = file(SIZE);

    String etag = bucket.upload("a", file, SIZE);

    Path back = Files.createFile(directory.resolve("back"));
    bucket.download("a", etag, SIZE, back);
    assertThat(back).hasSameBinaryContentAs(file);
  }

  /** Ceph's gateway compares If-Match with the bare ETag: no PUT replaced anything there. */
  @Test
  void storeThatWantsNoQuotesInIfMatch_getsNone() throws IOException {
    String first = bucket.create("a", new byte[] {1});
    proxy.disturb(
        r -> r.header("If-Match").startsWith("\""),
        Integer.MAX_VALUE,
        new Fault.Answer(412, "PreconditionFailed"));

    String second = bucket.replace("a", first, new byte[] {2});
    long sent = proxy.count(Request::isPut);
    String third = bucket.replace("a", second, new byte[] {3});

    assertThat(proxy.count(Request::isPut) - sent).isEqualTo(1);
    assertThatThrownBy(() -> bucket.replace("a", second, new byte[] {4}))
        .matches(e -> is(e, FsError.STALE));
    ObjectBucket.Content content = bucket.get("a");
    assertThat(content).isNotNull();
    assertThat(content.bytes()).containsExactly(3);
    assertThat(content.etag()).isEqualTo(third);
  }

  /** Ceph's gateway does not know the condition. */
  @Test
  void copyOfAnotherObject_isFoundOut_whereTheStoreIgnoresTheCondition() throws IOException {
    try (ForwardingProxy ignorant = ForwardingProxy.start(forEverybody.endpoint());
        S3Store store = new S3Store(forEverybody.endpoint(), settings.location().bucket(), "p/");
        WritableBucket open =
            new WritableBucket(anonymous(ignorant), new WritableBucket.Parts(PART, PART))) {
      ignorant.disturb(
          r -> true, Integer.MAX_VALUE, new Fault.Without("x-amz-copy-source-if-match"));
      String small = open.put("small", new byte[] {1});
      String large = open.upload("large", file(SIZE), SIZE);
      open.copy("small", small, 1, "copy");
      open.copy("large", large, SIZE, "copy");

      store.put("p/small", new byte[] {2});
      store.put("p/large", new byte[SIZE]);

      assertThatThrownBy(() -> open.copy("small", small, 1, "copy"))
          .matches(e -> is(e, FsError.STALE));
      assertThatThrownBy(() -> open.copy("large", large, SIZE, "copy"))
          .matches(e -> is(e, FsError.STALE));
    }
  }

  /**
   * A row commits again what a copy or a download has brought. Where the range is ignored, each
   * piece would have brought the whole object to the heap.
   */
  @Test
  void bytesThatWereNotAskedFor_areFoundOut_whereTheStoreIgnoresRangeOrCondition()
      throws IOException {
    try (ForwardingProxy ignorant = ForwardingProxy.start(forEverybody.endpoint());
        S3Store store = new S3Store(forEverybody.endpoint(), settings.location().bucket(), "p/");
        WritableBucket open =
            new WritableBucket(anonymous(ignorant), new WritableBucket.Parts(PART, PART))) {
      Path back = Files.createFile(directory.resolve("back"));
      String etag = open.upload("a%41", file(SIZE), SIZE);

      ignorant.disturb(r -> true, Integer.MAX_VALUE, new Fault.Without("Range"));
      assertThatThrownBy(() -> open.download("a%41", etag, SIZE, back))
          .matches(e -> is(e, FsError.IO))
          .hasMessageContaining("was answered with " + SIZE);
      assertThatThrownBy(() -> open.copy("a%41", etag, SIZE, "copy"))
          .matches(e -> is(e, FsError.IO))
          .hasMessageContaining("was answered with " + SIZE);
      ignorant.reset();
      ignorant.disturb(r -> true, Integer.MAX_VALUE, new Fault.Without("If-Match"));
      store.put("p/a%41", new byte[SIZE]);
      assertThatThrownBy(() -> open.download("a%41", etag, SIZE, back))
          .matches(e -> is(e, FsError.STALE));
      assertThatThrownBy(() -> open.copy("a%41", etag, SIZE, "copy"))
          .matches(e -> is(e, FsError.STALE));
      assertThat(open.keys("", 10)).containsExactly("a%41");
    }
  }

  private S3Settings anonymous(ForwardingProxy store) {
    return new S3Settings(
        settings.location(),
        store.endpoint(),
        null,
        true,
        true,
        false,
        0644,
        0755,
        0,
        0,
        settings.deadline());
  }

  @Test
  void conditions_areKept() throws IOException {
    assertThat(bucket.get("a")).isNull();
    String etag = bucket.create("a", new byte[] {1});
    assertThatThrownBy(() -> bucket.create("a", new byte[] {2})).matches(e -> is(e, FsError.STALE));
    String next = bucket.replace("a", etag, new byte[] {3});
    assertThatThrownBy(() -> bucket.replace("a", etag, new byte[] {4}))
        .matches(e -> is(e, FsError.STALE));
    ObjectBucket.Content content = bucket.get("a");
    assertThat(content).isNotNull();
    assertThat(content.bytes()).containsExactly(3);
    assertThat(content.etag()).isEqualTo(next);
    assertThatThrownBy(() -> bucket.copy("a", etag, 1, "b")).matches(e -> is(e, FsError.STALE));
    Path back = Files.createFile(directory.resolve("back"));
    assertThatThrownBy(() -> bucket.download("a", etag, 1, back))
        .matches(e -> is(e, FsError.STALE));
  }

  @Test
  void uploads_thatWereNeverCompleted_areEnded_ofTheKeysThatWereNamed() throws IOException {
    try (S3Client client = Bucket.client(settings)) {
      String name = settings.location().bucket();
      for (String key : new String[] {"p/mine", "p/other", "q/mine"}) {
        client.createMultipartUpload(r -> r.bucket(name).key(key));
      }

      bucket.abortUploads(key -> key.equals("mine"));

      assertThat(client.listMultipartUploads(r -> r.bucket(name)).uploads())
          .extracting(upload -> upload.key())
          .containsExactlyInAnyOrder("p/other", "q/mine");
    }
  }

  private static String listing(String key, String end) {
    return "<?xml version=\"1.0\"?><ListBucketResult><IsTruncated>true</IsTruncated><Contents><Key>"
        + key
        + "</Key><Size>1</Size></Contents>"
        + end
        + "</ListBucketResult>";
  }

  private void answerListings(String text) {
    proxy.reset();
    proxy.disturb(
        r -> r.target().contains("list-type=2"), Integer.MAX_VALUE, new Fault.OtherBody(text));
  }

  /** The mount would never begin, or keep keys until its heap is full. */
  @Test
  void listingThatDoesNotGoOn_fails() {
    for (String end : new String[] {"", "<NextContinuationToken>same</NextContinuationToken>"}) {
      answerListings(listing("p/a", end));

      assertThatThrownBy(() -> bucket.keys("", Integer.MAX_VALUE))
          .matches(e -> is(e, FsError.IO))
          .hasMessageContaining("does not go on");
    }
  }

  /** Without the length of the prefix, another key could be that of the index, and be deleted. */
  @Test
  void listingWithOtherKeys_fails() {
    for (String key : new String[] {"q/a", "p/b", "x"}) {
      answerListings(listing(key, ""));

      assertThatThrownBy(() -> bucket.keys("a", Integer.MAX_VALUE))
          .matches(e -> is(e, FsError.IO))
          .hasMessageContaining("were not asked for");
    }
  }

  @Test
  void listingOfUploads_thatDoesNotGoOn_fails() {
    proxy.disturb(
        r -> r.isGet() && r.target().contains("uploads"),
        Integer.MAX_VALUE,
        new Fault.OtherBody(
            "<?xml version=\"1.0\"?><ListMultipartUploadsResult><IsTruncated>true</IsTruncated>"
                + "</ListMultipartUploadsResult>"));

    assertThatThrownBy(() -> bucket.abortUploads(key -> true))
        .matches(e -> is(e, FsError.IO))
        .hasMessageContaining("does not go on");
  }

  /** A proxy's page, or nothing, with the status 200, counted as a bucket without keys. */
  @Test
  void answerThatIsNoListing_isNotOneWithoutKeys() {
    for (String text : new String[] {"", "<?xml version=\"1.0\"?><html></html>"}) {
      answerListings(text);
      proxy.disturb(
          r -> r.isGet() && r.target().contains("uploads"),
          Integer.MAX_VALUE,
          new Fault.OtherBody(text));

      assertThatThrownBy(() -> bucket.keys("", Integer.MAX_VALUE))
          .matches(e -> is(e, FsError.IO))
          .hasMessageContaining("is no listing");
      assertThatThrownBy(() -> bucket.abortUploads(key -> true))
          .matches(e -> is(e, FsError.IO))
          .hasMessageContaining("is no listing");
    }
  }

  @Test
  void partThatFails_leavesNoObjectAndNoParts() throws IOException {
    Path file = file(SIZE);
    proxy.disturb(
        r -> r.target().contains("partNumber=3"),
        Integer.MAX_VALUE,
        new Fault.Answer(403, "AccessDenied"));

    assertThatThrownBy(() -> bucket.upload("a", file, SIZE))
        .matches(e -> is(e, FsError.ACCESS_DENIED));

    assertThat(bucket.keys("", 10)).isEmpty();
    try (S3Client client = Bucket.client(settings)) {
      assertThat(client.listMultipartUploads(r -> r.bucket(settings.location().bucket())).uploads())
          .isEmpty();
    }
  }

  private static boolean opens(CountDownLatch latch) {
    try {
      latch.await();
      return true;
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A part that comes behind the end of its upload could stay in the bucket for good. */
  @Test
  void partThatIsUnderWay_whenAnotherOneFails_isAwaited() throws Exception {
    Path file = file(SIZE);
    CountDownLatch sent = new CountDownLatch(1);
    CountDownLatch passes = new CountDownLatch(1);
    proxy.disturb(
        r -> r.target().contains("partNumber=1") && opens(sent),
        Integer.MAX_VALUE,
        new Fault.Answer(403, "AccessDenied"));
    proxy.disturb(
        r -> {
          boolean isOther = r.target().contains("partNumber=2");
          if (isOther) {
            sent.countDown();
          }
          return isOther && opens(passes);
        },
        1,
        new Fault.Delay(Duration.ZERO));

    CompletableFuture<Void> upload =
        CompletableFuture.runAsync(
            () ->
                assertThatThrownBy(() -> bucket.upload("a", file, SIZE))
                    .isInstanceOf(FsException.class));
    sent.await();
    assertThatThrownBy(() -> upload.get(500, TimeUnit.MILLISECONDS))
        .isInstanceOf(TimeoutException.class);
    passes.countDown();
    upload.get();
  }

  /** The gateway was killed during an upload: its parts stayed in the bucket for good. */
  @Test
  void uploadThatCannotBeEnded_isEndedWithTheNextObject() throws IOException {
    Path file = file(SIZE);
    Fault denied = new Fault.Answer(403, "AccessDenied");
    proxy.disturb(r -> r.target().contains("partNumber=3"), Integer.MAX_VALUE, denied);
    proxy.disturb(r -> r.method().equals("DELETE"), Integer.MAX_VALUE, denied);
    assertThatThrownBy(() -> bucket.upload("a", file, SIZE))
        .matches(e -> is(e, FsError.ACCESS_DENIED));
    try (S3Client client = Bucket.client(settings)) {
      String name = settings.location().bucket();
      assertThat(client.listMultipartUploads(r -> r.bucket(name)).uploads()).hasSize(1);
      proxy.reset();

      bucket.put("b", new byte[1]);

      assertThat(client.listMultipartUploads(r -> r.bucket(name)).uploads()).isEmpty();
    }
  }

  @Test
  void requestsThatFailInPassing_areSentAgain() throws IOException {
    Path file = file(SIZE);
    proxy.disturb(Request::isPut, 2, new Fault.Answer(503, "SlowDown"));
    String etag = bucket.upload("a", file, SIZE);
    proxy.disturb(Request::isGet, 1, new Fault.Reset(100));
    Path back = Files.createFile(directory.resolve("back"));

    bucket.download("a", etag, SIZE, back);

    assertThat(back).hasSameBinaryContentAs(file);
  }

  /**
   * The gateway behind a balancer starts again: the save waits for it, as for one that is silent.
   */
  @Test
  void storeThatEndsConnectionsWithoutAnAnswer_isAway_alsoForObjectsInParts() throws IOException {
    proxy.disturb(Request::isPut, Integer.MAX_VALUE, new Fault.NoAnswer());
    Path file = file(SIZE);

    assertThatThrownBy(() -> bucket.put("a", new byte[1]))
        .matches(e -> is(e, FsError.TIMED_OUT))
        .hasMessageContaining("the store is not there");
    assertThatThrownBy(() -> bucket.upload("b", file, SIZE))
        .matches(e -> is(e, FsError.TIMED_OUT))
        .hasMessageContaining("the store is not there");

    proxy.reset();
    assertThat(bucket.keys("", 10)).isEmpty();
    bucket.upload("b", file, SIZE);
    assertThat(bucket.keys("", 10)).containsExactly("b");
  }

  /** The parts were given up when their deadline was over, and sent again, for ever. */
  @Test
  void uploadOverASlowLink_goesOnWhileBytesFlow() throws Exception {
    Duration deadline = Duration.ofSeconds(2);
    proxy.disturb(Request::isPut, Integer.MAX_VALUE, new Fault.SlowLink(PART * 2 / 5));
    Path whole = file(PART);
    Path inParts = file(SIZE);
    try (WritableBucket slow =
        new WritableBucket(settings.withDeadline(deadline), new WritableBucket.Parts(PART, PART))) {
      long began = System.nanoTime();
      CompletableFuture<String> first =
          CompletableFuture.supplyAsync(() -> uploaded(slow, "a", whole));
      String second = uploaded(slow, "b", inParts);
      assertThat(System.nanoTime() - began).isGreaterThan(deadline.toNanos());

      Path back = Files.createFile(directory.resolve("back"));
      bucket.download("a", first.get(), PART, back);
      assertThat(back).hasSameBinaryContentAs(whole);
      bucket.download("b", second, SIZE, back);
      assertThat(back).hasSameBinaryContentAs(inParts);
    }
  }

  private static String uploaded(WritableBucket to, String key, Path file) {
    try {
      return to.upload(key, file, Files.size(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A store that copied a large object in silence was given up, and asked again, in vain. */
  @Test
  void requestsThatHaveTheStoreCopy_mayTakeLongerThanOthers() throws IOException {
    Path file = file(SIZE);
    String etag = bucket.upload("a", file, SIZE);
    String small = bucket.put("small", new byte[] {1});
    S3Settings hasty = settings.withDeadline(Duration.ofSeconds(2));
    Fault late = new Fault.Delay(Bucket.silence(hasty.deadline()).multipliedBy(2));
    proxy.disturb(
        r -> r.method().equals("POST") && r.target().contains("uploadId="),
        Integer.MAX_VALUE,
        late);
    proxy.disturb(r -> !r.header("x-amz-copy-source").isEmpty(), Integer.MAX_VALUE, late);

    try (WritableBucket impatient =
        new WritableBucket(hasty, new WritableBucket.Parts(PART, PART))) {
      CompletableFuture<String> upload =
          CompletableFuture.supplyAsync(() -> uploaded(impatient, "b", file));
      impatient.copy("a", etag, SIZE, "c");
      impatient.copy("small", small, 1, "d");
      upload.join();
    }

    assertThat(bucket.keys("", 10)).containsExactlyInAnyOrder("a", "b", "c", "d", "small");
  }
}
