package io.holdfast.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ScheduleTest {
  private static final Duration HOUR = Duration.ofHours(1);
  private static final Schedule.Targets TARGETS = new Schedule.Targets(3, 8);
  private static final Set<FaultKind> ALL = EnumSet.allOf(FaultKind.class);

  @Test
  void schedule_ofTheSameSeed_isTheSame() {
    assertThat(Schedule.of(7, HOUR, TARGETS, ALL)).isEqualTo(Schedule.of(7, HOUR, TARGETS, ALL));
    assertThat(Schedule.of(7, HOUR, TARGETS, ALL)).isNotEqualTo(Schedule.of(8, HOUR, TARGETS, ALL));
  }

  @Test
  void schedule_ofAnHour_hasEveryKindAndAtMostTwoAtATime() {
    Schedule schedule = Schedule.of(7, HOUR, TARGETS, ALL);
    assertThat(schedule.faults()).extracting(Schedule.Planned::kind).containsAll(ALL);
    for (Schedule.Planned fault : schedule.faults()) {
      assertThat(fault.endMillis()).isLessThanOrEqualTo(HOUR.toMillis());
      assertThat(fault.target()).isLessThan(TARGETS.of(fault.kind().place()));
      assertThat(schedule.faults())
          .filteredOn(
              other ->
                  other.beginMillis() <= fault.beginMillis()
                      && other.endMillis() > fault.beginMillis())
          .hasSizeLessThanOrEqualTo(2)
          .extracting(other -> other.kind().place())
          .doesNotHaveDuplicates();
    }
  }

  @Test
  void schedule_ofSomeKinds_hasNoOthers() {
    Set<FaultKind> some = EnumSet.of(FaultKind.PEER_CUT, FaultKind.READER_KILLED);
    assertThat(Schedule.of(7, HOUR, TARGETS, some).faults())
        .extracting(Schedule.Planned::kind)
        .containsOnly(FaultKind.PEER_CUT, FaultKind.READER_KILLED);
  }
}
