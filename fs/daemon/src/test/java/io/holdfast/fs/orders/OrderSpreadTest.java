package io.holdfast.fs.orders;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.ItemKey;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.origin.Version;
import io.holdfast.fs.transit.Item;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Residents that are spread over an order: which make way, and that no other reader loses a hit.
 * The inode number of a file is its id and a million; an item has 2 pages.
 */
final class OrderSpreadTest {
  private static final long INODES = 1_000_000;
  private static final int SIZE = 8000;
  private static final int THREAD = 7;

  private final Set<ItemKey> resident = new HashSet<>();
  private final Map<Long, Integer> itemsOf = new HashMap<>();
  private int swaps;

  private final DatasetFiles files =
      new DatasetFiles() {
        @Override
        public long inode(long id) {
          return id + INODES;
        }

        @Override
        public @Nullable Item missing(long id) {
          Item first = OrderSpreadTest.this.item(id, 0);
          return isResident(first) ? null : first;
        }

        @Override
        public boolean isCached(Item item) {
          return false;
        }

        @Override
        public boolean maySwap() {
          return true;
        }

        @Override
        public long items(long id) {
          return itemsOf.getOrDefault(id, 1);
        }

        @Override
        public @Nullable Item item(long id, long extent) {
          return extent < items(id) ? OrderSpreadTest.this.item(id, extent) : null;
        }

        @Override
        public boolean isResident(Item item) {
          return resident.contains(item.key());
        }
      };

  private Item item(long id, long extent) {
    return new Item(
        new ItemKey(id, extent),
        () -> OriginPath.ROOT,
        new Version(SIZE, 1, id, ""),
        SIZE * extent,
        SIZE);
  }

  private static List<Integer> inOrder(int n) {
    return IntStream.range(0, n).boxed().toList();
  }

  private static FileSequence sequence(List<Integer> ids) {
    FileSequence sequence = new FileSequence();
    ids.forEach(sequence::add);
    return sequence;
  }

  private Order announced(List<Integer> ids) {
    return new Order(
        OrderPlan.announced("job", "announced", sequence(ids), false),
        files,
        1_000_000_000L,
        0,
        each -> Order.FURTHEST);
  }

  /** The first files are resident, all of each. */
  private void residents(int count) {
    for (long id = 0; id < count; id++) {
      for (int extent = 0; extent < files.items(id); extent++) {
        resident.add(new ItemKey(id, extent));
      }
    }
  }

  private void open(Order order, long id) {
    order.opened(THREAD, id + INODES);
    if (order.isToBegin()) {
      order.begin();
    }
  }

  /** Reads items that are not resident; returns how many were. */
  private int read(Order order, long id) {
    int hits = 0;
    for (int extent = 0; extent < files.items(id); extent++) {
      Item item = item(id, extent);
      if (files.isResident(item)) {
        hits++;
      } else {
        fetch(order, item);
      }
    }
    return hits;
  }

  private void fetch(Order order, Item item) {
    order.asked(item);
    ItemKey victim = order.wants(item) ? order.victim(item, 0, 0) : null;
    if (victim != null) {
      assertThat(resident.remove(victim)).as("the victim is resident").isTrue();
      resident.add(item.key());
      order.swapped(item);
      swaps++;
    }
  }

  private int pass(Order order, List<Integer> ids) {
    int hits = 0;
    for (int id : ids) {
      open(order, id);
      hits += read(order, id);
    }
    return hits;
  }

  private long residentsAmong(List<Integer> ids) {
    return ids.stream()
        .flatMapToInt(id -> IntStream.range(0, (int) files.items(id)).filter(e -> has(id, e)))
        .count();
  }

  private boolean has(int id, int extent) {
    return resident.contains(new ItemKey(id, extent));
  }

  private void assertEven(List<Integer> ids, double share) {
    int tenth = ids.size() / 10;
    for (int i = 0; i < 10; i++) {
      List<Integer> part = ids.subList(i * tenth, (i + 1) * tenth);
      long items = part.stream().mapToLong(files::items).sum();
      assertThat(residentsAmong(part) / (double) items)
          .as("tenth %d", i)
          .isBetween(share - 1.5 / items, share + 1.5 / items);
    }
  }

  @Test
  void announcedOrder_thatIsReadAgain_isSpreadOver_andKeepsItsHits() {
    List<Integer> ids = new ArrayList<>(inOrder(1000));
    residents(650);
    Order order = announced(ids);
    assertThat(pass(order, ids)).isEqualTo(650);
    assertThat(swaps).as("nobody knows that it is read again").isZero();
    assertThat(pass(order, ids)).isEqualTo(650);
    assertThat(swaps).isBetween(200, 230);
    assertThat(pass(order, ids)).isEqualTo(650);
    assertEven(ids, 0.65);
    int before = swaps;
    assertThat(pass(order, ids)).isEqualTo(650);
    assertThat(pass(order, ids)).isEqualTo(650);
    assertThat(swaps).as("it has ended").isEqualTo(before);
  }

  /** The files that were opened before the order was found make way as well, no others. */
  @Test
  void learnedOrder_fromItsSecondPassOn_isSpreadOver() {
    List<Integer> ids = inOrder(1000);
    residents(650);
    Order order =
        new Order(
            OrderPlan.learned("job", sequence(ids), 64, 1L << 40),
            files,
            1_000_000_000L,
            0,
            each -> Order.FURTHEST);
    order.repeats(inode -> inode - INODES != 1);
    for (int id : ids.subList(64, 1000)) {
      open(order, id);
      read(order, id);
    }
    assertThat(residentsAmong(ids.subList(0, 64))).isBetween(41L, 43L);
    assertThat(has(1, 0)).as("1 was not opened, and is not to stay").isTrue();
    assertThat(residentsAmong(ids)).isEqualTo(650);
    assertEven(ids.subList(100, 1000), 0.65);
  }

  @Test
  void filesOfSeveralItems_areSpreadByItem() {
    List<Integer> ids = inOrder(200);
    for (long id = 0; id < 200; id++) {
      itemsOf.put(id, (int) (id % 4)); // some are empty
    }
    residents(100);
    int hits = (int) residentsAmong(ids);
    assertThat(hits).isEqualTo(150);
    Order order = announced(ids);
    for (int i = 0; i < 5; i++) {
      assertThat(pass(order, ids)).isEqualTo(hits);
    }
    assertEven(ids, 0.5);
    assertThat(swaps).isBetween(70, 76);
  }

  @Test
  void passesOfSeveralOrders_areNotSpreadOver() {
    List<Integer> ids = inOrder(300);
    List<Integer> other = new ArrayList<>(ids);
    Collections.reverse(other);
    residents(150);
    Order order = announced(ids);
    order.then(sequence(other));
    order.then(sequence(ids));
    pass(order, ids);
    pass(order, other);
    pass(order, ids);
    assertThat(swaps).isZero();
    pass(order, ids);
    assertThat(swaps).as("the last one is read again").isPositive();
  }

  @Test
  void orderThatHasAFileTwice_isNotSpreadOver() {
    List<Integer> ids = new ArrayList<>(inOrder(300));
    ids.add(20);
    residents(150);
    Order order = announced(ids);
    for (int i = 0; i < 4; i++) {
      pass(order, ids);
    }
    assertThat(swaps).isZero();
  }

  /** Opens do not tell what is read: a job may open all files and read them in any order. */
  @Test
  void filesThatAreReadLongAfterTheirOpen_endTheSwaps() {
    List<Integer> ids = inOrder(1000);
    residents(650);
    Order order = announced(ids);
    pass(order, ids);
    ids.forEach(id -> open(order, id));
    fetch(order, item(700, 0));
    ids.forEach(id -> read(order, id));
    assertThat(swaps).isZero();
    pass(order, ids);
    assertThat(swaps).as("the next pass is in order").isPositive();
  }

  /** Another process of the job that reads the same files, far behind. */
  @Test
  void secondReaderFarBehind_endsTheSwaps() {
    List<Integer> ids = inOrder(1000);
    residents(650);
    Order order = announced(ids);
    pass(order, ids);
    pass(order, ids.subList(0, 700));
    int before = swaps;
    assertThat(before).isPositive();
    open(order, 500);
    pass(order, ids.subList(700, 1000));
    assertThat(swaps).isEqualTo(before);
  }

  @Test
  void fileThatHasGone_makesNoWay() {
    List<Integer> ids = inOrder(1000);
    residents(650);
    Order order = announced(ids);
    pass(order, ids);
    pass(order, ids.subList(0, 650));
    for (long id = 0; id < 500; id++) {
      itemsOf.put(id, 0);
    }
    Set<ItemKey> before = Set.copyOf(resident);
    pass(order, ids.subList(650, 1000));
    assertThat(swaps).isPositive();
    assertThat(before)
        .filteredOn(key -> !resident.contains(key))
        .hasSize(swaps)
        .allMatch(key -> key.node() >= 500);
  }

  @Test
  void itemOfAnotherFile_isNotWanted() {
    List<Integer> ids = inOrder(200);
    residents(100);
    Order order = announced(ids);
    pass(order, ids);
    pass(order, ids.subList(0, 50));
    assertThat(order.wants(item(5000, 0))).isFalse();
    assertThat(order.wants(item(120, 7))).as("it has no such item").isFalse();
    assertThat(order.victim(item(5000, 0), 0, 0)).isNull();
    order.swapped(item(5000, 0));
  }
}
