package io.holdfast.fs.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.linux.Procfs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CallerSignalsTest {
  @TempDir Path root;

  @ParameterizedTest(name = "{0}")
  @CsvSource({
    "nothing,                        0,     0,    0,    false",
    "killed,                         100,   0,    0,    true",
    "SIGINT for one of its threads,  0,     2,    0,    true",
    "SIGINT for this thread,         2,     0,    0,    true",
    "SIGINT that it blocks,          0,     2,    2,    false",
    "SIGTERM,                        4000,  0,    0,    true",
    "SIGHUP and a child's end,       0,     10001, 0,   true",
    "a timer of a profiler,          4000000, 0,  0,    false",
    "SIGALRM and SIGCHLD,            2000,  10000, 0,   false",
    "SIGURG of a Go program,         400000, 0,   0,    false",
    "the last real-time signal,      8000000000000000, 0, 0, false"
  })
  void ends_isToldByWhatIsPending(
      String what, String own, String shared, String blocked, boolean ends) throws IOException {
    Path process = Files.createDirectories(root.resolve("proc/5"));
    Files.write(
        process.resolve("status"),
        List.of("Name:\tcat", "SigPnd:\t" + own, "ShdPnd:\t" + shared, "SigBlk:\t" + blocked));
    assertThat(CallerSignals.ends(new Procfs(root), 5)).as(what).isEqualTo(ends);
  }

  @Test
  void end_ofAThreadThatRuns_isFalse() {
    assertThat(CallerSignals.end((int) ProcessHandle.current().pid(), longAgo())).isFalse();
  }

  @Test
  void end_ofOneThatIsNotThere_isTrue() {
    assertThat(CallerSignals.end(Integer.MAX_VALUE, System.nanoTime())).isTrue();
  }

  /**
   * In another pid namespace: a Go program's SIGURG ended each lookup and open that it came into.
   */
  @Test
  void end_ofAThreadThatCannotBeSeen_isTrueOnlyAfterALongWait() {
    assertThat(CallerSignals.end(0, System.nanoTime())).isFalse();
    assertThat(CallerSignals.end(0, longAgo())).isTrue();
  }

  private static long longAgo() {
    return System.nanoTime() - TimeUnit.SECONDS.toNanos(2);
  }
}
