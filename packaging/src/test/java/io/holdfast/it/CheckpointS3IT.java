package io.holdfast.it;

import static io.holdfast.it.Content.content;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.posix.Posix;
import io.holdfast.s3server.Fault;
import io.holdfast.s3server.Request;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A directory for checkpoints whose store is a bucket. */
@Tag(Sandbox.ANY_BINDING)
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Order(1)
class CheckpointS3IT {
  private static final Duration DEADLINE = Duration.ofSeconds(60);
  private static final int SIZE = 20 << 20;
  private static final AtomicInteger PREFIXES = new AtomicInteger();

  @Order(1)
  @RegisterExtension
  static final Bucket BUCKET = new Bucket();

  @Order(2)
  @RegisterExtension
  final Sandbox sandbox = new Sandbox();

  private String prefix = "";
  private String name = "";
  private Path directory = Path.of("/");

  @BeforeEach
  void folders() {
    prefix = "run-" + PREFIXES.incrementAndGet();
    name = sandbox.id() + "-s3";
    directory = sandbox.folder("checkpoints");
    BUCKET.proxy().reset();
  }

  @AfterEach
  void log() throws IOException {
    Files.deleteIfExists(Path.of("/var/log/holdfast", name + ".log"));
  }

  private Child.Result mount(Map<String, String> environment, String store, Path front) {
    List<String> words = new ArrayList<>(List.of(Sandbox.launcher(), "checkpoint"));
    words.addAll(List.of("--name", name, "--front", front.toString()));
    words.addAll(BUCKET.options());
    words.addAll(List.of(store, directory.toString()));
    return sandbox.run(environment, words);
  }

  private void mount(Path front) {
    mount(Bucket.credentials(), BUCKET.source(prefix), front).mustSucceed();
  }

  private byte[] save(String checkpoint, int seed) throws IOException {
    byte[] bytes = new byte[SIZE];
    new Random(seed).nextBytes(bytes);
    Path writing = Files.createDirectory(directory.resolve("tmp"));
    Files.write(writing.resolve("weights"), bytes);
    Files.writeString(writing.resolve("meta"), checkpoint);
    Files.move(writing, directory.resolve(checkpoint), StandardCopyOption.ATOMIC_MOVE);
    return bytes;
  }

  private Child.Result waitForStore() {
    return sandbox.holdfast("checkpoint", "wait", "--timeout", "60s", directory.toString());
  }

  private void umount() {
    sandbox.holdfast("umount", directory.toString()).mustSucceed();
  }

  private long daemon() {
    try {
      Path file = Path.of("/run/holdfast", name + ".pid");
      return Long.parseLong(Files.readAllLines(file).get(0).strip());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void checkpoints_areWholeObjects_andComeBackInAnotherFront_whoseBucketFailsForAWhile()
      throws IOException {
    mount(sandbox.tmpfs("front"));
    byte[] bytes = save("step-1", 1);
    Files.writeString(directory.resolve("latest"), "step-1");
    waitForStore().mustSucceed();
    Files.writeString(directory.resolve("latest"), "step-0002");
    Files.createSymbolicLink(directory.resolve("link"), Path.of("step-1/weights"));
    assertThat(BUCKET.proxy().count(request -> !request.header("x-amz-copy-source").isEmpty()))
        .as("the directory was renamed before its row ended")
        .isZero();
    umount();

    assertThat(BUCKET.get(prefix + "/step-1/weights")).isEqualTo(bytes);
    assertThat(BUCKET.get(prefix + "/latest")).asString().isEqualTo("step-0002");

    mount(sandbox.tmpfs("another-front"));
    assertThat(directory.resolve("link")).isSymbolicLink().has(content(bytes));
    assertThat(directory.resolve("latest")).hasContent("step-0002");
    assertThat(directory.resolve("tmp")).doesNotExist();
    assertBucketThatFailsIsToldAndGetsEverythingLater();
  }

  @Test
  void daemon_thatIsKilledWhileItSends_losesNothing() throws IOException {
    mount(sandbox.tmpfs("front"));
    BUCKET.proxy().delay(Duration.ofMillis(200));
    byte[] first = save("step-1", 1);
    byte[] second = new byte[0];
    for (int i = 0; i < 3; i++) {
      long sent = BUCKET.proxy().count(Request::isPut);
      Await.moment(DEADLINE, "a request", () -> BUCKET.proxy().count(Request::isPut) > sent);
      long killed = daemon();
      Posix.kill(killed, Posix.SIGKILL);
      Await.until(DEADLINE, "the next daemon", () -> daemon() != killed);
      second = save("step-2-" + i, 2 + i);
    }
    BUCKET.proxy().reset();

    waitForStore().mustSucceed();
    umount();
    mount(sandbox.tmpfs("another-front"));

    assertThat(directory.resolve("step-1/weights")).has(content(first));
    assertThat(directory.resolve("step-2-2/weights")).has(content(second));
    assertThat(directory.toFile().list())
        .containsExactlyInAnyOrder("step-1", "step-2-0", "step-2-1", "step-2-2");
    umount();
  }

  /** The front's own files count no more; the bucket gets what the log has. */
  @Test
  void nodeThatStops_hasItsFrontMadeAnewFromTheBucket_andWhatKeepsItFromStartingIsOneLine()
      throws IOException {
    Path front = sandbox.tmpfs("front");
    assertWhatKeepsAMountFromStartingIsOneLine(front);
    mount(front);
    Child.Result again = mount(Bucket.credentials(), BUCKET.source(prefix), front);
    assertThat(again.exit()).isEqualTo(1);
    byte[] first = save("step-1", 1);
    waitForStore().mustSucceed();
    BUCKET.proxy().disturb(Request::isPut, Integer.MAX_VALUE, new Fault.Answer(503, "SlowDown"));
    byte[] second = save("step-2", 2);
    Path state = Path.of("/run/holdfast", name + ".state");
    long supervisor = Long.parseLong(Files.readString(state.resolve("supervisor")).strip());
    long daemon = daemon();
    Posix.kill(supervisor, Posix.SIGKILL);
    Posix.kill(daemon, Posix.SIGKILL);
    Await.until(DEADLINE, "the daemon has ended", () -> ProcessTable.state(daemon) == 'X');
    Files.writeString(front.resolve("boot"), "another boot");
    BUCKET.proxy().reset();

    mount(front);

    assertThat(directory.resolve("step-1/weights")).has(content(first));
    assertThat(directory.resolve("step-2/weights")).has(content(second));
    byte[] third = save("step-3", 3);
    waitForStore().mustSucceed();
    assertThat(BUCKET.get(prefix + "/step-3/weights")).isEqualTo(third);
    umount();
  }

  private void assertBucketThatFailsIsToldAndGetsEverythingLater() throws IOException {
    BUCKET
        .proxy()
        .disturb(Request::isPut, Integer.MAX_VALUE, new Fault.Answer(403, "AccessDenied"));
    byte[] bytes = save("step-2", 2);

    Child.Result failed = waitForStore();

    assertThat(failed.exit()).as("%s", failed).isEqualTo(1);
    assertThat(failed.err()).contains("the store says 403 AccessDenied");
    assertThat(state()).isEqualTo("the store fails");
    BUCKET.proxy().reset();
    Await.until(DEADLINE, "the bucket has it", () -> "all is in the store".equals(state()));
    waitForStore().mustSucceed();
    umount();
    assertThat(BUCKET.get(prefix + "/step-2/weights")).isEqualTo(bytes);
  }

  private @Nullable Object state() {
    return ControlSocket.stats(name).at("checkpoint.state");
  }

  private void assertWhatKeepsAMountFromStartingIsOneLine(Path front) {
    Child.Result noBucket = mount(Bucket.credentials(), "s3://no-such-bucket/run", front);
    Child.Result anonymous = mount(Bucket.NO_CREDENTIALS, BUCKET.source(prefix), front);

    assertThat(noBucket.exit()).as("%s", noBucket).isEqualTo(1);
    assertThat(noBucket.err()).contains("no bucket no-such-bucket").hasLineCount(1);
    assertThat(anonymous.exit()).as("%s", anonymous).isEqualTo(1);
    assertThat(anonymous.err()).contains("no credentials found").hasLineCount(1);
    assertThat(directory).isEmptyDirectory();
  }
}
