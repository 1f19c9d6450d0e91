package io.holdfast.fs.mount;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.FakeClock;
import io.holdfast.fs.origin.Acl;
import io.holdfast.fs.origin.Attributes;
import java.time.Duration;
import org.junit.jupiter.api.Test;

final class RightsChangesTest {
  private static final long DIRECTORY = 7;

  private final FakeClock clock = new FakeClock();
  private final RightsChanges changes = new RightsChanges(clock);

  private static Attributes rights(int mode, int acl) {
    int both = Attributes.DIRECTORY | mode;
    return new Attributes(both, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, "").withAcl(acl);
  }

  @Test
  void last_directoryThatWasClosed_forSomeTime() {
    assertThat(changes.last(DIRECTORY)).isZero();

    changes.note(DIRECTORY, rights(0750, Acl.NONE));
    assertThat(changes.last(DIRECTORY)).isPositive();
    assertThat(changes.last(8)).isZero();

    clock.advance(RightsChanges.LASTING.minusMillis(1));
    assertThat(changes.last(DIRECTORY)).isPositive();
    clock.advance(Duration.ofMillis(1));
    assertThat(changes.last(DIRECTORY)).isZero();
  }

  @Test
  void last_allUsersMayPass_thereIsNobodyToRefuse() {
    changes.note(DIRECTORY, rights(0755, Acl.NONE));
    assertThat(changes.last(DIRECTORY)).isZero();
    changes.note(DIRECTORY, rights(0755, Acl.posix(0700)));
    assertThat(changes.last(DIRECTORY)).isPositive();
  }

  /** An answer from before may be on its way, for a user who passed before the directory closed. */
  @Test
  void last_opensToAllAgain_isAnotherNumberForSomeTimeFromThenOn() {
    changes.note(DIRECTORY, rights(0700, Acl.NONE));
    long closed = changes.last(DIRECTORY);
    clock.advance(RightsChanges.LASTING.minusMillis(1));
    changes.note(DIRECTORY, rights(0755, Acl.NONE));
    clock.advance(RightsChanges.LASTING.minusMillis(1));
    assertThat(changes.last(DIRECTORY)).isPositive().isNotEqualTo(closed);
    clock.advance(Duration.ofMillis(1));
    assertThat(changes.last(DIRECTORY)).isZero();
    changes.note(DIRECTORY, rights(0755, Acl.NONE));
    assertThat(changes.last(DIRECTORY)).isZero();
  }

  /** A user may close many directories of their own, so that another one is forgotten. */
  @Test
  void last_moreAreClosedThanAreRemembered_allCountAsClosed() {
    for (int i = 0; i < 100_000; i++) {
      changes.note(i, rights(0700, Acl.NONE));
    }
    assertThat(changes.last(1_000_000)).isZero();
    changes.note(100_000, rights(0700, Acl.NONE));
    for (int i = 0; i <= 100_000; i++) {
      assertThat(changes.last(i)).isPositive();
    }
    assertThat(changes.last(1_000_000)).isPositive();
    clock.advance(RightsChanges.LASTING);
    assertThat(changes.last(1_000_000)).isZero();
  }

  @Test
  void last_changesAgain_isAnotherNumberForSomeTimeFromThenOn() {
    changes.note(DIRECTORY, rights(0750, Acl.NONE));
    long first = changes.last(DIRECTORY);
    clock.advance(RightsChanges.LASTING.minusMillis(1));
    changes.note(DIRECTORY, rights(0750, Acl.NONE));
    changes.note(8, rights(0750, Acl.NONE));
    clock.advance(RightsChanges.LASTING.minusMillis(1));
    assertThat(changes.last(DIRECTORY)).isPositive().isNotEqualTo(first);
  }
}
