package io.holdfast.fs.residency;

import static io.holdfast.fs.Failures.assertFails;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import java.io.BufferedReader;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** The limits themselves are this machine's; what follows from them is not. */
final class PinLimitsTest {
  private static final int PAGE = 4096;
  private static final int RESERVED = 8192;
  private static final PinLimits MAY_LOCK = new PinLimits(true, 1000);
  private static final PinLimits MAY_NOT = new PinLimits(false, 1000);

  @Test
  void choose_auto_locksWhereItIsAllowed() throws FsException {
    assertThat(MAY_LOCK.choose(null)).isTrue();
    assertThat(MAY_NOT.choose(null)).isFalse();
  }

  @Test
  void choose_soft_neverLocks() throws FsException {
    assertThat(MAY_LOCK.choose(false)).isFalse();
    assertThat(MAY_NOT.choose(false)).isFalse();
  }

  @Test
  void choose_hard_failsWhereItIsNotAllowed() throws FsException {
    assertThat(MAY_LOCK.choose(true)).isTrue();
    assertFails(() -> MAY_NOT.choose(true), FsError.NOT_PERMITTED);
  }

  /** No capacity at all needs no limit raised, so nothing of the machine changes. */
  @Test
  void raise_noCapacity_leavesRoomForTheProcessItself() throws Exception {
    PinLimits limits = PinLimits.raise(0);
    assertThat(limits.canLock()).isTrue();
    assertThat(limits.mappings()).isPositive().isEqualTo(mostMappings() - RESERVED);
  }

  /** The kernel gives such a number to the first read only, however short that is. */
  @Test
  void raise_lessThanThereIs_leavesTheMachineAsItIs() throws Exception {
    long before = mostMappings();
    PinLimits limits = PinLimits.raise(PAGE);
    assertThat(mostMappings()).isGreaterThanOrEqualTo(before);
    assertThat(limits.mappings()).isEqualTo(mostMappings() - RESERVED);
  }

  private static long mostMappings() throws Exception {
    Process cat = new ProcessBuilder("cat", "/proc/sys/vm/max_map_count").start();
    try (BufferedReader out = cat.inputReader(StandardCharsets.US_ASCII)) {
      return Long.parseLong(out.readLine());
    }
  }
}
