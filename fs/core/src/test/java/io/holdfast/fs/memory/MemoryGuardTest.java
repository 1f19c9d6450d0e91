package io.holdfast.fs.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.Await;
import io.holdfast.fs.figures.MemoryFigures;
import io.holdfast.fs.memory.CapacityRules.Phase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class MemoryGuardTest {
  private static final long MIB = 1 << 20;
  private static final long ITEM = MIB;

  private final List<Long> resizes = new ArrayList<>();
  private Bounds bounds = new Bounds(1000 * MIB, 2000 * MIB, 0);
  private long capacity = bounds.capacity();
  private long residents = 900 * MIB;
  private long available = 5000 * MIB;
  private long now;
  private Runnable onLook = () -> {};

  private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor();

  private List<Room> cgroups = List.of();
  private long told;

  private final MemoryGuard guard =
      new MemoryGuard(
          new CapacityRules(Duration.ofSeconds(60)),
          new MemoryGuard.Sources(() -> bounds, this::use, this::rooms, new Items(), () -> now),
          thread);

  private List<Room> rooms() {
    List<Room> rooms = new ArrayList<>(cgroups);
    rooms.add(0, new Room("machine", 5000 * MIB, available, 0));
    return rooms;
  }

  private OwnUse use() {
    onLook.run();
    return new OwnUse(residents, 0, 0, 0, 100 * MIB, 0, 0, 0, 500 * MIB);
  }

  private final class Items implements MemoryGuard.Residents {
    @Override
    public long capacity() {
      return capacity;
    }

    @Override
    public long resize(long wanted) {
      capacity = wanted;
      resizes.add(wanted / MIB);
      long gone = Math.max(0, residents - wanted);
      residents -= gone;
      available += gone;
      return gone / ITEM;
    }

    @Override
    public void available(long bytes) {
      told = bytes;
    }
  }

  @AfterEach
  void end() {
    guard.close();
    thread.shutdownNow();
  }

  @Test
  void enoughMemory_capacityIsTheUsers_nobodyIsResized() {
    guard.look();
    bounds = new Bounds(950 * MIB, 2000 * MIB, 0);
    capacity = bounds.capacity();
    guard.look();

    assertThat(resizes).isEmpty();
    assertThat(guard.figures().state().phase()).isEqualTo(Phase.OK);
    assertThat(guard.figures().peak()).isEqualTo(1000 * MIB);
  }

  @Test
  void look_tellsWhatIsLeftWhereLeastIsLeft() {
    available = 3000 * MIB;
    guard.look();
    assertThat(told).isEqualTo(3000 * MIB);

    cgroups = List.of(new Room("cgroup", 4000 * MIB, 2500 * MIB, 0));
    guard.look();
    assertThat(told).isEqualTo(2500 * MIB);
  }

  @Test
  void shortage_isMendedOnce_counted_andLeavesTheOldCapacityInTheEnd() {
    available = 60 * MIB;
    guard.look();
    guard.look();
    guard.look();

    assertThat(resizes).containsExactly(900L - 40 - 25);
    MemoryGuard.Figures figures = guard.figures();
    assertThat(figures.givenUpBytes()).isEqualTo(65 * MIB);
    assertThat(figures.givenUpItems()).isEqualTo(65);
    assertThat(figures.episodes()).isOne();
    assertThat(figures.state().phase()).isEqualTo(Phase.LIMITED);

    available = 4000 * MIB;
    for (int seconds = 0; seconds < 200; seconds++) {
      now += 1_000_000_000L;
      guard.look();
      residents = Math.min(capacity, 1000 * MIB);
    }
    assertThat(resizes).endsWith(1000L);
    assertThat(guard.figures().state().phase()).isEqualTo(Phase.OK);
  }

  /** Nobody looked at the memory any more, and nothing said so. */
  @Test
  void look_thatEndsWithAnError_isNotTheLast() {
    CountDownLatch looks = new CountDownLatch(2);
    onLook =
        () -> {
          looks.countDown();
          throw new NoClassDefFoundError("made for the test");
        };
    guard.start();
    Await.latch(looks);
  }

  /** A user's word does not go beyond what there is room for. */
  @Test
  void capacityRaisedByAUser_whileLimited_isTakenBack() {
    available = 150 * MIB;
    guard.look();
    capacity = 1200 * MIB;
    bounds = new Bounds(capacity, 2000 * MIB, 0);

    guard.look();

    assertThat(capacity).isEqualTo(900 * MIB);
  }

  /** Residents were admitted up to the guard's capacity while a user's smaller one evicted them. */
  @Test
  void capacityLoweredByAUser_whileLimitedAndALookIsUnderWay_isLeft() {
    available = 150 * MIB;
    guard.look();
    assertThat(guard.figures().state().capacity()).isEqualTo(900 * MIB);
    onLook =
        () -> {
          bounds = new Bounds(700 * MIB, 2000 * MIB, 0);
          capacity = bounds.capacity();
        };
    resizes.clear();

    guard.look();

    assertThat(resizes).isEmpty();
  }

  /** The look had taken the bounds when the user's capacity came, and saw no need to look again. */
  @Test
  void capacityRaisedToTheOldOneByALook_isLoweredByTheNext() {
    residents = 500 * MIB;
    guard.look();
    bounds = new Bounds(700 * MIB, 2000 * MIB, 0);
    capacity = 1000 * MIB;

    guard.look();

    assertThat(resizes).containsExactly(700L);
  }

  @Test
  void capacityOfAUser_isAllowedAsFarAsOthersDoNotNeedTheMemory() {
    guard.look();
    assertThat(guard.allowed(1200 * MIB)).isEqualTo(1200 * MIB);
    available = 150 * MIB;
    guard.look();
    assertThat(guard.allowed(1200 * MIB)).isEqualTo(900 * MIB);
    assertThat(guard.allowed(800 * MIB)).isEqualTo(800 * MIB);
  }

  @Test
  void told_figures_areAllInTheirPlaces() {
    MemoryGuard.Figures figures =
        new MemoryGuard.Figures(
            new CapacityRules.State(Phase.LIMITED, 30, "machine", 0, 0, false),
            new Bounds(31, 32, 33),
            new OwnUse(1, 2, 3, 4, 5, 6, 7, 8, 9),
            List.of(new Room("cgroup", 40, 41, 42.5)),
            50,
            51,
            52,
            53);
    List<MemoryFigures.Room> rooms =
        List.of(new MemoryFigures.Room("cgroup", 40, 41, 64 << 20, 42.5));
    assertThat(figures.told())
        .isEqualTo(
            new MemoryFigures(
                32, 36, 50, 1, 2, 3, 4, 5, 6, 7, 8, "limited", "machine", 31, 33, 30, 51, 52, 53,
                rooms));
  }
}
