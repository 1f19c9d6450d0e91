package io.holdfast.fs.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.memory.CapacityRules.Phase;
import io.holdfast.fs.memory.CapacityRules.Sight;
import io.holdfast.fs.memory.CapacityRules.State;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.LongRange;

/**
 * The rules at work on a machine of which others take some: residents are admitted as fast as
 * anything, and given up as they must be.
 */
class CapacityRulesPropertyTest {
  private static final long MIB = 1 << 20;
  private static final long TICK = Duration.ofMillis(250).toNanos();
  private static final long MACHINE = 64_000 * MIB;
  private static final int SETTLING = 400;

  private final CapacityRules rules = new CapacityRules(Duration.ofSeconds(60));

  /** The machine's memory, and its changes. */
  private final class World {
    final Bounds bounds;
    final Random random;
    State state;
    long residents;
    long besides = 500 * MIB;
    long others;
    double stalled;
    long now;

    World(Bounds bounds, long seed) {
      this.bounds = bounds;
      this.random = new Random(seed);
      state = State.first(bounds.capacity(), 0);
    }

    long available() {
      return Math.max(0, MACHINE - others - besides - residents);
    }

    void tick(long nanos) {
      now += nanos;
      Room room = new Room("machine", MACHINE, available(), stalled);
      long before = residents;
      state = rules.next(state, bounds, new Sight(residents, besides, List.of(room)), now);
      residents = Math.min(residents, state.capacity());
      if (residents < before) {
        // what the ceiling leaves may be less than the least, by its rounding
        long ceiling = Math.max(0, bounds.memory() - besides);
        long rounding = Math.max(4 * MIB, bounds.capacity() / 128);
        long least = Math.min(bounds.floor(), ceiling - rounding);
        assertThat(residents).as("after giving up").isGreaterThanOrEqualTo(least);
      }
      assertThat(state.capacity()).isBetween(0L, bounds.capacity());
      long admitted = (long) (random.nextDouble() * 256 * MIB);
      residents += Math.min(admitted, Math.max(0, state.capacity() - residents));
    }
  }

  @Property(tries = 200)
  void anyPressure_leavesTheLeast_andEndsWithinTheCeiling(
      @ForAll @LongRange(min = 64, max = 32_000) long capacity,
      @ForAll @LongRange(min = 0, max = 32_000) long least,
      @ForAll @LongRange(min = 0, max = 90_000) long others,
      @ForAll @LongRange(min = 100, max = 40_000) long besides,
      @ForAll @DoubleRange(min = 0, max = 100) double stalled,
      @ForAll long seed) {
    World world = new World(new Bounds(capacity * MIB, (capacity + 700) * MIB, least * MIB), seed);
    for (int i = 0; i < SETTLING; i++) {
      world.tick(TICK);
    }
    world.others = others * MIB;
    world.besides = besides * MIB;
    world.stalled = stalled;

    for (int i = 0; i < SETTLING; i++) {
      world.tick(TICK);
    }

    long ceiling = Math.max(0, world.bounds.memory() - world.besides);
    assertThat(world.residents).isLessThanOrEqualTo(ceiling);
    boolean enough = world.available() >= new Room("", MACHINE, 0, stalled).reserve();
    long floor = Math.min(world.bounds.floor(), ceiling);
    assertThat(enough || world.residents <= floor)
        .as("%d left, %d residents", world.available(), world.residents)
        .isTrue();
  }

  /**
   * Once the others' memory is constant, residents are evicted at most once, and never come and go.
   */
  @Property(tries = 100)
  void steadyNeed_residentsNeverComeAndGo(
      @ForAll @LongRange(min = 64, max = 60_000) long capacity,
      @ForAll @LongRange(min = 0, max = 70_000) long first,
      @ForAll @LongRange(min = 0, max = 70_000) long then,
      @ForAll @LongRange(min = 0, max = 300) long jitter,
      @ForAll long seed) {
    World world = new World(new Bounds(capacity * MIB, MACHINE, 0), seed);
    world.others = first * MIB;
    for (int i = 0; i < SETTLING; i++) {
      world.tick(TICK);
    }
    world.others = then * MIB;
    int episodes = 0;
    Phase before = world.state.phase();
    for (int i = 0; i < 4 * SETTLING; i++) {
      world.others = then * MIB + (long) (world.random.nextDouble() * jitter * MIB);
      world.tick(i < SETTLING ? TICK : Duration.ofSeconds(5).toNanos());
      if (world.state.phase() == Phase.SHRINKING && before != Phase.SHRINKING && i >= SETTLING) {
        episodes++;
      }
      before = world.state.phase();
    }

    assertThat(episodes).isLessThanOrEqualTo(1);
  }

  /** The job takes and gives back memory: residents come back, but not each time. */
  @Property(tries = 20)
  void needThatComesAndGoes_isFollowedLessAndLess(@ForAll long seed) {
    World world = new World(new Bounds(32_000 * MIB, MACHINE, 0), seed);
    int episodes = 0;
    Phase before = Phase.OK;
    for (int i = 0; i < 7200; i++) {
      world.others = i / 40 % 2 == 0 ? 10_000 * MIB : 50_000 * MIB;
      world.tick(Duration.ofSeconds(2).toNanos());
      if (world.state.phase() == Phase.SHRINKING && before != Phase.SHRINKING) {
        episodes++;
      }
      before = world.state.phase();
    }
    assertThat(episodes).as("of 90 in four hours").isLessThan(20);
  }
}
