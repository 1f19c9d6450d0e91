package io.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.posix.Posix;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The mount goes on when its daemon is killed: readers wait for the next one and see neither an
 * error nor a wrong byte. Only the kernel binding can do that. The number of kills and the time
 * that they are spread over are {@code holdfast.kills} and {@code holdfast.kill-seconds}.
 */
@Isolated("reads on all processors without rest, drops caches")
class OutlivesDaemonIT {
  private static final int KILLS = Integer.getInteger("holdfast.kills", 8);
  private static final int SECONDS = Integer.getInteger("holdfast.kill-seconds", 8);
  private static final int LONG_PROOF = 100;
  private static final Duration START = Duration.ofSeconds(60);
  private static final Duration ERROR = Duration.ofSeconds(10);

  /** The long proof is about how long readers wait; the short one about that they do not hang. */
  private static final long LONGEST_PAUSE_MILLIS = KILLS >= LONG_PROOF ? 3000 : 10_000;

  private static final int LONGEST_STOP_MILLIS = 500;

  private static final int LARGE = 24 << 20;
  private static final long HAS_RESEND = 1L << 39;

  @RegisterExtension final Sandbox sandbox = new Sandbox();

  private final long seed = System.nanoTime();
  private final Random random = new Random(seed);

  /** Small files and a few large ones; two thirds of it fit. */
  private Dataset mixedDataset() {
    return Dataset.create(
        sandbox.tmpfs("origin"), 2000, i -> i % 400 == 399 ? LARGE : 2000 + 97 * (i % 1000));
  }

  private Mount mountTwoThirds(Dataset dataset) {
    return sandbox.mount(dataset.root(), "--capacity", Long.toString(dataset.pageBytes() * 2 / 3));
  }

  /** The ways to end a daemon. */
  private enum Blow {
    KILL {
      @Override
      void strike(OutlivesDaemonIT test, Mount mount) {
        mount.signalAny(Posix.SIGKILL);
      }
    },
    CRASH {
      @Override
      void strike(OutlivesDaemonIT test, Mount mount) {
        mount.signalAny(Posix.SIGSEGV);
      }
    },
    STOP {
      @Override
      void strike(OutlivesDaemonIT test, Mount mount) {
        mount.signalAny(Posix.SIGSTOP);
        Await.holdsWithin(Duration.ofMillis(test.random.nextInt(LONGEST_STOP_MILLIS)), () -> false);
        mount.signalAny(Posix.SIGCONT);
      }
    },
    RESTART {
      @Override
      void strike(OutlivesDaemonIT test, Mount mount) {
        mount.findAgain(START);
        test.sandbox.holdfast("restart", mount.name()).mustSucceed();
      }
    },

    /**
     * Kernels before 6.9 do not send unanswered requests again. This test uses the kernel as if it
     * were one of them.
     */
    KILL_WITHOUT_RESEND {
      @Override
      void strike(OutlivesDaemonIT test, Mount mount) {
        withoutResend(mount);
        mount.signalAny(Posix.SIGKILL);
      }
    },

    /**
     * A daemon that has just taken over drops pages that are not resident, while programs read such
     * files. The kernel makes it wait for pages that are being read. If it was killed in that
     * moment, the supervisor once did not notice: its thread waited for an answer that only the
     * next daemon would give.
     */
    KILL_AGAIN {
      @Override
      void strike(OutlivesDaemonIT test, Mount mount) {
        mount.findAgain(START);
        long before = restarts(mount);
        mount.signal(Posix.SIGKILL);
        Path ready = mount.state().resolve("ready");
        Await.moment(
            START, "another daemon", () -> restarts(mount) > before && Files.exists(ready));
        mount.signalAny(Posix.SIGKILL);
      }
    };

    abstract void strike(OutlivesDaemonIT test, Mount mount);
  }

  /** In the long proof each blow on its own; else all of them, in any order. */
  static Stream<List<Blow>> blows() {
    return KILLS >= LONG_PROOF
        ? Stream.of(Blow.values()).map(List::of)
        : Stream.of(List.of(Blow.values()));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("blows")
  void struck_whileEightReadersRead_isNotNoticed(List<Blow> blows) {
    Dataset dataset = mixedDataset();
    Mount mount = mountTwoThirds(dataset);
    Child verifier =
        sandbox.startJava(
            Verifier.class,
            mount.mountpoint(),
            dataset.permutation(sandbox, random),
            SECONDS + 5,
            seed);
    List<Blow> order = new ArrayList<>();
    for (int i = 0; i < KILLS && verifier.isAlive(); i++) {
      if (order.isEmpty()) {
        order.addAll(blows);
        Collections.shuffle(order, random);
      }
      int pause = random.nextInt(2 * SECONDS * 1000 / KILLS);
      Await.holdsWithin(Duration.ofMillis(pause), () -> !verifier.isAlive());
      order.remove(0).strike(this, mount);
    }
    mount.findAgain(START);
    Child.Result result = verifier.await(Duration.ofSeconds(SECONDS + 60L));
    System.out.printf("%s, %d times in %d s: %s", blows, KILLS, SECONDS, result.out());
    assertThat(result.exit()).as("%s, seed %d", result, seed).isZero();
    Matcher figures =
        Pattern.compile("ops=(\\d+) errors=0 wrong=0 longest_ms=(\\d+) .*\n").matcher(result.out());
    assertThat(figures.matches()).as(result.out()).isTrue();
    assertThat(Long.parseLong(figures.group(2)))
        .as("longest pause, seed %d", seed)
        .isLessThan(LONGEST_PAUSE_MILLIS + (blows.contains(Blow.STOP) ? LONGEST_STOP_MILLIS : 0));
    assertThat(mount.stats().number("kernel.daemon_restarts")).isPositive();
  }

  private static long restarts(Mount mount) {
    try {
      return Long.parseLong(Files.readString(mount.state().resolve("restarts")).strip());
    } catch (IOException | NumberFormatException e) {
      return 0; // not yet, or being written
    }
  }

  private static void withoutResend(Mount mount) {
    Path session = mount.state().resolve("session");
    try {
      String text = Files.readString(session);
      long flags = Long.parseLong(text.replaceAll("(?s).*flags=(\\d+)\n.*", "$1"));
      Files.writeString(session, text.replaceAll("flags=\\d+", "flags=" + (flags & ~HAS_RESEND)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Items that have left the page cache are not resident after a restart, and are resident again
   * later.
   */
  @Test
  void killed_residentsGoneMeanwhile_areFetchedWhenTheyAreRead() {
    Dataset dataset = Dataset.create(sandbox.tmpfs("origin"), 200, i -> 20_000);
    Mount mount = sandbox.mount(dataset.root(), "--capacity", "1G");
    assertReadsAll(mount, dataset);
    mount.settledStats();
    mount.preventRestart();
    mount.signal(Posix.SIGKILL);
    Await.until(ERROR, "the daemon ended", () -> !mount.daemonIsAlive());
    Machine.dropCaches(1);
    // the kernel may keep a page that it has just used
    long kept =
        dataset.files().stream()
            .filter(file -> mount.cachedBytes(List.of(file)) == Dataset.pageBytes(20_000))
            .count();
    assertThat(kept).isLessThan(dataset.count() / 2);
    mount.allowRestart();
    mount.findAgain(START);
    // it may have taken more until they were pinned
    Stats taken =
        Await.value(
            START,
            "what is left pinned",
            mount::stats,
            stats -> stats.residentItems() * Dataset.pageBytes(20_000) == mount.lockedBytes());
    assertThat(taken.residentItems()).isLessThanOrEqualTo(kept);

    assertReadsAll(mount, dataset);
    Stats after = mount.settledStats();
    assertThat(after.residentItems()).isEqualTo(dataset.count());
    assertThat(after.originItems()).isEqualTo(dataset.count() - taken.residentItems());
  }

  private void assertReadsAll(Mount mount, Dataset dataset) {
    Child.Result result =
        sandbox
            .startJava(
                Reader.class, mount.mountpoint(), dataset.permutation(sandbox, random), 2, "share")
            .await(START);
    assertThat(result.exit()).as("%s", result).isZero();
  }
}
