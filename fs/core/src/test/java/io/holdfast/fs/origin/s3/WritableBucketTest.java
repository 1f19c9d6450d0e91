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
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.services.s3.S3Client;

/** Objects that are written and read as a whole, against a real server. */
@ExtendWith(SharedS3Server.class)
@Timeout(60)
class WritableBucketTest {
  /** The smallest that S3 takes. */
  private static final int PART = 5 << 20;

  private static final int SIZE = 2 * PART + 7;

  @TempDir Path directory;

  private ForwardingProxy proxy;
  private S3Store raw;
  private S3Settings settings;
  private WritableBucket bucket;

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

  /** A store that copied a large object in silence was given up, and asked again, in vain. */
  @Test
  void requestsThatHaveTheStoreCopy_mayTakeLongerThanOthers() throws IOException {
    Fault late = new Fault.Delay(Bucket.silence(settings.deadline()).plusSeconds(1));
    proxy.disturb(
        r -> r.method().equals("POST") && r.target().contains("uploadId="),
        Integer.MAX_VALUE,
        late);
    proxy.disturb(r -> !r.header("x-amz-copy-source").isEmpty(), Integer.MAX_VALUE, late);
    String etag = bucket.upload("a", file(SIZE), SIZE);

    bucket.copy("a", etag, SIZE, "b");
    bucket.copy("small", bucket.put("small", new byte[] {1}), 1, "c");

    assertThat(bucket.keys("", 10)).containsExactlyInAnyOrder("a", "b", "c", "small");
  }
}
