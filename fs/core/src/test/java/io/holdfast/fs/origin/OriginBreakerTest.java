package io.holdfast.fs.origin;

import static io.holdfast.fs.Failures.assertFails;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.FakeClock;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import org.junit.jupiter.api.Test;

/**
 * Tests of {@link OriginBreaker}, second by second. Calls hang by being begun within each other.
 */
final class OriginBreakerTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final OriginPath FILE = OriginPath.of("file");

  private final FakeClock clock = new FakeClock();

  /** Probes that were sent, and have not been answered. */
  private final Deque<Runnable> probes = new ArrayDeque<>();

  private boolean reachable = true;
  private boolean canStartThreads = true;
  private int asked;
  private final OriginBreaker breaker =
      new OriginBreaker("fake", this::probe, PATIENCE, probes::add, clock);

  private void probe() throws FsException {
    asked++;
    if (!reachable) {
      throw new FsException(FsError.IO, "unreachable");
    }
  }

  /** Lets time pass while probes hang. */
  private void pass(int seconds) {
    for (int i = 0; i < seconds; i++) {
      clock.advance(Duration.ofSeconds(1));
      breaker.tick();
    }
  }

  /** Lets time pass while probes are answered, or fail, at once. */
  private void passAnswering(int seconds) {
    for (int i = 0; i < seconds; i++) {
      pass(1);
      answerAll();
    }
  }

  private void answerAll() {
    while (!probes.isEmpty()) {
      probes.remove().run();
    }
  }

  /** Does something while a read hangs, which then gives bytes. */
  private void whileReading(Runnable meanwhile) throws FsException {
    Boolean unused =
        breaker.askForBytes(
            () -> {
              meanwhile.run();
              return true;
            });
  }

  private void failing(FsError code) {
    assertFails(
        () -> {
          Object unused =
              breaker.askForBytes(
                  () -> {
                    throw new FsException(code, "file");
                  });
        },
        code);
  }

  @Test
  void nothingAsked_neverOpensNorProbes() {
    pass(1000);
    assertThat(probes).isEmpty();
    assertThat(breaker.health()).isEqualTo(OriginHealth.WELL);
  }

  @Test
  void callAndProbesHang_opensWhenPatienceIsOver_andClosesWhenTheCallComesBack()
      throws FsException {
    whileReading(
        () -> {
          pass(59);
          assertThat(breaker.isSilent()).isFalse();
          pass(2);
          assertThat(breaker.isSilent()).isTrue();
          assertThat(breaker.health().unansweredSeconds()).isBetween(60L, 61L);
          assertFails(() -> breaker.require(FILE), FsError.ORIGIN_SILENT);
        });
    assertThat(breaker.isSilent()).isFalse();
    assertThat(breaker.health()).isEqualTo(new OriginHealth(false, 1, 0));
    breaker.require(FILE);
  }

  /** As if one file came from a tape. */
  @Test
  void callHangsAndProbesAreAnswered_staysClosed() throws FsException {
    whileReading(() -> passAnswering(600));
    assertThat(breaker.health().silences()).isZero();
    assertThat(asked).isBetween(10, 45);
  }

  @Test
  void callHangsAndOthersGiveBytes_staysClosedWithoutAProbe() throws FsException {
    whileReading(
        () -> {
          for (int i = 0; i < 100; i++) {
            pass(10);
            assertRead();
          }
        });
    assertThat(probes).isEmpty();
    assertThat(breaker.health().silences()).isZero();
  }

  private void assertRead() {
    try {
      whileReading(() -> {});
    } catch (FsException e) {
      throw new AssertionError(e);
    }
  }

  /** Names and attributes may come from a cache. */
  @Test
  void callHangsAndAttributesAreAnswered_opens() throws FsException {
    whileReading(
        () -> {
          for (int i = 0; i < 62; i++) {
            pass(1);
            assertAttributes();
          }
          assertThat(breaker.isSilent()).isTrue();
        });
  }

  private void assertAttributes() {
    try {
      breaker.run(() -> {});
    } catch (FsException e) {
      throw new AssertionError(e);
    }
  }

  /** A store that refuses connections. */
  @Test
  void callsAndProbesFail_opens_andClosesWithinFiveSecondsOfTheReturn() {
    reachable = false;
    failing(FsError.IO);
    passAnswering(62);
    assertThat(breaker.isSilent()).isTrue();
    passAnswering(300);
    assertThat(breaker.isSilent()).isTrue();
    assertThat(asked).as("probes of six minutes").isBetween(50, 110);
    reachable = true;
    passAnswering(5);
    assertThat(breaker.isSilent()).isFalse();
  }

  @Test
  void oneFileCannotBeRead_staysClosed() {
    for (int i = 0; i < 200; i++) {
      failing(FsError.IO);
      passAnswering(1);
    }
    assertThat(breaker.health().silences()).isZero();
  }

  @Test
  void denials_areAnswers() {
    for (int i = 0; i < 200; i++) {
      failing(FsError.ACCESS_DENIED);
      pass(1);
    }
    assertThat(probes).isEmpty();
    assertThat(breaker.health().silences()).isZero();
  }

  /** A lost connection may hang for minutes; a new one is tried all the same. */
  @Test
  void probesHang_othersAreSent_upToABound() throws FsException {
    whileReading(
        () -> {
          pass(70);
          int before = probes.size();
          pass(9);
          assertThat(probes).hasSizeGreaterThan(before);
          pass(600);
          assertThat(probes).hasSize(OriginBreaker.MOST_PROBES);
          probes.removeLast().run();
          assertThat(breaker.isSilent()).as("silent after the last one was answered").isFalse();
        });
  }

  /** All comes back within ten seconds after the origin does. */
  @Test
  void silentForLong_aProbeIsSentEveryFewSeconds() throws FsException {
    whileReading(
        () -> {
          reachable = false;
          passAnswering(300);
          for (int i = 0; i < 20; i++) {
            int before = asked;
            passAnswering(6);
            assertThat(asked).isGreaterThan(before);
          }
        });
  }

  @Test
  void closedAndSilentAgain_takesThePatienceAgain() throws FsException {
    whileReading(() -> pass(100));
    whileReading(
        () -> {
          pass(59);
          assertThat(breaker.isSilent()).isFalse();
          pass(2);
          assertThat(breaker.isSilent()).isTrue();
        });
    assertThat(breaker.health().silences()).isEqualTo(2);
  }

  /** A daemon that was stopped was not waiting for the origin meanwhile. */
  @Test
  void ownProcessStopped_isNoSilence() throws FsException {
    whileReading(
        () -> {
          pass(45);
          clock.advance(Duration.ofMinutes(5));
          breaker.tick();
          assertThat(breaker.isSilent()).isFalse();
          pass(5);
          assertThat(breaker.isSilent()).isFalse();
          pass(12);
          assertThat(breaker.isSilent()).isTrue();
        });
  }

  /** The next probe was sent before the one before it could be late, and so on. */
  @Test
  void patienceIsShort_opensAllTheSame() throws FsException {
    OriginBreaker hasty =
        new OriginBreaker("fake", this::probe, Duration.ofSeconds(6), probes::add, clock);
    Boolean unused =
        hasty.askForBytes(
            () -> {
              for (int i = 0; i < 8; i++) {
                clock.advance(Duration.ofSeconds(1));
                hasty.tick();
              }
              assertThat(hasty.isSilent()).isTrue();
              return true;
            });
  }

  @Test
  void probeThatIsRefusedAThread_countsAsFailed() throws FsException {
    OriginBreaker threadless =
        new OriginBreaker(
            "fake",
            this::probe,
            PATIENCE,
            task -> {
              throw new java.util.concurrent.RejectedExecutionException("no thread");
            },
            clock);
    Boolean unused =
        threadless.askForBytes(
            () -> {
              for (int i = 0; i < 70; i++) {
                clock.advance(Duration.ofSeconds(1));
                threadless.tick();
              }
              return threadless.isSilent();
            });
    assertThat(threadless.health().silences()).isEqualTo(1);
  }

  /**
   * Each of these probes counted as stuck for ever. After ten of them no further one was sent, and
   * the origin stayed silent although it answered.
   */
  @Test
  void probesForWhichNoThreadCouldBeStarted_areSentAgainWhenOneCan() throws FsException {
    OriginBreaker limited =
        new OriginBreaker(
            "fake",
            this::probe,
            PATIENCE,
            task -> {
              if (!canStartThreads) {
                throw new OutOfMemoryError("unable to create native thread");
              }
              probes.add(task);
            },
            clock);
    canStartThreads = false;
    Boolean unused =
        limited.askForBytes(
            () -> {
              tick(limited, 200);
              assertThat(limited.isSilent()).isTrue();
              canStartThreads = true;
              tick(limited, 5);
              assertThat(limited.isSilent()).isFalse();
              return true;
            });
  }

  private void tick(OriginBreaker ticked, int seconds) {
    for (int i = 0; i < seconds; i++) {
      clock.advance(Duration.ofSeconds(1));
      ticked.tick();
      answerAll();
    }
  }
}
