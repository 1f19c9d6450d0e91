package io.holdfast.fs.start;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.holdfast.fs.Await;
import io.holdfast.fs.host.CliException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The starting side, with shell scripts as daemons. */
@Timeout(180)
class BackgroundStartTest {
  @TempDir Path temp;
  private final AtomicInteger cleanUps = new AtomicInteger();
  private Path log;

  @BeforeEach
  void prepare() {
    log = temp.resolve("log");
  }

  @Test
  void run_ready_returnsThePlanAndLeavesTheDaemonAlone() throws Exception {
    Path pid = temp.resolve("pid");
    BackgroundStart start =
        start(
            "echo noise; echo 'plan one'; echo 'plan two ä'; echo ready; echo $$ > "
                + pid
                + "; exec sleep 60 >&- 2>&-");
    assertThat(start.run()).containsExactly("one", "two ä");
    Await.until("the daemon has said its number", () -> pid.toFile().length() > 0);
    ProcessHandle daemon =
        ProcessHandle.of(Long.parseLong(Files.readString(pid).strip())).orElseThrow();
    assertThat(daemon.isAlive()).isTrue();
    assertThat(cleanUps).hasValue(0);
    daemon.destroyForcibly();
  }

  @Test
  void run_environment_isTheRootDirectoryAndNoInput() {
    BackgroundStart start = start("echo plan $(pwd) $(cat | wc -c); echo ready");
    assertThat(start.run()).containsExactly("/ 0");
  }

  @Test
  void run_error_isPassedOnWithItsCode() {
    CliException failure = failure(start("echo 'error 2 what: do this'; exit 1"));
    assertThat(failure).hasMessage("what: do this");
    assertThat(failure.exitCode()).isEqualTo(2);
    assertThat(cleanUps).hasValue(1);
  }

  @Test
  void run_errorWithoutSense_isPassedOn() {
    assertThat(failure(start("echo 'error something'; exit 1"))).hasMessage("something");
  }

  @Test
  void run_death_tellsTheLogsLastLine() throws IOException {
    CliException failure =
        failure(
            start(
                "echo 'on stderr' >&2; echo first > "
                    + log
                    + "; echo last >> "
                    + log
                    + "; kill -9 $$"));
    assertThat(failure)
        .hasMessage("the daemon died at its start (exit code 137): it said 'last': see " + log);
    assertThat(failure.exitCode()).isEqualTo(1);
    assertThat(cleanUps).hasValue(1);
  }

  @Test
  void run_deathWithoutLog_tellsTheErrorOutput() {
    CliException failure = failure(start("echo 'no memory' >&2; sleep 0.2; exit 3"));
    assertThat(failure)
        .hasMessage(
            "the daemon died at its start (exit code 3): it said 'no memory': try --foreground");
  }

  @Test
  void run_silence_endsTheDaemonAtTheDeadline() {
    BackgroundStart start =
        new BackgroundStart(
            List.of("sleep", "1000"), log, Duration.ofMillis(200), cleanUps::incrementAndGet);
    assertThat(failure(start))
        .hasMessage("the daemon was not ready within 0 s (exit code 143): try --foreground");
    assertThat(cleanUps).hasValue(1);
  }

  @Test
  void run_programMissing_isTold() {
    BackgroundStart start =
        new BackgroundStart(
            List.of("/no/such/program"), log, Duration.ofSeconds(9), cleanUps::incrementAndGet);
    assertThat(failure(start))
        .hasMessageStartingWith("the daemon died at its start (exit code 127)");
  }

  @Test
  void abort_whileWaiting_endsTheDaemonAndCleansUp() throws Exception {
    Path trapping = temp.resolve("trapping");
    Path ended = temp.resolve("ended");
    BackgroundStart start =
        start(
            "trap 'echo > "
                + ended
                + "; exit 0' TERM; echo > "
                + trapping
                + "; echo 'plan x'; while :; do sleep 0.1; done");
    Thread waiting = new Thread(start::run);
    waiting.setDaemon(true);
    waiting.start();
    Await.until("the daemon can be ended", () -> Files.exists(trapping));
    start.abort();
    assertThat(ended).exists();
    assertThat(cleanUps).hasValue(1);
    // The waiting thread says nothing more: its process is ending.
    waiting.join(200);
    assertThat(waiting.isAlive()).isTrue();
  }

  @Test
  void abort_afterReady_leavesTheDaemonAlone() {
    BackgroundStart start = start("echo 'plan x'; echo ready");
    start.run();
    start.abort();
    assertThat(cleanUps).hasValue(0);
  }

  private BackgroundStart start(String script) {
    return new BackgroundStart(
        List.of("sh", "-c", script), log, Duration.ofSeconds(30), cleanUps::incrementAndGet);
  }

  private static CliException failure(BackgroundStart start) {
    return catchThrowableOfType(CliException.class, start::run);
  }
}
