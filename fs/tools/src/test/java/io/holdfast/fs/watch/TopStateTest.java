package io.holdfast.fs.watch;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TopStateTest {
  private final TopState first = TopState.first(1000);

  @Test
  void first_isJobsByTimeStalled() {
    assertThat(first)
        .isEqualTo(new TopState(TopState.Table.JOBS, TopState.Sort.STALLED, false, false, 1000));
  }

  @Test
  void tableKey_goesRound() {
    assertThat(first.after('p').table()).isEqualTo(TopState.Table.PROCESSES);
    assertThat(first.after('p').after('p').table()).isEqualTo(TopState.Table.PEERS);
    assertThat(first.after('p').after('p').after('p').table()).isEqualTo(TopState.Table.ORDERS);
    assertThat(first.after('p').after('p').after('p').after('p').table())
        .isEqualTo(TopState.Table.CONVOYS);
    assertThat(first.after('p').after('p').after('p').after('p').after('p')).isEqualTo(first);
  }

  @Test
  void intervalKeys_stopAtTheEnds() {
    assertThat(first.after('+').intervalMillis()).isEqualTo(2000);
    assertThat(first.after('-').intervalMillis()).isEqualTo(500);
    assertThat(TopState.first(60_000).after('+').intervalMillis()).isEqualTo(60_000);
    assertThat(TopState.first(100).after('-').intervalMillis()).isEqualTo(100);
    assertThat(TopState.first(3000).after('-').intervalMillis()).isEqualTo(2000);
  }

  @Test
  void space_pausesAndGoesOn() {
    assertThat(first.after(' ').paused()).isTrue();
    assertThat(first.after(' ').after(' ')).isEqualTo(first);
  }

  @Test
  void anyKey_leavesTheHelp() {
    assertThat(first.after('h').help()).isTrue();
    assertThat(first.after('h').after('p')).isEqualTo(first);
  }

  @Test
  void otherKeys_changeNothing() {
    assertThat(first.after(27)).isEqualTo(first);
    assertThat(first.after('[')).isEqualTo(first);
  }
}
