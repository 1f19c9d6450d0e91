package io.holdfast.fs.peers;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.settings.Settings;
import io.holdfast.peer.transfer.Transfer;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class PeerLinkTest {
  /** A peer whose origin hung took all the time of a read, and the own origin was never asked. */
  @Test
  void deadlines_anyReadTimeout_leaveTimeForTheOrigin() {
    assertThat(PeerLink.deadlines(Duration.ofMinutes(1))).isEqualTo(Transfer.Deadlines.DEFAULT);
    assertThat(answer(Duration.ofSeconds(20))).isEqualTo(Duration.ofSeconds(5));
    assertThat(answer(Duration.ofSeconds(1))).isEqualTo(Duration.ofMillis(250));
    assertThat(answer(Settings.INDEFINITE)).isEqualTo(Duration.ofMinutes(1));
  }

  /** A silent peer, or one that sent little by little, took all the time of a read as well. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 5, 10, 60, 600})
  void deadlines_twoPeersOneAfterTheOther_leaveTimeForTheOrigin(int seconds) {
    Duration read = Duration.ofSeconds(seconds);
    Transfer.Deadlines deadlines = PeerLink.deadlines(read);
    assertThat(deadlines.total().multipliedBy(2))
        .isLessThanOrEqualTo(read.multipliedBy(2).dividedBy(3));
    assertThat(deadlines.answer()).isLessThan(deadlines.total());
    assertThat(deadlines.progress()).isLessThanOrEqualTo(read.dividedBy(4));
  }

  private static Duration answer(Duration sourceTimeout) {
    return PeerLink.deadlines(sourceTimeout).answer();
  }
}
