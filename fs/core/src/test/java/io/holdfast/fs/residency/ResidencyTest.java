package io.holdfast.fs.residency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.Await;
import io.holdfast.fs.ItemKey;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.transit.Item;
import io.holdfast.policy.CachePolicy;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The admission of items, by the user's selections and the policy. */
final class ResidencyTest extends ResidencyFixture {
  @Test
  void offer_keptFile_isPinnedWhateverIsResident() throws IOException {
    selection = Selection.of(List.of("val/"), List.of());
    start(4L * PAGE);
    Files.createDirectory(sandbox.path("val"));
    file("f", random(4 * PAGE));
    file("val/g", random(PAGE));
    Item ordinary = item("f", 4 * PAGE);
    Item kept = item("val/g", PAGE);
    pin(ordinary);
    assertThat(residency.wouldAdmit(kept)).isTrue();
    pin(kept);
    assertThat(residency.isResident(kept)).isTrue();
    assertThat(residency.isResident(ordinary)).isFalse();
    assertThat(residency.figures().evictedItems()).isEqualTo(1);
    assertThat(residency.figures().residentBytes()).isEqualTo(PAGE);
  }

  @Test
  void offer_excludedFile_isRefused() throws IOException {
    selection = Selection.of(List.of(), List.of("*.idx"));
    start(4L * PAGE);
    file("a.idx", random(PAGE));
    Item excluded = item("a.idx", PAGE);
    assertThat(residency.wouldAdmit(excluded)).isFalse();
    assertThat(residency.offer(new Offered(excluded, false))).isFalse();
    assertThat(residency.figures().refusedItems()).isEqualTo(1);
    assertThat(residency.figures().residentItems()).isZero();
  }

  /**
   * The policy refuses items beyond the share that the dataset's size allows, though there is room.
   */
  @Test
  void datasetSize_policyByHash_selectsAShare() throws IOException {
    start("minio-hash", 10L * PAGE, true, 1000);
    residency.datasetSize(1000L * PAGE);
    long admitted = 0;
    for (int i = 0; i < 200; i++) {
      admitted += residency.wouldAdmit(item("f" + i, PAGE)) ? 1 : 0;
    }
    assertThat(admitted).isLessThan(20);
    residency.datasetSize(10L * PAGE);
    assertThat(residency.wouldAdmit(item("f", PAGE))).isTrue();
  }

  @Test
  void offer_policyNone_isRefused() throws IOException {
    start("none", 1 << 20, true, 1000);
    Item item = item("f", PAGE);
    assertThat(residency.wouldAdmit(item)).isFalse();
    assertThat(residency.offer(new Offered(item, false))).isFalse();
    assertThat(residency.figures().refusedItems()).isEqualTo(1);
    assertThat(residency.policyName()).isEqualTo("none");
  }

  @Test
  void offer_residentItem_isNotPinnedTwice() throws IOException {
    start(1 << 20);
    file("f", random(PAGE));
    Item item = item("f", PAGE);
    pin(item);
    residency.offer(new Offered(item, false));
    assertThat(mappings()).isEqualTo(1);
    assertThat(residency.figures().residentItems()).isEqualTo(1);
  }

  @Test
  void offer_noMappingsLeft_isRefusedAndWouldBe() throws IOException {
    start("minio", 1 << 20, true, 2);
    for (String name : new String[] {"a", "b"}) {
      file(name, random(PAGE));
      pin(item(name, PAGE));
    }
    Item next = item("c", PAGE);
    assertThat(residency.offer(new Offered(next, false))).isFalse();
    // or a random reader of a large file would get a whole item for each small read
    assertThat(residency.wouldAdmit(next)).isFalse();
  }

  @Test
  void offer_afterClose_isRefused() throws IOException {
    start(1 << 20);
    file("f", random(PAGE));
    pin(item("f", PAGE));
    residency.close();
    assertThat(mappings()).isZero();
    assertThat(residency.offer(new Offered(item("g", PAGE), false))).isFalse();
    assertThat(residency.figures().residentItems()).isZero();
  }

  // --- a full heap

  /** A log that finds no room for an item, once. */
  private static final class FullHeap implements ResidentLog {
    boolean full;

    @Override
    public void reserve() {}

    @Override
    public void admitted(ItemKey item) {
      if (full) {
        full = false;
        throw new OutOfMemoryError("Java heap space");
      }
    }

    @Override
    public void released(ItemKey item) {}

    @Override
    public void notTakenOver(ItemKey item) {}

    @Override
    public List<ItemKey> before() {
      return List.of();
    }
  }

  /** The policy counted an item that nobody had, and the evicted resident stayed mapped. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void heap_fullAtAnAdmission_leavesTheBooksStraight(boolean swap) throws IOException {
    FullHeap heap = new FullHeap();
    log = heap;
    CachePolicy policy = start(swap ? "minio" : "lru", PAGE, true, 1000);
    file("a", random(PAGE));
    file("b", random(PAGE));
    Item evicted = item("a", PAGE);
    Item newcomer = item("b", PAGE);
    pin(evicted);
    residency.swaps(swap ? new OneSwap(newcomer, evicted) : Swaps.NONE);

    heap.full = true;
    assertThatThrownBy(() -> residency.offer(new Offered(newcomer, false)))
        .isInstanceOf(OutOfMemoryError.class);

    assertThat(mappings()).isZero();
    assertThat(residency.isResident(newcomer)).isFalse();
    assertThat(residency.figures().residentItems()).isZero();
    assertThat(residency.figures().evictedItems()).isEqualTo(1);
    policy.check();
    residency.swaps(Swaps.NONE);
    pin(newcomer);
    assertThat(residency.isPinned(newcomer)).isTrue();
  }

  /** The other residents were in no book any more, and stayed mapped until the unmount. */
  @Test
  void heap_fullWhenAResidentIsReleased_releasesTheOthers() throws IOException {
    start(2L * PAGE);
    file("a", random(PAGE));
    file("b", random(PAGE));
    AtomicBoolean full = new AtomicBoolean();
    for (String name : new String[] {"a", "b"}) {
      Item item = item(name, PAGE);
      Supplier<OriginPath> path =
          () -> {
            if (full.getAndSet(false)) {
              throw new OutOfMemoryError("Java heap space");
            }
            return OriginPath.of(name);
          };
      pin(new Item(item.key(), path, item.version(), 0, PAGE));
    }

    full.set(true);
    assertThat(residency.resize(0, 1000)).isEqualTo(2);

    assertThat(full).isFalse();
    assertThat(mappings()).isZero();
    assertThat(residency.figures().evictedItems()).isEqualTo(2);
  }

  // --- swaps

  /** Wants one item in the place of others, one after the other. */
  private static final class OneSwap implements Swaps {
    @Override
    public boolean spreads() {
      return true;
    }

    private final Item newcomer;
    private final Deque<ItemKey> victims;
    private final List<Item> asked = new ArrayList<>();
    private final List<Item> swapped = new ArrayList<>();

    OneSwap(Item newcomer, Item... victims) {
      this.newcomer = newcomer;
      this.victims = new ArrayDeque<>(Stream.of(victims).map(Item::key).toList());
    }

    @Override
    public void asked(Item item) {
      asked.add(item);
    }

    @Override
    public boolean wants(Item item) {
      return item.key().equals(newcomer.key());
    }

    @Override
    public @Nullable ItemKey victim(Item item, long freePages, long slackPages) {
      return victims.poll();
    }

    @Override
    public void swapped(Item item) {
      swapped.add(item);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void offer_wantedItem_takesThePlaceOfAResident(boolean predicted) throws Exception {
    start(2L * PAGE);
    List<Item> items = new ArrayList<>();
    for (String name : new String[] {"a", "b", "c"}) {
      file(name, random(PAGE));
      items.add(item(name, PAGE));
    }
    pin(items.get(0));
    pin(items.get(1));
    Item gone = item("gone", PAGE);
    OneSwap swaps = new OneSwap(items.get(2), gone, items.get(0));
    residency.swaps(swaps);
    assertThat(residency.wouldAdmit(items.get(2))).as("there is no room").isFalse();
    assertThat(residency.wouldSwap(items.get(2))).isTrue();
    assertThat(swaps.asked).as("a question notes nothing").isEmpty();
    Offered offered = new Offered(items.get(2), false);
    offered.predicted = predicted;
    assertThat(residency.offer(offered)).isTrue();
    assertThat(offered.done.await(10, TimeUnit.SECONDS)).isTrue();

    assertThat(residency.isPinned(items.get(2))).isTrue();
    assertThat(residency.isResident(items.get(0))).isFalse();
    assertThat(residency.isResident(items.get(1))).isTrue();
    assertThat(swaps.swapped).containsExactly(items.get(2));
    assertThat(swaps.asked).hasSize(predicted ? 0 : 1);
    residency.noteAsked(gone);
    assertThat(swaps.asked).endsWith(gone);
    assertThat(residency.figures())
        .returns(1L, Residency.Figures::swappedItems)
        .returns(1L, Residency.Figures::evictedItems)
        .returns(3L, Residency.Figures::admittedItems)
        .returns(2L, Residency.Figures::residentItems)
        .returns(2L * PAGE, Residency.Figures::residentBytes);
    Await.until("what made way is unmapped", () -> mappings() == 2);
  }

  @Test
  void offer_wantedItemWithRoom_evictsNothing() throws IOException {
    start(2L * PAGE);
    file("a", random(PAGE));
    file("b", random(PAGE));
    Item there = item("a", PAGE);
    Item wanted = item("b", PAGE);
    pin(there);
    residency.swaps(new OneSwap(wanted, there));
    pin(wanted);
    assertThat(residency.isResident(there)).isTrue();
    assertThat(residency.figures().swappedItems()).isZero();
  }

  /** A file that a user keeps makes no way, and one that a user excludes takes no place. */
  @Test
  void offer_wantedItem_respectsTheUsersRules() throws IOException {
    selection = Selection.of(List.of("kept"), List.of("*.idx"));
    start(2L * PAGE);
    for (String name : new String[] {"kept", "a", "b", "b.idx"}) {
      file(name, random(PAGE));
    }
    Item kept = item("kept", PAGE);
    Item ordinary = item("a", PAGE);
    Item wanted = item("b", PAGE);
    Item excluded = item("b.idx", PAGE);
    pin(kept);
    pin(ordinary);
    residency.swaps(new OneSwap(wanted, kept));
    assertThat(residency.offer(new Offered(wanted, false))).isFalse();
    residency.swaps(new OneSwap(excluded, ordinary));
    assertThat(residency.offer(new Offered(excluded, false))).isFalse();
    assertThat(residency.isResident(kept)).isTrue();
    assertThat(residency.isResident(ordinary)).isTrue();
    assertThat(residency.figures().swappedItems()).isZero();
  }

  /** An item that does not fit into the place of another one does not get it. */
  @Test
  void offer_wantedItemTooLarge_isRefused() throws IOException {
    start(2L * PAGE);
    file("a", random(PAGE));
    file("b", random(PAGE));
    file("large", random(2 * PAGE));
    Item there = item("a", PAGE);
    Item large = item("large", 2 * PAGE);
    pin(there);
    pin(item("b", PAGE));
    residency.swaps(new OneSwap(large, there));
    assertThat(residency.offer(new Offered(large, false))).isFalse();
    assertThat(residency.isResident(there)).isTrue();
    assertThat(residency.figures().residentItems()).isEqualTo(2);
  }

  /** A newcomer whose version is outdated leaves its place free. */
  @Test
  void offer_wantedItemOutdated_leavesThePlaceFree() throws IOException {
    start(PAGE);
    file("a", random(PAGE));
    file("b", random(PAGE));
    Item there = item("a", PAGE);
    Item wanted = item("b", PAGE);
    pin(there);
    residency.swaps(new OneSwap(wanted, there));
    Offered offered = new Offered(wanted, false);
    offered.outdated = true;
    assertThat(residency.offer(offered)).isFalse();
    assertThat(residency.figures().residentItems()).isZero();
    pin(there);
    assertThat(residency.isPinned(there)).isTrue();
  }
}
