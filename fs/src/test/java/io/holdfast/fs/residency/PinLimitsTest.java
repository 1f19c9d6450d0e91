package io.holdfast.fs.residency;

import static io.holdfast.fs.Failures.assertFails;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import org.junit.jupiter.api.Test;

/** The limits themselves are this machine's; what follows from them is not. */
final class PinLimitsTest {
  private static final PinLimits MAY_LOCK = new PinLimits(true, 1000);
  private static final PinLimits MAY_NOT = new PinLimits(false, 1000);

  @Test
  void choosePin_auto_locksWhereItIsAllowed() throws FsException {
    assertThat(Residency.choosePin(null, MAY_LOCK)).isTrue();
    assertThat(Residency.choosePin(null, MAY_NOT)).isFalse();
  }

  @Test
  void choosePin_soft_neverLocks() throws FsException {
    assertThat(Residency.choosePin(false, MAY_LOCK)).isFalse();
    assertThat(Residency.choosePin(false, MAY_NOT)).isFalse();
  }

  @Test
  void choosePin_hard_failsWhereItIsNotAllowed() throws FsException {
    assertThat(Residency.choosePin(true, MAY_LOCK)).isTrue();
    assertFails(() -> Residency.choosePin(true, MAY_NOT), FsError.NOT_PERMITTED);
  }

  /** No capacity at all needs no limit raised, so nothing of the machine changes. */
  @Test
  void raise_noCapacity_leavesRoomForTheProcessItself() {
    PinLimits limits = PinLimits.raise(0);
    assertThat(limits.canLock()).isTrue();
    assertThat(limits.mappings()).isNotNegative();
  }
}
