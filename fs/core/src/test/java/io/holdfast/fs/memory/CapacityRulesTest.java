package io.holdfast.fs.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.memory.CapacityRules.Phase;
import io.holdfast.fs.memory.CapacityRules.Sight;
import io.holdfast.fs.memory.CapacityRules.State;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class CapacityRulesTest {
  private static final long MIB = 1 << 20;
  private static final long MINUTE = Duration.ofMinutes(1).toNanos();

  /** The reserve is 100 MiB. */
  private static final long TOTAL = 5000 * MIB;

  private static final Bounds BOUNDS = new Bounds(1000 * MIB, 2000 * MIB, 300 * MIB);
  private static final long BESIDES = 500 * MIB;

  private final CapacityRules rules = new CapacityRules(Duration.ofMinutes(1));
  private State state = State.first(BOUNDS.capacity(), 0);
  private long now;

  /** Looks a second later, with so many MiB left. */
  private State see(long residents, long available) {
    return see(residents, new Room("machine", TOTAL, available * MIB, 0));
  }

  private State see(long residents, Room... rooms) {
    now += Duration.ofSeconds(1).toNanos();
    state = rules.next(state, BOUNDS, new Sight(residents * MIB, BESIDES, List.of(rooms)), now);
    return state;
  }

  private void assertIs(Phase phase, long capacity) {
    assertThat(state.phase()).isEqualTo(phase);
    assertThat(state.capacity()).isEqualTo(capacity * MIB);
  }

  @Test
  void enoughIsLeft_allMayBeUsed() {
    see(900, 200);
    assertIs(Phase.OK, 1000);
    assertThat(state.cause()).isEmpty();
  }

  @Test
  void twoReservesAreNotLeft_nothingMoreIsAdmitted() {
    see(600, 199);
    assertIs(Phase.LIMITED, 600);
    see(600, 250);
    assertIs(Phase.LIMITED, 600);
  }

  @Test
  void theReserveIsNotLeft_residentsMakeWayForItAndAQuarterMore() {
    see(900, 60);
    assertIs(Phase.SHRINKING, 900 - 40 - 25);
    assertThat(state.cause()).isEqualTo("machine");
    see(835, 125);
    assertIs(Phase.LIMITED, 835);
  }

  @Test
  void muchIsMissing_itIsGivenUpInSteps_downToTheLeast() {
    see(900, 0);
    assertIs(Phase.SHRINKING, 900 - 125);
    see(775, 0);
    see(650, 0);
    see(525, 0);
    see(400, 0);
    assertIs(Phase.SHRINKING, 300);
    see(300, 0);
    assertIs(Phase.LIMITED, 300);
    see(100, 0);
    assertIs(Phase.LIMITED, 300);
  }

  @Test
  void muchOfALotIsMissing_noMoreThanAStepIsGivenUpAtOnce() {
    Bounds large = new Bounds(400_000 * MIB, 500_000 * MIB, 0);
    Room room = new Room("machine", 512_000 * MIB, 0, 0);
    State next = rules.next(state, large, new Sight(320_000 * MIB, 0, List.of(room)), 1);
    assertThat(next.capacity()).isEqualTo((320_000 - 5000) * MIB);
    Room wanting = new Room("machine", 5000 * MIB, 0, 0);
    Sight some = new Sight(900 * MIB, 0, List.of(wanting, new Room("cgroup", 64_000 * MIB, 0, 0)));
    assertThat(rules.next(state, large, some, 1).capacity()).isEqualTo((900 - 256) * MIB);
  }

  @Test
  void tightestRoom_isTheCause() {
    see(
        900,
        new Room("machine", TOTAL, 1000 * MIB, 0),
        new Room("cgroup /a", 1000 * MIB, 20 * MIB, 0));
    assertIs(Phase.SHRINKING, 900 - 12 - 8);
    assertThat(state.cause()).isEqualTo("cgroup /a");
  }

  @Test
  void stalls_aloneMoveNothing_butDoubleTheReserve() {
    see(900, new Room("machine", TOTAL, 500 * MIB, 99));
    assertIs(Phase.OK, 1000);
    see(900, new Room("machine", TOTAL, 150 * MIB, 10));
    assertIs(Phase.SHRINKING, 900 - 50 - 50);
  }

  @Test
  void enoughForAMinute_residentsGrowIntoHalfOfWhatIsSpare() {
    see(900, 60);
    long calm = now;
    see(835, 400);
    assertIs(Phase.LIMITED, 835);
    now = calm + MINUTE;
    see(835, 400);
    assertIs(Phase.GROWING, 835 + 50);
    see(885, 350);
    assertIs(Phase.GROWING, 885);
    now += Duration.ofSeconds(10).toNanos();
    see(885, 350);
    assertIs(Phase.GROWING, 885 + 25);
    now += Duration.ofSeconds(10).toNanos();
    see(910, 2000);
    assertIs(Phase.GROWING, 910 + 64);
    now += Duration.ofSeconds(10).toNanos();
    see(974, 2000);
    assertIs(Phase.OK, 1000);
  }

  @Test
  void growthThatEndsInGivingUp_waitsTwiceAsLong() {
    see(900, 60);
    now += MINUTE;
    see(835, 400);
    assertThat(state.phase()).isEqualTo(Phase.GROWING);
    see(885, 10);
    assertThat(state.relapses()).isOne();
    now += MINUTE;
    see(770, 400);
    assertThat(state.phase()).isEqualTo(Phase.LIMITED);
    now += MINUTE;
    see(770, 400);
    assertThat(state.phase()).isEqualTo(Phase.GROWING);
  }

  @Test
  void restTakesMore_capacityIsWhatTheCeilingLeaves_alsoBelowTheLeast() {
    Bounds bounds = new Bounds(512 * MIB, 2000 * MIB, 300 * MIB);
    state = rules.next(state, bounds, new Sight(500 * MIB, 1503 * MIB, List.of()), now);
    assertIs(Phase.SHRINKING, 496);
    assertThat(state.cause()).isEqualTo("--memory");
    state = rules.next(state, bounds, new Sight(496 * MIB, 1901 * MIB, List.of()), now);
    assertIs(Phase.SHRINKING, 496 - 256);
    state = rules.next(state, bounds, new Sight(240 * MIB, 1901 * MIB, List.of()), now);
    assertIs(Phase.SHRINKING, 96);
    state = rules.next(state, bounds, new Sight(96 * MIB, 1901 * MIB, List.of()), now);
    assertIs(Phase.LIMITED, 96);
  }

  @Test
  void capacityThatPeopleChange_holdsAtOnce() {
    see(600, 500);
    Bounds smaller = new Bounds(700 * MIB, 2000 * MIB, 0);
    state = rules.next(state, smaller, new Sight(600 * MIB, BESIDES, List.of()), now);
    assertIs(Phase.OK, 700);
    see(600, 150);
    assertIs(Phase.LIMITED, 600);
    state =
        rules.next(
            state, new Bounds(500 * MIB, 2000 * MIB, 0), new Sight(500 * MIB, 0, List.of()), now);
    assertIs(Phase.OK, 500);
  }
}
