package io.holdfast.fs.origin.s3;

import static io.holdfast.fs.Failures.assertFails;
import static io.holdfast.fs.linux.Libc.LIBC;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.Await;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.Memory;
import io.holdfast.fs.origin.Attributes;
import io.holdfast.fs.origin.Origin.Part;
import io.holdfast.fs.origin.OriginFile;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.origin.S3Store;
import io.holdfast.fs.origin.SharedS3Server;
import io.holdfast.fs.origin.Version;
import io.holdfast.s3server.Fault;
import io.holdfast.s3server.ForwardingProxy;
import io.holdfast.s3server.Request;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The faults of a store, and the number of requests that they cost. */
@ExtendWith(SharedS3Server.class)
@Execution(ExecutionMode.CONCURRENT)
final class S3FaultsTest {
  private static final Duration DEADLINE = Duration.ofSeconds(2);

  private static final Duration SHORT = Duration.ofMillis(800);

  /** A call may have begun its last request just before the deadline; then machines are slow. */
  private static final Duration LONGEST = DEADLINE.multipliedBy(5);

  private static final int STEP = 1 << 20;
  private static final OriginPath SMALL = OriginPath.of("small");
  private static final OriginPath LARGE = OriginPath.of("large");

  private static byte[] small;
  private static byte[] large;
  private static String location;

  /** Holds the objects that tests read; a test that changes an object puts one of its own. */
  private static S3Store store;

  private ForwardingProxy proxy;
  private S3Origin origin;

  @BeforeAll
  static void fill() {
    Random random = new Random(1);
    small = new byte[100_000];
    random.nextBytes(small);
    large = new byte[5 * S3File.PIECE / 2];
    random.nextBytes(large);
    String bucket = SharedS3Server.newBucket();
    location = "s3://" + bucket;
    store = new S3Store(SharedS3Server.endpoint(), bucket, "");
    store.put("small", small);
    store.put("large", large);
    store.put("empty", new byte[0]);
    store.put("directory/file", small);
  }

  @AfterAll
  static void empty() {
    store.close();
  }

  @BeforeEach
  void open() throws IOException {
    proxy = ForwardingProxy.start(SharedS3Server.endpoint());
    origin = S3Origin.open(SharedS3Server.settings(proxy.endpoint(), location, DEADLINE));
  }

  @AfterEach
  void close() throws IOException {
    origin.close();
    proxy.close();
  }

  /** Reads all of a file as transit does. */
  private byte[] read(OriginPath path) throws FsException {
    Attributes attributes = origin.stat(path);
    return read(path, attributes);
  }

  private byte[] read(OriginPath path, Attributes attributes) throws FsException {
    int size = (int) attributes.size();
    try (OriginFile file = origin.open(path, new Part(attributes.version(), 0, size))) {
      return read(file, size);
    }
  }

  private static byte[] read(OriginFile file, int size) throws FsException {
    long memory = LIBC.malloc(size);
    try {
      for (int done = 0; done < size; ) {
        int step = Math.min(STEP, size - done);
        assertThat(file.read(done, memory + done, step)).isEqualTo(step);
        done += step;
      }
      return Memory.bytes(memory, size);
    } finally {
      LIBC.free(memory);
    }
  }

  private void assertEndsInTime(Runnable call) {
    long start = System.nanoTime();
    call.run();
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(LONGEST);
  }

  @Test
  void read_smallFile_isOneGetOfItsVersion() throws IOException {
    assertThat(read(SMALL)).isEqualTo(small);
    assertThat(proxy.count(Request::isGet)).isEqualTo(1);
    assertThat(proxy.bytes()).isEqualTo(small.length);
    Request get = proxy.log().stream().filter(Request::isGet).findFirst().orElseThrow();
    assertThat(get.header("If-Match")).isEqualTo('"' + origin.stat(SMALL).etag() + '"');
    assertThat(get.header("Range")).isEqualTo("bytes=0-" + (small.length - 1));
  }

  @Test
  void read_largeFile_isOneGetAPieceAndSeveralAtOnce() throws IOException {
    proxy.hold(3);
    assertThat(read(LARGE)).isEqualTo(large);
    assertThat(proxy.count(Request::isGet)).isEqualTo(3);
    assertThat(proxy.bytes()).isEqualTo(large.length);
    assertThat(proxy.mostAtOnce()).isEqualTo(3);
  }

  @Test
  void close_beforeAnythingWasRead_leavesNothingBehind() throws IOException {
    Attributes attributes = origin.stat(LARGE);
    for (int i = 0; i < 20; i++) {
      Part all = new Part(attributes.version(), 0, large.length);
      origin.open(LARGE, all).close();
    }
    Await.until("memory for all pieces at once", this::readsPiecesAtOnce);
  }

  private boolean readsPiecesAtOnce() {
    proxy.reset();
    proxy.delay(Duration.ofMillis(50));
    try {
      assertThat(read(LARGE)).isEqualTo(large);
    } catch (FsException e) {
      throw new AssertionError(e);
    }
    return proxy.mostAtOnce() == 3;
  }

  /** The limit of threads was met: each piece without a thread took memory for ever. */
  @Test
  void read_noThreadForPieces_readsThemItselfAndLeavesNothingBehind() throws IOException {
    Version version = origin.stat(LARGE).version();
    int permits = 16;
    Semaphore buffers = new Semaphore(permits);
    Executor none =
        task -> {
          throw new OutOfMemoryError("unable to create native thread");
        };
    try (Bucket bucket =
        new Bucket(SharedS3Server.settings(proxy.endpoint(), location, DEADLINE))) {
      RangeReader.Source source =
          new RangeReader.Source(bucket, "large", version, "large", DEADLINE);
      try (OriginFile file =
          S3File.open(
              source, new S3File.Ahead(none, buffers), new Part(version, 0, large.length))) {
        assertThat(read(file, large.length)).isEqualTo(large);
      }
    }
    assertThat(buffers.availablePermits()).isEqualTo(permits);
  }

  /** Such an answer broke the reader, and the memory of the file's other pieces was lost. */
  @ParameterizedTest
  @ValueSource(strings = {"Content-Length", "Last-Modified"})
  void answer_withoutLengthOrTime_failsAndLeavesNothingBehind(String header) throws IOException {
    Attributes attributes = origin.stat(LARGE);
    proxy.disturb(Request::isGet, Integer.MAX_VALUE, new Fault.AnswerWithout(header));
    for (int i = 0; i < 10; i++) {
      assertFails(() -> read(LARGE, attributes), FsError.IO, FsError.TIMED_OUT);
    }
    Await.until("memory for all pieces at once", this::readsPiecesAtOnce);
  }

  static Stream<Fault> faultsInPassing() {
    return Stream.of(
        new Fault.Answer(500, "InternalError"),
        new Fault.Answer(503, "SlowDown"),
        new Fault.Answer(429, "TooManyRequests"),
        new Fault.Reset(30_000),
        new Fault.Stall(30_000),
        new Fault.Shorter(1000));
  }

  @ParameterizedTest
  @MethodSource("faultsInPassing")
  void fault_inPassing_givesTheRightBytes(Fault fault) throws IOException {
    for (OriginPath path : new OriginPath[] {SMALL, LARGE}) {
      proxy.disturb(Request::isGet, 1, fault);
      assertThat(read(path)).isEqualTo(path.equals(SMALL) ? small : large);
    }
  }

  static Stream<Fault> faultsForEver() {
    return Stream.of(
        new Fault.Answer(500, "InternalError"),
        new Fault.Answer(503, "SlowDown"),
        new Fault.Reset(30_000),
        new Fault.Stall(30_000),
        new Fault.Shorter(1000),
        new Fault.Trickle(Duration.ofMillis(50)));
  }

  @ParameterizedTest
  @MethodSource("faultsForEver")
  void fault_forEver_failsInTime(Fault fault) throws IOException {
    // with the long deadline: a machine may be slow
    Attributes attributes = origin.stat(LARGE);
    origin.close();
    origin = S3Origin.open(SharedS3Server.settings(proxy.endpoint(), location, SHORT));
    proxy.disturb(Request::isGet, Integer.MAX_VALUE, fault);
    assertEndsInTime(
        () -> assertFails(() -> read(LARGE, attributes), FsError.IO, FsError.TIMED_OUT));
  }

  /** The fault is in the pieces that other threads bring. */
  @Test
  void fault_ofLaterPieces_failsInTime() throws IOException {
    Attributes attributes = origin.stat(LARGE);
    proxy.disturb(
        request -> request.header("Range").startsWith("bytes=" + S3File.PIECE),
        Integer.MAX_VALUE,
        new Fault.Answer(403, "AccessDenied"));
    assertFails(() -> read(LARGE, attributes), FsError.ACCESS_DENIED);
  }

  @Test
  void fault_ofOtherCalls_failsInTimeOrPasses() throws IOException {
    proxy.disturb(Request::isHead, 1, new Fault.Answer(503, "SlowDown"));
    proxy.disturb(Request::isList, 1, new Fault.Answer(500, "InternalError"));
    assertThat(origin.stat(SMALL).size()).isEqualTo(small.length);
    proxy.disturb(Request::isList, Integer.MAX_VALUE, new Fault.Stall(0));
    assertEndsInTime(() -> assertFails(() -> origin.stat(SMALL), FsError.IO, FsError.TIMED_OUT));
    assertEndsInTime(
        () ->
            assertFails(
                () -> origin.list(OriginPath.ROOT, (name, type, inode, attributes) -> {}),
                FsError.IO,
                FsError.TIMED_OUT));
  }

  /**
   * A bucket without any such key answers a listing with 200. The tree took a 404 of a proxy whose
   * store was away for the answer that a directory is gone, and forgot all that is below it.
   */
  @Test
  void listing_thatIsNotFound_isNoAnswer() throws IOException {
    proxy.disturb(
        request -> request.isList() || request.isHead(),
        Integer.MAX_VALUE,
        new Fault.Answer(404, "NoSuchBucket"));
    for (OriginPath path : List.of(OriginPath.of("directory"), SMALL, OriginPath.of("none"))) {
      assertFails(() -> origin.stat(path), FsError.UNAVAILABLE);
    }
    assertFails(
        () -> origin.list(OriginPath.ROOT, (name, type, inode, attributes) -> {}),
        FsError.UNAVAILABLE);
    assertFails(origin::probe, FsError.UNAVAILABLE);
  }

  /**
   * A gateway that no longer finds the bucket's name in the host answers with the list of buckets,
   * and does not know the keys.
   */
  @ParameterizedTest
  @ValueSource(
      strings = {"", "<ListAllMyBucketsResult><Buckets></Buckets></ListAllMyBucketsResult>"})
  void answer_thatIsNoListing_isNoAnswer(String body) throws IOException {
    proxy.disturb(Request::isList, Integer.MAX_VALUE, new Fault.OtherBody(body));
    proxy.disturb(Request::isHead, Integer.MAX_VALUE, new Fault.Answer(404, ""));
    for (OriginPath path : List.of(OriginPath.of("directory"), SMALL, OriginPath.of("none"))) {
      assertFails(() -> origin.stat(path), FsError.IO);
    }
    assertFails(
        () -> origin.list(OriginPath.ROOT, (name, type, inode, attributes) -> {}), FsError.IO);
  }

  /** Readers got EIO after two seconds, while a gateway started again. */
  @Test
  void store_thatIsNotThere_isOneThatIsWaitedFor() throws IOException {
    Attributes attributes = origin.stat(SMALL);
    proxy.close();

    assertFails(() -> read(SMALL, attributes), FsError.TIMED_OUT);
  }

  /** Readers got EIO after a second, while a gateway behind a balancer started again. */
  @Test
  void store_thatEndsConnectionsWithoutAnAnswer_isOneThatIsWaitedFor() throws IOException {
    Attributes attributes = origin.stat(SMALL);
    proxy.disturb(request -> true, Integer.MAX_VALUE, new Fault.NoAnswer());

    assertFails(() -> read(SMALL, attributes), FsError.TIMED_OUT);
    assertFails(() -> origin.stat(SMALL), FsError.TIMED_OUT);
  }

  /** Readers got EIO after the four attempts of one call, which may end within milliseconds. */
  @ParameterizedTest
  @ValueSource(ints = {429, 500, 502, 503, 504})
  void store_thatIsOverloaded_isOneThatIsWaitedFor(int status) throws IOException {
    Attributes attributes = origin.stat(SMALL);
    proxy.disturb(Request::isGet, Integer.MAX_VALUE, new Fault.Answer(status, "Overloaded"));

    assertFails(() -> read(SMALL, attributes), FsError.TIMED_OUT);
  }

  /** After some 33 calls that failed, the client sent each request only once. */
  @Test
  void store_thatFailsForLong_isAskedSeveralTimesByEachCall() throws IOException {
    Attributes attributes = origin.stat(SMALL);
    origin.close();
    origin = S3Origin.open(SharedS3Server.settings(proxy.endpoint(), location, Await.LONGEST));
    proxy.disturb(Request::isGet, Integer.MAX_VALUE, new Fault.Answer(500, "InternalError"));
    int calls = 50;
    ExecutorService threads = Executors.newFixedThreadPool(calls);
    try {
      List<CompletableFuture<Void>> reads = new ArrayList<>();
      for (int i = 0; i < calls; i++) {
        reads.add(
            CompletableFuture.runAsync(
                () -> assertFails(() -> read(SMALL, attributes), FsError.TIMED_OUT), threads));
      }
      reads.forEach(CompletableFuture::join);
    } finally {
      Await.end(threads);
    }
    assertThat(proxy.count(Request::isGet)).isEqualTo(4L * calls);
  }

  /** Names failed with EACCES, those of residents too, while a key was being replaced. */
  @ParameterizedTest
  @CsvSource({
    "400, ExpiredToken",
    "400, InvalidToken",
    "403, InvalidAccessKeyId",
    "403, SignatureDoesNotMatch"
  })
  void credentials_thatTheStoreDoesNotTake_areNoAnswer(int status, String code) throws IOException {
    Attributes attributes = origin.stat(SMALL);
    proxy.disturb(request -> true, Integer.MAX_VALUE, new Fault.Answer(status, code));

    assertFails(() -> read(SMALL, attributes), FsError.UNAVAILABLE);
    assertFails(() -> origin.stat(SMALL), FsError.UNAVAILABLE);
    assertFails(origin::probe, FsError.UNAVAILABLE);
  }

  /** The store does answer then, and may well give bytes. */
  @Test
  void listing_thatIsRefused_isNoAnswerAboutADirectory() throws IOException {
    proxy.disturb(Request::isList, Integer.MAX_VALUE, new Fault.Answer(403, "AccessDenied"));

    assertFails(() -> origin.stat(OriginPath.of("directory")), FsError.UNAVAILABLE);
    assertFails(
        () -> origin.list(OriginPath.of("directory"), (name, type, inode, attributes) -> {}),
        FsError.UNAVAILABLE);
    assertFails(origin::probe, FsError.ACCESS_DENIED);
  }

  @Test
  void head_thatIsRefused_concernsThatFileAlone() throws IOException {
    proxy.disturb(Request::isHead, Integer.MAX_VALUE, new Fault.Answer(403, "AccessDenied"));

    assertThat(origin.stat(OriginPath.of("directory")).isDirectory()).isTrue();
    assertFails(() -> origin.stat(SMALL), FsError.ACCESS_DENIED);
  }

  @Test
  void etag_thatIsAnother_isStale() throws IOException {
    Attributes attributes = origin.stat(LARGE);
    proxy.disturb(Request::isGet, Integer.MAX_VALUE, new Fault.OtherEtag("\"other\""));
    assertFails(() -> read(LARGE, attributes), FsError.STALE);
  }

  @Test
  void object_replacedSinceItWasSeen_isStale() throws IOException {
    OriginPath path = OriginPath.of("replaced");
    store.put("replaced", small);
    Attributes attributes = origin.stat(path);
    store.put("replaced", new byte[small.length]);
    assertFails(() -> read(path, attributes), FsError.STALE);
  }

  /** Some stores have one ETag for all objects: the time alone tells that one was replaced. */
  @ParameterizedTest
  @ValueSource(strings = {"small", "empty"})
  void object_ofTheSameEtagASecondLater_isStale(String name) throws IOException {
    OriginPath path = OriginPath.of(name);
    Attributes attributes = origin.stat(path);
    assertFails(() -> read(path, aSecondLater(attributes)), FsError.STALE);
  }

  private static Attributes aSecondLater(Attributes of) {
    long time = of.modified() + Duration.ofSeconds(1).toNanos();
    return new Attributes(
        of.mode(),
        of.links(),
        of.uid(),
        of.gid(),
        of.device(),
        of.inode(),
        of.size(),
        of.blocks(),
        time,
        time,
        time,
        of.etag());
  }

  /** When the reader has come to the second piece, which was not asked for before. */
  @Test
  void object_removedWhileItIsRead_isStale() throws IOException {
    OriginPath path = OriginPath.of("removed");
    store.put("removed", large);
    Version version = origin.stat(path).version();
    long memory = LIBC.malloc(STEP);
    try (OriginFile file = origin.open(path, new Part(version, 0, STEP))) {
      assertThat(file.read(0, memory, STEP)).isEqualTo(STEP);
      store.remove(path.bytes());
      assertFails(() -> file.read(STEP, memory, STEP), FsError.STALE);
    } finally {
      LIBC.free(memory);
    }
  }

  @Test
  void denied_isAccessDenied() throws IOException {
    Attributes attributes = origin.stat(SMALL);
    proxy.disturb(Request::isGet, Integer.MAX_VALUE, new Fault.Answer(403, "AccessDenied"));
    assertFails(() -> read(SMALL, attributes), FsError.ACCESS_DENIED);
  }
}
