package io.holdfast.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class TimelineTest {
  private final Timeline timeline = new Timeline();

  @Test
  void cause_ofAnErrorWhileTheNodeWasKilled_isThatOfThisNodeOnly() {
    timeline.begin(FaultKind.NODE_KILLED, 1, 1000).end(5000);

    assertThat(timeline.cause(Symptom.NOT_CONNECTED, 1, 2000, 2100))
        .contains(FaultKind.NODE_KILLED);
    assertThat(timeline.cause(Symptom.NOT_CONNECTED, 2, 2000, 2100)).isEmpty();
    assertThat(timeline.cause(Symptom.NOT_CONNECTED, 1, 500, 900)).isEmpty();
    assertThat(timeline.cause(Symptom.NOT_CONNECTED, 1, 60_000, 60_100)).isEmpty();
  }

  @Test
  void cause_ofAnErrorThatTheFaultMustNotShowAs_isNone() {
    timeline.begin(FaultKind.DAEMON_KILLED, 1, 1000);
    timeline.begin(FaultKind.PEER_CUT, 0, 1000);

    for (Symptom symptom : Symptom.values()) {
      assertThat(timeline.cause(symptom, 1, 2000, 2100)).isEmpty();
    }
  }

  @Test
  void cause_ofAnOldVersion_isAnyChangeBeforeWhileTheOriginCannotBeAsked() {
    timeline.begin(FaultKind.CONTENT_CHANGED, 0, 1000).end(2000);

    assertThat(timeline.cause(Symptom.STALE, 1, 60_000, 60_100)).isEmpty();
    timeline.begin(FaultKind.ORIGIN_ERRORS, 0, 59_000).end(61_000);
    assertThat(timeline.cause(Symptom.STALE, 1, 60_000, 60_100))
        .contains(FaultKind.CONTENT_CHANGED);
    assertThat(timeline.cause(Symptom.STALE, 1, 64_000, 64_100)).isEmpty();
    assertThat(timeline.cause(Symptom.STALE, 1, 500, 900)).isEmpty();
    assertThat(timeline.cause(Symptom.NOT_FOUND, 1, 60_000, 60_100)).isEmpty();
  }

  @Test
  void logCheck_errorOfPeers_needsAFaultNearby() {
    String line = "1970-01-01T00:00:02.000Z ERROR cannot join again, and tries on: no route";
    LogCheck check = new LogCheck(timeline, (node, stamp) -> LongStream.of(stamp));

    assertThat(check.isUnexplained(0, line)).isTrue();
    timeline.begin(FaultKind.PEER_CUT, 2, 1000);
    assertThat(check.isUnexplained(0, line)).isFalse();
    assertThat(check.isUnexplained(0, line.replaceAll("cannot.*", "thread pin-0 failed"))).isTrue();
    assertThat(check.isUnexplained(0, line.replace("ERROR", "WARN"))).isFalse();
  }
}
