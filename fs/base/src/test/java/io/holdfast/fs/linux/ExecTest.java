package io.holdfast.fs.linux;

import static io.holdfast.fs.linux.Libc.LIBC;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ExecTest {
  /** A signal that nobody in this process needs. */
  private static final int UNUSED = 50;

  private static final int SIGSEGV = 11;
  private static final long SIG_DFL = 0;

  private static long ignored() {
    return Procfs.host().status(Procfs.SELF).mask("SigIgn").orElseThrow();
  }

  private static long bit(int signal) {
    return 1L << (signal - 1);
  }

  @Test
  void ignoreSignals_ignoresThese_butNoFaults() {
    long before = ignored();
    assertThat(before & bit(UNUSED)).isZero();
    Exec.ignoreSignals(bit(UNUSED) | bit(SIGSEGV));
    try {
      assertThat(ignored()).isEqualTo(before | bit(UNUSED));
    } finally {
      LIBC.signal(UNUSED, SIG_DFL);
    }
  }
}
