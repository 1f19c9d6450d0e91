package io.holdfast.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

/** A full heap breaks off a call; the policy counts all the same what its tables hold. */
final class ComposedPolicyTest {
  private static final long PAGE = 4096;

  private final FullHeap eviction = new FullHeap();
  private final CachePolicy policy =
      new ComposedPolicy("test", 4 * PAGE, Admission.ALWAYS, eviction, 1);

  /** Evicts what the test names, and fails where the test says so. */
  private static final class FullHeap implements Eviction {
    private boolean atAdmitted;
    private boolean atVictim;
    private boolean atRemoved;
    private long victim;

    private static void failIf(boolean full) {
      if (full) {
        throw new OutOfMemoryError("Java heap space");
      }
    }

    @Override
    public boolean replaces() {
      return true;
    }

    @Override
    public void admitted(long id, long hash, long weight) {
      failIf(atAdmitted);
    }

    @Override
    public long victim(ResidentTable residents) {
      failIf(atVictim);
      return victim;
    }

    @Override
    public void removed(long id, ResidentTable residents) {
      failIf(atRemoved);
    }
  }

  @Test
  void offer_evictionFindsTheHeapFull_isUndoneByRemove() {
    policy.offer(1, 0, PAGE);
    eviction.atAdmitted = true;
    assertThatThrownBy(() -> policy.offer(2, 0, PAGE)).isInstanceOf(OutOfMemoryError.class);
    policy.check();
    policy.remove(2);
    policy.check();
    assertThat(policy.residentBytes()).isEqualTo(PAGE);
  }

  @Test
  void offer_evictionFailsAfterTheVictimIsOut_countsTheRest() {
    policy.offer(1, 0, 2 * PAGE);
    policy.offer(2, 0, PAGE);
    eviction.victim = 1;
    eviction.atRemoved = true;
    assertThatThrownBy(() -> policy.offer(3, 0, 3 * PAGE)).isInstanceOf(OutOfMemoryError.class);
    policy.check();
  }

  @Test
  void keep_noHeapToEvict_isUndoneByRemove() {
    policy.offer(1, 0, 3 * PAGE);
    eviction.atVictim = true;
    assertThatThrownBy(() -> policy.keep(2, 2 * PAGE)).isInstanceOf(OutOfMemoryError.class);
    policy.remove(2);
    policy.check();
    assertThat(policy.keptBytes()).isZero();
  }

  @Test
  void keep_ofAResident_evictionFindsTheHeapFull_isCounted() {
    policy.offer(1, 0, PAGE);
    eviction.atRemoved = true;
    assertThatThrownBy(() -> policy.keep(1, PAGE)).isInstanceOf(OutOfMemoryError.class);
    policy.check();
    assertThat(policy.contains(1)).isTrue();
    assertThat(policy.keptBytes()).isEqualTo(PAGE);
  }
}
