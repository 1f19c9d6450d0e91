package io.holdfast.fs.orders;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.ControlInodes;
import io.holdfast.fs.plan.JobPlace;
import io.holdfast.fs.transit.Item;
import io.holdfast.fs.transit.Transit;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Files of 100,000 bytes; the inode number of a file is its id and a million. */
class OrderTest {
  private static final int SIZE = 100_000;
  private static final long INODES = 1_000_000;
  private static final long MILLI = 1_000_000;
  private static final long MOST = 1L << 40;
  private static final int THREAD = 7;
  private static final long PATIENCE = 8_000 * MILLI;

  private final Set<Long> resident = new HashSet<>();
  private final Set<Long> cached = new HashSet<>();
  private final Set<Long> gone = new HashSet<>();
  private long now;

  private final DatasetFiles files =
      new MissingFiles(SIZE) {
        @Override
        public long inode(long id) {
          return gone.contains(id) ? ControlInodes.NO_FILE : id + INODES;
        }

        @Override
        public @Nullable Item missing(long id) {
          return resident.contains(id) ? null : item(id, 0);
        }

        @Override
        public boolean isCached(Item item) {
          return cached.contains(item.node());
        }

        @Override
        public boolean maySwap() {
          return true;
        }

        @Override
        public boolean isResident(Item item) {
          return resident.contains(item.node());
        }
      };

  private Order order(List<Integer> ids) {
    return order(ids, false);
  }

  private Order order(List<Integer> ids, boolean early) {
    return new Order(
        OrderPlan.announced("job", "announced", sequence(ids), early),
        files,
        PATIENCE,
        now,
        each -> Order.FURTHEST);
  }

  private static FileSequence sequence(List<Integer> ids) {
    FileSequence sequence = new FileSequence();
    ids.forEach(sequence::add);
    return sequence;
  }

  /** Eight workers with batches of 256 are up to 1792 files apart: the slowest's are not read. */
  @Test
  void place_ofWorkersFarApart_isTheSlowestOne() {
    Order order = order(inOrder(100_000));
    IntStream.range(256, 2048).forEach(i -> open(order, i));
    assertThat(order.place().position()).isZero();
    IntStream.range(0, 100).forEach(i -> open(order, i));
    assertThat(order.place().position()).isEqualTo(100);
  }

  /** A plan of several nodes went on to an epoch that nobody reads. */
  @Test
  void place_atTheEndOfTheLastPass_isNotInAnother_untilThereIsOne() {
    Order order = order(inOrder(20));
    order.then(sequence(inOrder(20)));
    IntStream.range(0, 20).forEach(i -> open(order, i));
    assertThat(order.place()).isEqualTo(new JobPlace(1, 0, true));
    IntStream.range(0, 20).forEach(i -> open(order, i));
    assertThat(order.place()).isEqualTo(new JobPlace(1, 20, true));
    order.then(sequence(inOrder(20)));
    assertThat(order.place()).isEqualTo(new JobPlace(2, 0, true));
  }

  private static List<Integer> inOrder(int n) {
    return IntStream.range(0, n).boxed().toList();
  }

  /** Opens the first file, so that the pass begins. */
  private Order begun(int n) {
    Order order = order(inOrder(n));
    assertThat(order.next(now, MOST)).isNull();
    open(order, 0);
    order.begin();
    return order;
  }

  private boolean open(Order order, long id) {
    return order.opened(THREAD, id + INODES) != null;
  }

  private List<Long> takeAll(Order order) {
    List<Long> ids = new ArrayList<>();
    for (Order.Fetch next = order.next(now, MOST); next != null; next = order.next(now, MOST)) {
      ids.add(next.file().id);
      order.ended(next.file(), Transit.Ahead.ARRIVED, 50 * MILLI, now);
    }
    return ids;
  }

  @Test
  void next_atTheBeginning_isTheFewestFilesBehindTheFirst() {
    assertThat(takeAll(begun(1000)))
        .containsExactlyElementsOf(IntStream.rangeClosed(1, 16).mapToObj(Long::valueOf).toList());
  }

  @Test
  void next_beforeAnyOpen_isNothing() {
    Order order = order(inOrder(100));
    assertThat(order.isToBegin()).isFalse();
    assertThat(order.next(now, MOST)).isNull();
  }

  @Test
  void earlyOrder_beforeAnyOpen_fetchesHalfOfWhatMayBeInVain() {
    Order order = order(inOrder(400), true);
    assertThat(order.isToBegin()).isTrue();
    order.begin();
    assertThat(takeAll(order)).containsExactly(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L);
    for (int i = 0; i < 8; i++) {
      assertThat(open(order, i)).isTrue();
    }
    assertThat(takeAll(order)).startsWith(8L, 9L);
    assertThat(order.figures().wastedBytes()).isZero();
  }

  @Test
  void earlyOrder_whoseJobDoesNotBegin_fetchesNoMore_andIsUsedWhenItDoes() {
    Order order = order(inOrder(400), true);
    order.begin();
    takeAll(order);
    now += 9_000 * MILLI;
    assertThat(takeAll(order)).isEmpty();
    assertThat(order.figures().wastedBytes()).isEqualTo(8L * SIZE);
    now += 60_000 * MILLI;
    assertThat(takeAll(order)).isEmpty();
    assertThat(order.takeTrouble()).isEmpty();
    open(order, 0);
    assertThat(takeAll(order)).containsExactly(8L, 9L, 10L, 11L, 12L, 13L, 14L, 15L);
  }

  @Test
  void earlyOrder_afterAnother_hasItsWindowAtOnce() {
    Order before = begun(5000);
    takeAll(before);
    for (int i = 1; i <= 200; i++) {
      now += 2 * MILLI;
      open(before, i);
      takeAll(before);
    }
    Order order = order(inOrder(5000), true);
    order.follow(before);
    order.begin();
    assertThat(takeAll(order)).hasSizeBetween(60, 70);
  }

  @Test
  void next_ofResidentFiles_passesThemOver() {
    resident.addAll(List.of(1L, 2L, 5L));
    assertThat(takeAll(begun(1000))).startsWith(3L, 4L, 6L);
  }

  @Test
  void next_ofFilesThatSomebodyHasJustRead_passesThemOver() {
    cached.addAll(List.of(1L, 3L));
    assertThat(takeAll(begun(1000))).startsWith(2L, 4L, 5L);
  }

  @Test
  void files_thatWereDroppedBeforeTheJobBegan_areFetchedWhenItDoes() {
    cached.addAll(List.of(1L, 3L, 5L));
    Order order = order(inOrder(400), true);
    order.begin();
    assertThat(takeAll(order)).startsWith(0L, 2L, 4L, 6L);
    cached.clear();
    open(order, 0);
    assertThat(takeAll(order)).startsWith(1L, 3L, 5L);
  }

  @Test
  void window_growsWithRateAndLatency() {
    Order order = begun(5000);
    takeAll(order);
    for (int i = 1; i <= 100; i++) {
      now += 2 * MILLI;
      open(order, i);
      takeAll(order);
    }
    // 500 files/s for 50 ms, twice, and 16 files
    assertThat(order.figures().windowBytes()).isBetween(60L * SIZE, 70L * SIZE);
  }

  @Test
  void workers_sideBySide_haveTheFilesBehindEachFetched() {
    Order order = begun(5000);
    order.opened(THREAD + 1, 100 + INODES);
    assertThat(takeAll(order)).contains(1L, 2L, 3L, 101L, 102L, 103L).doesNotContain(99L);
  }

  @Test
  void opens_ofPredictedFiles_areUses() {
    Order order = begun(1000);
    takeAll(order);
    assertThat(open(order, 3)).isTrue();
    assertThat(open(order, 3)).as("opened again").isFalse();
    assertThat(open(order, 500)).as("not fetched ahead").isFalse();
    assertThat(order.figures().usedItems()).isEqualTo(1);
    assertThat(order.figures().position()).isEqualTo(501);
    assertThat(order.figures().surprises()).isZero();
  }

  @Test
  void surprises_threeInARow_endTheFetchesUntilAFileIsNear() {
    Order order = begun(1000);
    for (int i = 0; i < Order.SURPRISES; i++) {
      open(order, 5000 + i);
    }
    assertThat(takeAll(order)).isEmpty();
    assertThat(order.takeTrouble()).contains("other files than its order says");
    assertThat(order.takeTrouble()).as("told once").isEmpty();
    open(order, 1);
    assertThat(takeAll(order)).isNotEmpty();
    assertThat(order.figures().surprises()).isEqualTo(3);
  }

  /** A new version is another node, and the order has the one before. */
  @Test
  void order_mostOfWhoseFilesHaveChanged_saysSo() {
    Order order = begun(1000);
    gone.addAll(ids(500, 1000));
    openAll(order, 5000, 5000 + Order.SURPRISES);
    assertThat(order.takeTrouble()).as("half of them").doesNotContain("changed");
    Order another = begun(1000);
    gone.addAll(ids(1, 500));
    openAll(another, 5000, 5000 + Order.SURPRISES);
    assertThat(another.takeTrouble())
        .contains("other files than its order says")
        .contains("999 of the 1,000 files of this pass have changed")
        .endsWith("fix: announce the order again");
  }

  /** As when the job has opened files of a validation before. */
  @Test
  void order_whoseFilesHaveChangedSinceTheLogSaidThatItIsWrong_saysSoOnce() {
    Order order = begun(1000);
    openAll(order, 5000, 5000 + Order.SURPRISES);
    assertThat(order.takeTrouble()).isNotEmpty();
    open(order, 1);
    gone.addAll(ids(2, 1000));
    for (int i = 0; i < 200; i++) {
      openAndFind(order, 6000 + i);
      assertThat(order.takeTrouble().contains("998 of the 1,000")).isEqualTo(i + 1 == Order.LOST);
    }
  }

  private static List<Long> ids(int from, int to) {
    return LongStream.range(from, to).boxed().toList();
  }

  @Test
  void files_whoseReaderDoesNotCome_areWasted() {
    Order order = begun(1000);
    int taken = takeAll(order).size();
    now += 9_000 * MILLI;
    takeAll(order);
    assertThat(order.figures().wastedBytes()).isEqualTo((long) taken * SIZE);
  }

  /**
   * A window was wasted every 8 s, until the allowance was, and the order was given up for good.
   */
  @Test
  void job_thatPauses_hasNoMoreThanTheWindowFetched_andGoesOn() {
    Order order = begun(50_000);
    takeAll(order);
    for (int i = 1; i <= 200; i++) {
      now += 2 * MILLI;
      open(order, i);
      takeAll(order);
    }
    long window = order.unusedBytes();
    for (int seconds = 0; seconds < 3600; seconds++) {
      now += 1000 * MILLI;
      takeAll(order);
    }
    assertThat(order.figures().wastedBytes()).isEqualTo(window);
    assertThat(order.isAbandoned()).isFalse();
    assertThat(order.takeTrouble()).isEmpty();
    int end = 201 + (int) (window / SIZE);
    openAll(order, 201, end);
    assertThat(takeAll(order)).startsWith((long) end, end + 1L);
  }

  /** One pass with long pauses, or a wrong one, ended the order for all epochs to come. */
  @Test
  void order_ofWhichTooMuchWasInVain_isFollowedAgainInTheNextPass() {
    Order order = begun(1000);
    order.then(sequence(inOrder(1000)));
    for (int i = 1; i < 10; i++) {
      takeAll(order);
      now += 9_000 * MILLI;
      takeAll(order);
      open(order, i);
    }
    assertThat(order.isAbandoned()).isTrue();
    assertThat(order.figures().wastedBytes()).isEqualTo(40L * SIZE);
    assertThat(order.takeTrouble()).contains("in the rest of this pass: 4000000 bytes");
    openAll(order, 10, 1000);
    assertThat(order.length()).as("the next pass").isEqualTo(1000);
    assertThat(order.isAbandoned()).isFalse();
    open(order, 0);
    order.begin();
    assertThat(takeAll(order)).startsWith(1L, 2L);
  }

  @Test
  void failedFetch_isNeitherUsedNorWasted() {
    Order order = begun(1000);
    Order.Fetch next = order.next(now, MOST);
    assertThat(next).isNotNull();
    order.ended(next.file(), Transit.Ahead.OVER, MILLI, now);
    open(order, next.file().id);
    assertThat(order.figures().prefetchedItems()).isZero();
    assertThat(order.figures().usedItems()).isZero();
    assertThat(order.figures().wastedBytes()).isZero();
  }

  @Test
  void postponedFetch_isTheNextOne_afterAPause() {
    Order order = begun(1000);
    Order.Fetch first = order.next(now, MOST);
    Order.Fetch second = order.next(now, MOST);
    assertThat(first.file().id).isEqualTo(1);
    order.ended(second.file(), Transit.Ahead.POSTPONED, MILLI, now);
    order.ended(first.file(), Transit.Ahead.POSTPONED, MILLI, now);
    assertThat(order.unusedBytes()).isZero();
    assertThat(order.next(now, MOST)).as("paused").isNull();
    now += 5 * MILLI;
    assertThat(takeAll(order)).startsWith(1L, 2L, 3L);
  }

  @Test
  void pause_afterAPostponedFetch_endsWhenAnotherOneArrives() {
    Order order = begun(1000);
    Order.Fetch first = order.next(now, MOST);
    Order.Fetch second = order.next(now, MOST);
    order.ended(second.file(), Transit.Ahead.POSTPONED, MILLI, now);
    order.ended(first.file(), Transit.Ahead.ARRIVED, MILLI, now);
    assertThat(takeAll(order)).startsWith(2L, 3L);
  }

  @Test
  void postponedFetch_whoseReaderHasCome_isNotUsed() {
    Order order = begun(1000);
    Order.Fetch next = order.next(now, MOST);
    open(order, next.file().id);
    order.ended(next.file(), Transit.Ahead.POSTPONED, MILLI, now);
    now += 5 * MILLI;
    assertThat(takeAll(order)).startsWith(2L, 3L);
    assertThat(order.figures().usedItems()).isZero();
  }

  /** The figure fell by 1 where the fetch failed: no counter may. */
  @Test
  void file_thatIsOpenedInFlight_isUsedOnceItArrives() {
    Order order = begun(1000);
    Order.Fetch arrives = order.next(now, MOST);
    Order.Fetch fails = order.next(now, MOST);
    assertThat(open(order, arrives.file().id)).isTrue();
    assertThat(open(order, fails.file().id)).isTrue();
    assertThat(order.figures().usedItems()).isZero();
    order.ended(fails.file(), Transit.Ahead.OVER, MILLI, now);
    assertThat(order.figures().usedItems()).isZero();
    order.ended(arrives.file(), Transit.Ahead.ARRIVED, MILLI, now);
    assertThat(order.figures().usedItems()).isEqualTo(1);
  }

  @Test
  void order_whoseFirstFilesAreOpenedAgain_beginsAgain() {
    Order order = begun(1000);
    for (int i = 1; i < 1000; i++) {
      open(order, i);
    }
    assertThat(order.figures().position()).isEqualTo(1000);
    open(order, 0);
    assertThat(order.figures().position()).isEqualTo(1);
    assertThat(order.isToBegin()).isTrue();
    order.begin();
    assertThat(takeAll(order)).startsWith(1L, 2L);
  }

  private void openAll(Order order, int from, int to) {
    for (int i = from; i < to; i++) {
      open(order, i);
    }
  }

  /** As a job that looks at one file of the first batch now and then. */
  @Test
  void strayOpen_ofAFirstFile_movesNothing() {
    Order order = begun(20_000);
    FileSequence same = new FileSequence();
    inOrder(20_000).forEach(same::add);
    order.then(same);
    openAll(order, 1, 10_000);
    open(order, 3);
    assertThat(order.figures().position()).isEqualTo(10_000);
    assertThat(order.figures().surprises()).isEqualTo(1);
    assertThat(takeAll(order)).startsWith(10_000L, 10_001L);
    openAll(order, 10_000, 20_000);
    assertThat(order.length()).as("the next pass").isEqualTo(20_000);
    assertThat(order.figures().position()).isZero();
  }

  @Test
  void job_thatWasStartedAgainInTheMiddleOfAPass_isFound() {
    Order order = begun(20_000);
    order.then(reversed(20_000));
    openAll(order, 1, 19_000);
    openAll(order, 100, 100 + Order.LOST);
    assertThat(order.isLost()).isTrue();
    order.find();
    assertThat(order.figures().position()).isEqualTo(100 + Order.LOST);
    openAll(order, 100 + Order.LOST, 19_000);
    assertThat(takeAll(order)).startsWith(19_000L, 19_001L);
    assertThat(order.length()).as("still the first pass").isEqualTo(40_000);
    openAll(order, 19_000, 20_000);
    assertThat(order.length()).isEqualTo(20_000);
    assertThat(order.figures().surprises()).isEqualTo(Order.LOST);
  }

  /**
   * A batch that is read again and again is taken for a restart once, and the way back is found.
   */
  @Test
  void job_thatReadsOneBatchAgainAndAgain_keepsItsPlace() {
    Order order = begun(20_000);
    order.then(reversed(20_000));
    openAll(order, 1, 10_000);
    for (int batch = 0; batch < 5; batch++) {
      int next = 10_000 + 1000 * batch;
      for (int i = 0; i < 20; i++) {
        openAndFind(order, i);
      }
      for (int i = next; i < next + 1000; i++) {
        openAndFind(order, i);
      }
      assertThat(order.figures().position()).isEqualTo(next + 1000);
    }
    openAll(order, 15_000, 20_000);
    assertThat(order.length()).as("the next pass").isEqualTo(20_000);
  }

  /** Many workers open files before the one that has the first batch. */
  @Test
  void nextPass_whoseFirstFilesAreNotOpenedFirst_begins() {
    int n = 100_000;
    Order order = begun(n);
    List<Integer> shuffled = new ArrayList<>(inOrder(n));
    Collections.shuffle(shuffled, new Random(7));
    FileSequence next = new FileSequence();
    shuffled.forEach(next::add);
    order.then(next);
    openAll(order, 1, n - 100); // the rest is dropped
    for (int i = 256; i < 300; i++) {
      openAndFind(order, shuffled.get(i));
    }
    assertThat(order.length()).as("it may still be the first pass").isEqualTo(2 * n);
    openAndFind(order, shuffled.get(0));
    assertThat(order.length()).as("the next pass").isEqualTo(n);
    assertThat(order.figures().position()).isEqualTo(1);
  }

  /** As a job that is tried with a few thousand files again and again. */
  @Test
  void job_thatIsStartedAgainOften_isFoundEachTimeAsSoon() {
    Order order = begun(20_000);
    openAll(order, 1, 8_000);
    for (int start = 0; start < 10; start++) {
      openAll(order, 0, Order.LOST);
      assertThat(order.isLost()).as("start %d", start).isTrue();
      order.find();
      assertThat(order.figures().position()).isEqualTo(Order.LOST);
      openAll(order, Order.LOST, 8_000);
      assertThat(takeAll(order)).startsWith(8_000L, 8_001L);
    }
  }

  private void openAndFind(Order order, long id) {
    open(order, id);
    if (order.isLost()) {
      order.find();
    }
  }

  @Test
  void job_thatReadsFilesOfNoOrder_isLookedForLessAndLessOften() {
    Order order = begun(20_000);
    int looks = 0;
    for (int i = 0; i < 1000; i++) {
      open(order, 50_000 + i);
      if (order.isLost()) {
        looks++;
        order.find();
      }
    }
    assertThat(looks).as("after 16, 32, 64, 128, 256, 512").isEqualTo(6);
    assertThat(order.figures().surprises()).isEqualTo(1000);
    open(order, 1);
    assertThat(order.figures().position()).isEqualTo(2);
  }

  private FileSequence reversed(int n) {
    FileSequence sequence = new FileSequence();
    for (int i = n - 1; i >= 0; i--) {
      sequence.add(i);
    }
    return sequence;
  }

  @Test
  void nextPass_beginsWhenAllFilesWereOpened_andIsFetchedEarly() {
    Order order = begun(400);
    order.then(reversed(400));
    order.then(reversed(400));
    assertThat(order.length()).isEqualTo(1200);
    for (int i = 1; i < 400; i++) {
      open(order, i);
    }
    assertThat(order.figures().position()).as("of the next pass").isZero();
    assertThat(order.length()).isEqualTo(800);
    assertThat(order.isToBegin()).isTrue();
    order.begin();
    assertThat(takeAll(order)).containsExactly(399L, 398L, 397L, 396L, 395L, 394L, 393L, 392L);
    assertThat(open(order, 399)).isTrue();
    assertThat(order.figures().surprises()).isZero();
    for (int i = 398; i >= 0; i--) {
      open(order, i);
    }
    order.begin();
    assertThat(takeAll(order)).as("the same early in the last pass").startsWith(399L, 398L);
  }

  @Test
  void nextPass_beginsWithItsFirstFiles_whereFewOfThisOneAreLeft() {
    Order order = begun(400);
    order.then(reversed(400));
    for (int i = 1; i < 380; i++) {
      open(order, i);
    }
    open(order, 350);
    assertThat(order.figures().position()).as("350 is among the next one's first").isEqualTo(50);
    assertThat(order.length()).isEqualTo(400);
  }

  /** As cv2.imread, which looks at a file and reads it: the next pass began a tenth too early. */
  @Test
  void files_thatAreOpenedTwice_areOpenedOnce() {
    Order order = begun(400);
    order.then(sequence(inOrder(400)));
    order.then(reversed(400));
    for (int pass = 0; pass < 2; pass++) {
      for (int i = 0; i < 399; i++) {
        open(order, i);
        open(order, i);
        assertThat(order.figures().position()).as("pass %d", pass).isEqualTo(i + 1);
      }
      open(order, 399);
      assertThat(order.length()).as("the next pass").isEqualTo(pass == 0 ? 800 : 400);
      open(order, 399);
      assertThat(order.figures().position()).as("the first of the last pass").isEqualTo(pass);
    }
    assertThat(order.figures().surprises()).isZero();
  }

  /** As many workers as files. */
  @Test
  void threads_thatOpenTheSameFileInEachPass_beginIt() {
    Order order = order(inOrder(2));
    for (int pass = 0; pass < 3; pass++) {
      order.opened(THREAD, INODES);
      assertThat(order.figures().position()).as("pass %d", pass).isEqualTo(1);
      order.opened(THREAD + 1, 1 + INODES);
      assertThat(order.figures().position()).as("pass %d", pass).isEqualTo(2);
    }
  }

  @Test
  void nextPass_announcedAfterTheLastWasRead_beginsAtOnce() {
    Order order = begun(100);
    for (int i = 1; i < 100; i++) {
      open(order, i);
    }
    order.then(reversed(100));
    assertThat(order.isToBegin()).isTrue();
    assertThat(order.figures().position()).isZero();
  }

  @Test
  void pass_thatIsTheLast_beginsAgain() {
    Order order = begun(100);
    order.then(reversed(100));
    for (int i = 1; i < 100; i++) {
      open(order, i);
    }
    for (int pass = 0; pass < 3; pass++) {
      for (int i = 99; i >= 0; i--) {
        open(order, i);
      }
      assertThat(order.figures().position()).isEqualTo(100);
    }
    assertThat(order.figures().surprises()).isZero();
  }

  /** How an order may be wrong. */
  enum Wrong {
    SHUFFLED,
    REVERSED,
    HALF,
    OTHER_FILES
  }

  private static List<Integer> wrong(Wrong how, int n) {
    List<Integer> ids = new ArrayList<>(inOrder(n));
    switch (how) {
      case SHUFFLED -> shuffle(ids);
      case REVERSED -> Collections.reverse(ids);
      case HALF -> {
        List<Integer> others = new ArrayList<>(ids);
        shuffle(others);
        for (int i = 0; i < n; i += 2) {
          ids.set(i, others.get(i));
        }
      }
      case OTHER_FILES -> ids.replaceAll(id -> id + n);
    }
    return ids;
  }

  private static void shuffle(List<Integer> ids) {
    SplittableRandom random = new SplittableRandom(1);
    for (int i = ids.size() - 1; i > 0; i--) {
      Collections.swap(ids, i, random.nextInt(i + 1));
    }
  }

  /** Plays a job whose files are gone from memory after 8 s, and counts what is fetched. */
  @ParameterizedTest
  @EnumSource(Wrong.class)
  void wrongOrder_costsAtMostFivePercentMore(Wrong how) {
    int n = 20_000;
    Order order = order(wrong(how, n));
    Map<Long, Long> fetchedAt = new HashMap<>();
    long fetches = 0;
    for (long id = 0; id < n; id++) {
      now += 2 * MILLI;
      open(order, id);
      Long ahead = fetchedAt.remove(id);
      fetches += ahead == null || now - ahead > 8_000 * MILLI ? 1 : 0;
      if (order.isToBegin()) {
        order.begin();
      }
      for (long next : takeAll(order)) {
        fetches++;
        fetchedAt.put(next, now);
      }
    }
    assertThat(fetches).isBetween((long) n, (long) (1.05 * n));
  }

  @Test
  void orderOfTenMillionFiles_takes5BytesEach_andIsFollowed() {
    int n = 10_000_000;
    long before = allocated();
    FileSequence sequence = new FileSequence();
    for (int i = 0; i < n; i++) {
      sequence.add(FileSequence.LARGEST - i);
    }
    long ofSequence = allocated() - before;
    // one in a thousand is missing, so that most of the work is the order's
    DatasetFiles few =
        new DatasetFiles() {
          @Override
          public long inode(long id) {
            return id;
          }

          @Override
          public @Nullable Item missing(long id) {
            return id % 1000 == 0 ? files.missing(id) : null;
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
            throw new AssertionError("the order has not been read before");
          }

          @Override
          public @Nullable Item item(long id, long extent) {
            throw new AssertionError("the order has not been read before");
          }

          @Override
          public boolean isResident(Item item) {
            throw new AssertionError("the order has not been read before");
          }
        };
    before = allocated();
    Order order =
        new Order(
            OrderPlan.announced("job", "announced", sequence, false),
            few,
            PATIENCE,
            0,
            each -> Order.FURTHEST);
    for (int i = 0; i < 20_000; i++) {
      order.opened(THREAD, FileSequence.LARGEST - i);
    }
    long ofOrder = allocated() - before;
    order.begin();

    assertThat(ofSequence).isBetween(5L * n, 5L * n + (1 << 20));
    assertThat(ofOrder).isLessThan(16 << 20);
    assertThat(order.figures().position()).isEqualTo(20_000);
    assertThat(order.figures().length()).isEqualTo(n);
    assertThat(order.figures().surprises()).isZero();
    assertThat(sequence.get(n - 1)).isEqualTo(FileSequence.LARGEST - (n - 1));
    List<Long> next = takeAll(order);
    assertThat(next).hasSizeBetween(3, 5).allMatch(id -> id % 1000 == 0);
    assertThat(FileSequence.LARGEST - next.get(0)).isBetween(20_000L, 21_000L);
  }

  /** Returns the bytes of heap that this thread has allocated so far. */
  private static long allocated() {
    return ((com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean())
        .getThreadAllocatedBytes(Thread.currentThread().getId());
  }
}
