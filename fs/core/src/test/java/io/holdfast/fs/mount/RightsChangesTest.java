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
  void isRecent_directoryThatHasChanged_forSomeTime() {
    assertThat(changes.isRecent(DIRECTORY)).isFalse();

    changes.note(DIRECTORY, rights(0750, Acl.NONE));
    assertThat(changes.isRecent(DIRECTORY)).isTrue();
    assertThat(changes.isRecent(8)).isFalse();

    clock.advance(RightsChanges.LASTING.minusMillis(1));
    assertThat(changes.isRecent(DIRECTORY)).isTrue();
    clock.advance(Duration.ofMillis(1));
    assertThat(changes.isRecent(DIRECTORY)).isFalse();
  }

  @Test
  void isRecent_allUsersMayPass_thereIsNobodyToRefuse() {
    changes.note(DIRECTORY, rights(0755, Acl.NONE));
    assertThat(changes.isRecent(DIRECTORY)).isFalse();
    changes.note(DIRECTORY, rights(0755, Acl.posix(0700)));
    assertThat(changes.isRecent(DIRECTORY)).isTrue();
    changes.note(DIRECTORY, rights(0711, Acl.NONE));
    assertThat(changes.isRecent(DIRECTORY)).isFalse();
  }

  @Test
  void isRecent_changesAgain_forSomeTimeFromThenOn() {
    changes.note(DIRECTORY, rights(0750, Acl.NONE));
    clock.advance(RightsChanges.LASTING.minusMillis(1));
    changes.note(DIRECTORY, rights(0750, Acl.NONE));
    changes.note(8, rights(0750, Acl.NONE));
    clock.advance(RightsChanges.LASTING.minusMillis(1));
    assertThat(changes.isRecent(DIRECTORY)).isTrue();
  }
}
