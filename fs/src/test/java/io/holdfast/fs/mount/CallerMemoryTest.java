package io.holdfast.fs.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.linux.Libc;
import io.holdfast.fs.transit.Reader;
import java.io.IOException;
import org.junit.jupiter.api.Test;

final class CallerMemoryTest {
  /** Above the kernel's largest possible pid. */
  private static final int NOBODY = 1 << 23;

  private final CallerMemory callers = new CallerMemory();

  @Test
  void reader_ownThread_isInternal() {
    int thread = Libc.LIBC.gettid();
    assertThat(callers.reader(thread)).isEqualTo(new Reader(thread, true, false));
    assertThat(callers.reader(thread)).isEqualTo(new Reader(thread, true, false));
  }

  @Test
  void reader_processOfTheSameCgroup_isNear() throws IOException {
    Process child = new ProcessBuilder("cat").start();
    try {
      int thread = (int) child.pid();
      assertThat(callers.reader(thread)).isEqualTo(new Reader(thread, false, false));
    } finally {
      child.destroy();
    }
  }

  /** Better to read the pages in once more than to leave them charged to somebody else. */
  @Test
  void reader_thatCannotBeTold_isElsewhere() {
    assertThat(callers.reader(NOBODY)).isEqualTo(new Reader(NOBODY, false, true));
    assertThat(callers.reader(0)).isEqualTo(new Reader(0, false, true));
  }
}
