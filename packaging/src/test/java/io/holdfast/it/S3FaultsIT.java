package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.posix.Posix;
import io.holdfast.s3server.Fault;
import io.holdfast.s3server.ForwardingProxy;
import io.holdfast.s3server.Request;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The store, the way to it, or the daemon fails while readers read. They get right bytes, or an
 * error within the deadline.
 */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class S3FaultsIT {
  private static final int ALWAYS = Integer.MAX_VALUE;
  private static final int SECONDS = 5;

  /** The daemon's deadline for a read, and the delay of a loaded machine. */
  private static final Duration DEADLINE = Duration.ofSeconds(65);

  private static final Duration START = Duration.ofSeconds(60);

  @Order(1)
  @RegisterExtension
  static final Bucket BUCKET = new Bucket();

  @Order(2)
  @RegisterExtension
  static final Sandbox SANDBOX = new Sandbox();

  /** A mount that keeps nothing of what is read. */
  @RegisterExtension
  static final SharedMount PASSING =
      new SharedMount(
          () -> BUCKET.mount(SANDBOX, "set", "--policy=none", "--window=0", "--item-size=1M"));

  private static Dataset dataset;

  private final long seed = System.nanoTime();

  @BeforeAll
  static void fill() {
    dataset =
        Dataset.create(SANDBOX.folder("set"), 200, i -> i % 100 == 99 ? 5 << 20 : 2000 + 97 * i);
    BUCKET.putAll("set", dataset);
    BUCKET.put("set/stalled", Stamps.bytes(7, 1, 0, 300_000));
    BUCKET.put("set/others", Stamps.bytes(8, 1, 0, 300_000));
  }

  /** One request in four goes wrong, so some item fails several times in a row. */
  @Test
  void requests_thatFailInPassing_giveRightBytes() {
    ForwardingProxy proxy = BUCKET.proxy();
    proxy.reset();
    Mount mount = PASSING.get();
    proxy.disturb(Request::isGet, 1, new Fault.Stall(1000));
    Child waits = SANDBOX.start("sha256sum", mount.path("stalled").toString());
    Await.until(START, "the stall", () -> proxy.count(Request::isGet) > 0);

    proxy.disturb(oneIn(16), ALWAYS, new Fault.Answer(500, "InternalError"));
    proxy.disturb(oneIn(16), ALWAYS, new Fault.Answer(503, "SlowDown"));
    // A HEAD whose length is wrong would be one of another object.
    proxy.disturb(oneIn(16).and(Request::isGet), ALWAYS, new Fault.Reset(700));
    proxy.disturb(oneIn(16).and(Request::isGet), ALWAYS, new Fault.Shorter(100));
    Matcher figures = verify(mount);
    proxy.reset();

    assertThat(figures.group("wrong")).isEqualTo("0");
    assertThat(figures.group("errors")).as("seed %d", seed).isEqualTo("0");
    Child.Result result = waits.await(DEADLINE);
    assertThat(result.exit()).as("%s", result).isZero();
    assertThat(mount.settledStats().number("fetches.in_flight")).isZero();
  }

  private static Predicate<Request> oneIn(int count) {
    return request -> ThreadLocalRandom.current().nextInt(count) == 0;
  }

  @Test
  void objects_thatTurnOutToBeOthers_giveErrorsAndNeverTheirBytes() {
    BUCKET.proxy().reset();
    String file = PASSING.get().path("others").toString();
    BUCKET.proxy().disturb(Request::isGet, ALWAYS, new Fault.OtherEtag("\"another\""));

    Child.Result other = SANDBOX.command("cat", file);
    BUCKET.proxy().reset();

    assertThat(other.exit()).as("%s", other).isEqualTo(1);
    assertThat(other.out()).isEmpty();
    SANDBOX.command("cat", file).mustSucceed();
  }

  @Test
  void store_thatFailsForGood_givesAnErrorAndThenWorksAgain() {
    BUCKET.proxy().reset();
    Mount mount =
        BUCKET.mount(SANDBOX, "set", "--policy=none", "--window=0", "--source-timeout=5s");
    String file = mount.path(dataset.files().get(1)).toString();
    BUCKET.proxy().disturb(Request::isGet, ALWAYS, new Fault.Answer(500, "InternalError"));

    Child reader = SANDBOX.start("cat", file);
    Child.Result failed = reader.await(DEADLINE);
    BUCKET.proxy().reset();

    assertThat(failed.exit()).as("%s", failed).isEqualTo(1);
    assertThat(failed.err()).contains("Input/output error");
    assertThat(mount.stats().number("fetches.origin.errors")).isPositive();
    SANDBOX.command("cat", file).mustSucceed();
  }

  /**
   * Killed, replaced, and killed while the store does not answer: the next daemon has the
   * credentials, and does not ask the store before it takes over.
   */
  @Test
  void daemon_thatIsKilledAndReplaced_isNotNoticed() {
    BUCKET.proxy().reset();
    Mount mount =
        BUCKET.mount(SANDBOX, "set", "--capacity=" + dataset.pageBytes() / 2, "--item-size=1M");
    Child verifier = startVerifier(mount);

    mount.signalAny(Posix.SIGKILL);
    mount.findAgain(START);
    SANDBOX.holdfast("restart", mount.name(), "--s3-region=eu-west-1").mustSucceed();
    mount.findAgain(START);
    BUCKET.proxy().disturb(request -> true, 4, new Fault.Answer(503, "SlowDown"));
    mount.signalAny(Posix.SIGKILL);
    mount.findAgain(START);

    Matcher figures = end(verifier);
    assertThat(figures.group("wrong")).isEqualTo("0");
    assertThat(figures.group("errors")).as("seed %d", seed).isEqualTo("0");
    assertThat(mount.stats().number("kernel.daemon_restarts")).isEqualTo(3);
    assertThat(mount.stats().at("origin")).isEqualTo(mount.source());
  }

  private Matcher verify(Mount mount) {
    return end(startVerifier(mount));
  }

  private Child startVerifier(Mount mount) {
    return SANDBOX.startJava(
        Verifier.class,
        mount.mountpoint(),
        dataset.permutation(SANDBOX, new Random(seed)),
        SECONDS,
        seed);
  }

  private static Matcher end(Child verifier) {
    Child.Result result = verifier.await(DEADLINE);
    System.out.print(result.out());
    Matcher figures =
        Pattern.compile("ops=\\d+ errors=(?<errors>\\d+) wrong=(?<wrong>\\d+) .*\n")
            .matcher(result.out());
    assertThat(figures.matches()).as("%s", result).isTrue();
    return figures;
  }
}
