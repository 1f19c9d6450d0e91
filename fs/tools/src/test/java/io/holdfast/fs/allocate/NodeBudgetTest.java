package io.holdfast.fs.allocate;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.allocate.NodeAllocation.Change;
import io.holdfast.fs.allocate.NodeBudget.Member;
import io.holdfast.fs.allocate.NodeBudget.Part;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class NodeBudgetTest {
  private static final long PAGE = NodeAllocation.PAGE;
  private static final long GIB = 1L << 30;
  private static final long LEAST = NodeBudget.LEAST;

  private static Bounds bounds(long least, long most, long weight) {
    return new Bounds(least, most, weight, null);
  }

  private static Member joined(String name, long bytes) {
    return new Member(name, bytes, true, Bounds.NONE);
  }

  private static Member own(String name, long bytes) {
    return new Member(name, bytes, false, Bounds.NONE);
  }

  private static Optional<Part> join(long budget, Bounds bounds, Member... members) {
    return new NodeBudget(budget, List.of(members)).join(bounds);
  }

  private static Optional<Part> part(long bytes, Change... changes) {
    return Optional.of(new Part(bytes, List.of(changes)));
  }

  @Test
  void firstMount_getsWhatTheOthersLeave() {
    assertThat(join(40 * GIB, Bounds.NONE)).isEqualTo(part(40 * GIB));
    assertThat(join(40 * GIB, Bounds.NONE, own("a", 10 * GIB))).isEqualTo(part(30 * GIB));
    assertThat(join(40 * GIB, bounds(0, 8 * GIB, 1))).isEqualTo(part(8 * GIB));
  }

  @Test
  void secondMount_getsAsMuchAsTheFirstKeeps() {
    assertThat(join(40 * GIB, Bounds.NONE, joined("a", 40 * GIB)))
        .isEqualTo(part(20 * GIB, new Change("a", 40 * GIB, 20 * GIB)));
    assertThat(join(40 * GIB, bounds(0, Long.MAX_VALUE, 3), joined("a", 40 * GIB)))
        .isEqualTo(part(30 * GIB, new Change("a", 40 * GIB, 10 * GIB)));
  }

  /** The new mount takes memory that no mount has first, so that no mount evicts without need. */
  @Test
  void memoryThatNobodyHas_isTakenFirst() {
    assertThat(join(40 * GIB, Bounds.NONE, joined("a", 20 * GIB))).isEqualTo(part(20 * GIB));
    assertThat(join(40 * GIB, Bounds.NONE, joined("a", 25 * GIB)))
        .isEqualTo(part(20 * GIB, new Change("a", 25 * GIB, 20 * GIB)));
    assertThat(join(40 * GIB, Bounds.NONE, joined("a", 20 * GIB + GIB / 64)))
        .isEqualTo(part(20 * GIB - GIB / 64));
  }

  @Test
  void mountsBeyondTheirFairShare_giveInProportion_andTheOthersKeepAll() {
    Optional<Part> third =
        join(60 * GIB, Bounds.NONE, joined("a", 40 * GIB), joined("b", 15 * GIB));

    assertThat(third).isEqualTo(part(20 * GIB, new Change("a", 40 * GIB, 25 * GIB)));
    assertThat(join(60 * GIB, Bounds.NONE, joined("a", 26 * GIB), joined("b", 23 * GIB)))
        .isEqualTo(
            part(
                20 * GIB,
                new Change("a", 26 * GIB, 20 * GIB),
                new Change("b", 23 * GIB, 20 * GIB)));
  }

  @Test
  void capacityOfItsOwn_isNeverChanged_andAFloorIsKept() {
    assertThat(join(40 * GIB, Bounds.NONE, own("a", 30 * GIB), joined("b", 10 * GIB)))
        .isEqualTo(part(5 * GIB, new Change("b", 10 * GIB, 5 * GIB)));
    Member kept = new Member("b", 10 * GIB, true, bounds(8 * GIB, Long.MAX_VALUE, 1));
    assertThat(join(40 * GIB, Bounds.NONE, own("a", 30 * GIB), kept))
        .isEqualTo(part(2 * GIB, new Change("b", 10 * GIB, 8 * GIB)));
  }

  @Test
  void ceilingOfOne_leavesMoreToTheOthers() {
    Member small = new Member("a", 4 * GIB, true, bounds(0, 4 * GIB, 1));

    assertThat(join(40 * GIB, Bounds.NONE, small)).isEqualTo(part(36 * GIB));
  }

  @Test
  void floorThatIsNotLeft_isNoPart() {
    assertThat(join(40 * GIB, Bounds.NONE, own("a", 40 * GIB))).isEmpty();
    assertThat(join(40 * GIB, Bounds.NONE, own("a", 40 * GIB - LEAST + 1))).isEmpty();
    assertThat(join(40 * GIB, Bounds.NONE, own("a", 40 * GIB - LEAST))).isEqualTo(part(LEAST));
    assertThat(join(40 * GIB, Bounds.NONE, own("a", 50 * GIB), joined("b", GIB))).isEmpty();
    assertThat(join(3 * LEAST - 1, Bounds.NONE, joined("a", LEAST), joined("b", LEAST))).isEmpty();
    assertThat(join(GIB, bounds(2 * GIB, Long.MAX_VALUE, 1))).isEmpty();
  }

  /** A mount that had less than its floor already is not in the way. */
  @Test
  void mountBelowItsFloor_keepsWhatItHas() {
    Member low = new Member("a", GIB, true, bounds(30 * GIB, Long.MAX_VALUE, 1));

    assertThat(join(20 * GIB, Bounds.NONE, low)).isEqualTo(part(10 * GIB));
  }

  @Test
  void roomForACapacityOfItsOwn_comesFromJoinedMounts_orFromNobody() {
    NodeBudget budget =
        new NodeBudget(40 * GIB, List.of(own("a", 10 * GIB), joined("b", 30 * GIB)));

    assertThat(budget.makeRoom(12 * GIB)).containsExactly(new Change("b", 30 * GIB, 18 * GIB));
    assertThat(budget.makeRoom(31 * GIB)).isEmpty();
  }

  /** Mounts as they come, change and go: together they never have more than the budget. */
  @Property
  void anySeriesOfMounts_staysWithinTheBudget(@ForAll long seed) {
    Random random = new Random(seed);
    long budget = LEAST + random.nextLong(64 * GIB);
    List<Member> mounts = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      NodeBudget node = new NodeBudget(budget, mounts);
      switch (random.nextInt(4)) {
        case 0 -> {
          long capacity = 1 + random.nextLong(budget);
          List<Change> changes = node.makeRoom(capacity);
          mounts = changed(mounts, changes, capacity <= node.left());
          if (new NodeBudget(budget, mounts).left() >= capacity) {
            mounts.add(own("m" + i, capacity));
          }
        }
        case 1 -> {
          if (!mounts.isEmpty()) {
            mounts.remove(random.nextInt(mounts.size()));
          }
        }
        default -> {
          Bounds bounds = bounds(random);
          Optional<Part> part = node.join(bounds);
          if (part.isPresent()) {
            long bytes = part.get().bytes();
            mounts = changed(mounts, part.get().changes(), bytes <= node.left());
            mounts.add(new Member("m" + i, bytes, true, bounds));
            assertThat(bytes)
                .isBetween(Math.min(LEAST, bounds.most()) / PAGE * PAGE, bounds.most());
            assertThat(bytes % PAGE).isZero();
          }
        }
      }
      assertThat(new NodeBudget(budget, mounts).left()).as("step %d", i).isNotNegative();
    }
  }

  /** Where mounts have too much already, a new one makes that no worse. */
  @Property
  void newMount_neverTakesWhatIsNotThere(@ForAll long seed) {
    Random random = new Random(seed);
    List<Member> mounts = new ArrayList<>();
    for (int i = random.nextInt(8); i > 0; i--) {
      long bytes = 1 + random.nextLong(20 * GIB);
      mounts.add(new Member("m" + i, bytes, random.nextBoolean(), bounds(random)));
    }
    long budget = 1 + random.nextLong(64 * GIB);
    NodeBudget node = new NodeBudget(budget, mounts);

    Optional<Part> part = node.join(Bounds.NONE);

    if (part.isPresent()) {
      List<Member> after = changed(mounts, part.get().changes(), part.get().bytes() <= node.left());
      after.add(joined("new", part.get().bytes()));
      assertThat(new NodeBudget(budget, after).left()).isNotNegative();
      for (Change change : part.get().changes()) {
        assertThat(change.to() + PAGE)
            .as("%s has a weight of 1 or more, and no less than the new one", change)
            .isGreaterThanOrEqualTo(Math.min(part.get().bytes(), ceiling(mounts, change)));
      }
    } else {
      long floors = LEAST;
      for (Member mount : mounts) {
        long floor = Math.max(LEAST, mount.bounds().least()) + PAGE;
        floors += mount.joined() ? Math.min(mount.bytes(), floor) : mount.bytes();
      }
      assertThat(floors + PAGE * (mounts.size() + 1)).isGreaterThan(budget);
    }
  }

  private static long ceiling(List<Member> mounts, Change change) {
    return mounts.stream()
        .filter(each -> each.name().equals(change.mount()))
        .mapToLong(each -> each.bounds().most())
        .sum();
  }

  private static Bounds bounds(Random random) {
    long least = random.nextInt(3) == 0 ? random.nextLong(8 * GIB) : 0;
    long most =
        random.nextInt(3) == 0 ? Math.max(PAGE, least) + random.nextLong(GIB) : Long.MAX_VALUE;
    return bounds(least, most, 1 + random.nextInt(5));
  }

  /** Applies changes, and checks that they are such as can be. */
  private static List<Member> changed(List<Member> mounts, List<Change> changes, boolean fits) {
    assertThat(changes.isEmpty() || !fits).as("nobody changes for nothing").isTrue();
    List<Member> after = new ArrayList<>();
    for (Member mount : mounts) {
      long bytes = mount.bytes();
      for (Change change : changes) {
        if (change.mount().equals(mount.name())) {
          assertThat(mount.joined()).as("%s", mount).isTrue();
          assertThat(change.from()).isEqualTo(bytes);
          long floor = Math.max(LEAST, mount.bounds().least());
          assertThat(change.to()).as("%s", mount).isBetween(floor, bytes - 1);
          bytes = change.to();
        }
      }
      after.add(new Member(mount.name(), bytes, mount.joined(), mount.bounds()));
    }
    return after;
  }
}
