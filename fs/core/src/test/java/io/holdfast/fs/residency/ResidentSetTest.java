package io.holdfast.fs.residency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.ItemKey;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.origin.Version;
import io.holdfast.fs.transit.Item;
import io.holdfast.policy.CachePolicy;
import io.holdfast.policy.Policies;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The policy and the residents stay equal when a step between them fails, as with a full heap. */
final class ResidentSetTest {
  private static final long PAGE = 4096;

  private final CachePolicy policy = Policies.create("minio", 4 * PAGE, 1);
  private final FailingLog log = new FailingLog();
  private final ResidentSet residentSet = new ResidentSet(policy, log);
  private final List<Resident> givenUp = new ArrayList<>();

  /** Has no room for one release, or for one admission. */
  private static final class FailingLog implements ResidentLog {
    private boolean failsToRelease;
    private boolean failsToAdmit;

    @Override
    public void reserve() {}

    @Override
    public void admitted(ItemKey item) {
      if (failsToAdmit) {
        failsToAdmit = false;
        throw new OutOfMemoryError("Java heap space");
      }
    }

    @Override
    public void released(ItemKey item) {
      if (failsToRelease) {
        failsToRelease = false;
        throw new OutOfMemoryError("Java heap space");
      }
    }

    @Override
    public void notTakenOver(ItemKey item) {}

    @Override
    public List<ItemKey> before() {
      return List.of();
    }
  }

  /** A list that cannot grow for its second element, once. */
  private static final class FullOnce extends ArrayList<Resident> {
    private static final long serialVersionUID = 1;

    @Override
    public boolean add(Resident resident) {
      if (size() == 1) {
        throw new OutOfMemoryError("Java heap space");
      }
      return super.add(resident);
    }
  }

  private static Resident resident(int node) {
    OriginPath path = OriginPath.of("f" + node);
    return new Resident(
        new Item(new ItemKey(node, 0), () -> path, new Version(100, 1, node, ""), 0, 100));
  }

  private boolean admit(int node) {
    return residentSet.admit(resident(node), false, PAGE, givenUp);
  }

  private void admitAll() {
    for (int node = 1; node <= 4; node++) {
      assertThat(admit(node)).isTrue();
    }
  }

  @AfterEach
  void policyAndResidentsAreEqual() {
    policy.check();
    assertThat(residentSet.size()).isEqualTo(policy.residentItems());
    assertThat(residentSet.all()).allMatch(each -> policy.contains(each.handle));
  }

  /** The policy gave the room of all away, and the ones behind the failure stayed residents. */
  @Test
  void resize_breaksOffMidway_theRestAreGivenUpLater() {
    admitAll();
    log.failsToRelease = true;
    assertThatThrownBy(() -> residentSet.resize(0, givenUp)).isInstanceOf(OutOfMemoryError.class);
    residentSet.resize(0, givenUp);
    assertThat(givenUp).hasSize(4);
    assertThat(new HashSet<>(givenUp)).as("each once").hasSize(4);
  }

  @Test
  void resize_noRoomForAnEvictee_itIsGivenUpLater() {
    admitAll();
    List<Resident> full = new FullOnce();
    assertThatThrownBy(() -> residentSet.resize(0, full)).isInstanceOf(OutOfMemoryError.class);
    assertThat(full).hasSize(1);
    residentSet.catchUp(givenUp, 10);
    givenUp.addAll(full);
    assertThat(givenUp).hasSize(4);
    assertThat(new HashSet<>(givenUp)).as("each once").hasSize(4);
  }

  @Test
  void resize_breaksOffMidway_evicteesAreNotKept() {
    admitAll();
    log.failsToRelease = true;
    assertThatThrownBy(() -> residentSet.resize(0, givenUp)).isInstanceOf(OutOfMemoryError.class);
    residentSet.all().forEach(each -> assertThat(keep(each)).isFalse());
    assertThat(policy.residentItems()).isZero();
    residentSet.catchUp(givenUp, 10);
    assertThat(givenUp).hasSize(4);
  }

  /** A reader's thread released all that had been left, which may be thousands. */
  @Test
  void admission_evicteesAreLeft_leavesThemToTheTicks() {
    admitAll();
    log.failsToRelease = true;
    assertThatThrownBy(() -> residentSet.resize(0, givenUp)).isInstanceOf(OutOfMemoryError.class);
    givenUp.clear();
    assertThat(admit(5)).isFalse();
    Item left = residentSet.all().get(0).item();
    assertThat(residentSet.swap(resident(6), left.key(), PAGE, givenUp)).isFalse();
    assertThat(givenUp).isEmpty();

    residentSet.catchUp(givenUp, 2);
    assertThat(givenUp).hasSize(2);
    List<Resident> ofNextTick = new ArrayList<>();
    residentSet.catchUp(ofNextTick, 2);
    assertThat(ofNextTick).hasSize(1).doesNotContainAnyElementsOf(givenUp);
  }

  /** The second one was in no book any more, and stayed locked in memory until the unmount. */
  @Test
  void admission_takerFailsForAnEvictee_theOthersAreTaken() {
    ResidentSet two = new ResidentSet(Policies.create("lru", 2 * PAGE, 1), log);
    AdmissionControl admission = new AdmissionControl(two, Selection.NONE, log, 100);
    assertThat(admission.admit(resident(1).item(), givenUp::add)).isNotNull();
    assertThat(admission.admit(resident(2).item(), givenUp::add)).isNotNull();
    Consumer<Resident> failing =
        evictee -> {
          givenUp.add(evictee);
          throw new OutOfMemoryError("Java heap space");
        };

    assertThatCode(() -> admission.admit(large(3), failing)).doesNotThrowAnyException();

    assertThat(givenUp).hasSize(2);
  }

  private static Item large(int node) {
    OriginPath path = OriginPath.of("large");
    int length = (int) (2 * PAGE);
    return new Item(new ItemKey(node, 0), () -> path, new Version(length, 1, node, ""), 0, length);
  }

  private boolean keep(Resident resident) {
    return residentSet.keep(resident.item().key(), PAGE);
  }

  @Test
  void admission_breaksOffMidway_itemIsNotResident() {
    log.failsToAdmit = true;
    assertThatThrownBy(() -> admit(1)).isInstanceOf(OutOfMemoryError.class);
    assertThat(residentSet.size()).isZero();
    assertThat(admit(1)).isTrue();
    assertThat(givenUp).isEmpty();
  }
}
