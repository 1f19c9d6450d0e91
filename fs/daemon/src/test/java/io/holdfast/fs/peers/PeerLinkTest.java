package io.holdfast.fs.peers;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.settings.Settings;
import io.holdfast.peer.transfer.Transfer;
import java.time.Duration;
import org.junit.jupiter.api.Test;

final class PeerLinkTest {
  /** A peer whose origin hung took all the time of a read, and the own origin was never asked. */
  @Test
  void deadlines_anyReadTimeout_leaveTimeForTheOrigin() {
    assertThat(PeerLink.deadlines(Duration.ofMinutes(1))).isEqualTo(Transfer.Deadlines.DEFAULT);
    assertThat(answer(Duration.ofSeconds(20))).isEqualTo(Duration.ofSeconds(5));
    assertThat(answer(Duration.ofSeconds(1)))
        .as("a peer that is silent is given as much")
        .isEqualTo(Transfer.Deadlines.DEFAULT.progress());
    assertThat(answer(Settings.INDEFINITE)).isEqualTo(Duration.ofMinutes(1));
  }

  private static Duration answer(Duration sourceTimeout) {
    return PeerLink.deadlines(sourceTimeout).answer();
  }
}
