package io.holdfast.fs.stats;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.FsError;
import io.holdfast.fs.linux.Libc;
import io.holdfast.fs.linux.Linux;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests of {@link OpenCounts} and {@link ReadStats}. */
final class OpenCountsTest {
  private static final int NOBODY = 1 << 23;

  private final OpenCounts counts = new OpenCounts();

  @Test
  void opened_byThreads_addsUpByProcess() {
    counts.opened(NOBODY + 30, 2);
    counts.opened(NOBODY + 7, 1);
    counts.opened(NOBODY + 30, 3);
    assertThat(counts.total()).isEqualTo(6);
    assertThat(counts.byProcess())
        .containsExactly(Map.entry(NOBODY + 7, 1L), Map.entry(NOBODY + 30, 5L));
  }

  @Test
  void opened_byAThreadOfAnotherProcess_countsForTheProcess() throws IOException {
    Process child = new ProcessBuilder("cat").start();
    try {
      int process = (int) child.pid();
      assertThat(Linux.processOf(process)).isEqualTo(process);
      counts.opened(process, 1);
      assertThat(counts.byProcess()).containsExactly(Map.entry(process, 1L));
    } finally {
      child.destroy();
    }
  }

  @Test
  void opened_byThisProcess_doesNotCount() throws InterruptedException {
    int[] thread = new int[1];
    int[] process = new int[1];
    Thread other =
        new Thread(
            () -> {
              thread[0] = Libc.LIBC.gettid();
              process[0] = Linux.processOf(thread[0]);
              counts.opened(thread[0], 5);
            });
    other.start();
    other.join();
    assertThat(process[0]).isEqualTo((int) ProcessHandle.current().pid()).isNotEqualTo(thread[0]);
    assertThat(counts.total()).isZero();
    assertThat(counts.byProcess()).isEmpty();
  }

  @Test
  void manyProcesses_thatHaveEnded_areForgottenButInTheTotal() {
    for (int i = 0; i < 10_000; i++) {
      counts.opened(NOBODY + i, 1);
    }
    assertThat(counts.total()).isEqualTo(10_000);
    assertThat(counts.byProcess()).hasSizeLessThanOrEqualTo(4096);
    assertThat(counts.byProcess()).containsKey(NOBODY + 9_999);
  }

  @Test
  void readStats_answersAndFailures_areCounted() {
    ReadStats reads = new ReadStats();
    reads.answered(100, 1_500_000_000L);
    reads.answered(50, 0);
    reads.failed(FsError.IO, 500_000_000L);
    assertThat(reads.requests()).isEqualTo(3);
    assertThat(reads.bytes()).isEqualTo(150);
    assertThat(reads.errors()).isEqualTo(1);
    assertThat(reads.stallSeconds()).isEqualTo(2);
  }
}
