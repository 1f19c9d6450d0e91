package io.holdfast.fs.orders;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.ItemKey;
import io.holdfast.fs.Seeds;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.origin.Version;
import io.holdfast.fs.transit.Item;
import io.holdfast.fs.transit.Transit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Random jobs with random orders, compared with a model that remembers every file and looks through
 * all of them each time. The orders are short enough that every file is near.
 */
final class OrderPropertyTest {
  private static final int RUNS = 300;
  private static final int STEPS = 1500;
  private static final int LARGEST = 1000;
  private static final int FIRST_FILES = 64;
  private static final long PATIENCE = 8_000_000_000L;
  private static final long PAUSE = 5_000_000;

  @Test
  void order_ofARandomJob_doesWhatTheModelDoes() {
    long seed = Seeds.next("order_ofARandomJob");
    for (int run = 0; run < RUNS; run++) {
      Run each = new Run(new Random(seed + run));
      try {
        each.play();
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError("seed " + seed + ", run " + run + ", step " + each.step, e);
      }
    }
  }

  /** What the model knows of a file in a pass. */
  private enum Known {
    NOTHING,
    FETCHING,
    FETCHED,
    OVER
  }

  /** A job, its order, and the model. */
  private static final class Run implements DatasetFiles {
    private final Random random;
    private final int n;
    private final List<Integer> read = new ArrayList<>();
    private List<Integer> said;
    private final Deque<List<Integer>> following = new ArrayDeque<>();
    private final boolean several;
    private final Set<Integer> resident = new HashSet<>();
    private final int[] sizes;
    private final Order order;
    private final List<Order.Fetch> inFlight = new ArrayList<>();
    private final boolean early;
    private long now;
    private int next;
    int step;

    // the model; files by their place in the order
    private Known[] known;
    private long[] arrived;

    /** The objects of this pass for the fetches. */
    private @Nullable PredictedFile[] files;

    private boolean[] opened;
    private final Map<Integer, Integer> threads = new HashMap<>();

    /** The file that each thread opened last, and the number of that open. */
    private final Map<Integer, int[]> lastOpens = new HashMap<>();

    private int allOpens;
    private int opensBefore;
    private boolean begun;
    private boolean pausing;
    private boolean abandoned;
    private boolean stillEarly;
    private boolean earlyInVain;
    private int row;
    private long surprises;
    private long prefetched;
    private long used;
    private long usedBefore;
    private long wasted;
    private long wastedInPass;
    private long opens;
    private long allowance;
    private long mean;
    private long pausedUntil;

    Run(Random random) {
      this.random = random;
      n = 1 + random.nextInt(random.nextBoolean() ? 200 : 20);
      sizes = random.ints(2L * n, 1, LARGEST + 1).toArray();
      IntStream.range(0, n).forEach(read::add);
      several = random.nextInt(3) == 0;
      said = pass();
      for (int i = 0; i < n; i++) {
        if (random.nextInt(3) == 0) {
          resident.add(i);
        }
      }
      early = random.nextBoolean();
      FileSequence sequence = sequence(said);
      order =
          new Order(
              OrderPlan.announced("job", "announced", sequence, early),
              this,
              PATIENCE,
              now,
              each -> Order.FURTHEST);
      stillEarly = early;
      forget();
    }

    /** Returns what is said of a pass, which may be wrong. */
    private List<Integer> pass() {
      List<Integer> pass = new ArrayList<>(read);
      switch (random.nextInt(4)) {
        case 0 -> Collections.shuffle(pass, random);
        case 1 -> Collections.reverse(pass);
        case 2 -> {
          for (int i = 0; i + 1 < n; i += 2) {
            Collections.swap(pass, i, random.nextInt(n));
          }
        }
        default -> {} // right
      }
      return pass;
    }

    private static FileSequence sequence(List<Integer> files) {
      FileSequence sequence = new FileSequence();
      files.forEach(sequence::add);
      return sequence;
    }

    private void forget() {
      known = new Known[n];
      Arrays.fill(known, Known.NOTHING);
      arrived = new long[n];
      files = new PredictedFile[n];
      opened = new boolean[n];
      threads.clear();
      begun = false;
    }

    @Override
    public long inode(long id) {
      return id + 1_000_000;
    }

    @Override
    public @Nullable Item missing(long id) {
      return resident.contains((int) id) ? null : item(id, 0);
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
      return 1;
    }

    @Override
    public Item item(long id, long extent) {
      return new Item(
          new ItemKey(id, extent),
          () -> OriginPath.ROOT,
          new Version(sizes[(int) id], 1, id, ""),
          0,
          sizes[(int) id]);
    }

    @Override
    public boolean isResident(Item item) {
      return resident.contains((int) item.node());
    }

    void play() {
      for (step = 0; step < STEPS; step++) {
        if (several && random.nextInt(200) == 0) {
          then();
        }
        switch (random.nextInt(8)) {
          case 0, 1, 2 -> openOnceOrTwice(readerFile());
          case 3 -> openOnceOrTwice(random.nextInt(20) == 0 ? random.nextInt(2 * n) : readerFile());
          case 4 -> now += random.nextInt(20) == 0 ? 3_000_000_000L : random.nextInt(20_000_000);
          case 5 -> begin();
          case 6 -> fetch();
          default -> end();
        }
        compare();
      }
    }

    private int readerFile() {
      return read.get(next++ % n);
    }

    private void openOnceOrTwice(int file) {
      int thread = 1 + random.nextInt(4);
      open(thread, file);
      if (random.nextInt(4) == 0) {
        compare();
        open(thread, file);
      }
    }

    /** Tells whether the open is one with the one before, of the same thread. */
    private boolean isSecond(int thread, int file) {
      allOpens++;
      int[] last = lastOpens.put(thread, new int[] {file, allOpens});
      if (last == null || last[0] != file || allOpens - last[1] >= 0.9 * n) {
        return false;
      }
      int place = said.indexOf(file);
      boolean isFirst = place >= 0 && place < FIRST_FILES;
      return last[1] > opensBefore || !isFirst;
    }

    private void open(int thread, int file) {
      pausing = false;
      if (isSecond(thread, file)) {
        assertThat(order.opened(thread, inode(file))).isNull();
        return;
      }
      int place = said.indexOf(file);
      opens++;
      boolean over = count(opened) >= 0.9 * n;
      if (place >= 0 && opened[place] && over) {
        if (!following.isEmpty()) {
          goOnIf(following.element().indexOf(file) < FIRST_FILES);
        } else if (place < FIRST_FILES) {
          beginAgain();
        }
        place = said.indexOf(file);
      }
      boolean found = false;
      if (place < 0) {
        surprises++;
        row++;
      } else if (!opened[place]) {
        row = 0;
        found = known[place] == Known.FETCHING || known[place] == Known.FETCHED;
        used += known[place] == Known.FETCHED ? 1 : 0;
        opened[place] = true;
        threads.put(thread, place);
        goOnIf(count(opened) == n);
      }
      PredictedFile told = order.opened(thread, inode(file));
      if (order.isLost()) {
        order.find(); // in vain: all files of the order are near
      }
      assertThat(told != null).as("there before its reader").isEqualTo(found);
    }

    private void then() {
      List<Integer> pass = pass();
      following.add(pass);
      goOnIf(count(opened) == n);
      order.then(sequence(pass));
    }

    private void goOnIf(boolean ends) {
      if (ends && !following.isEmpty()) {
        beginAgain();
        said = following.remove();
        stillEarly = !earlyInVain;
      }
    }

    private void beginAgain() {
      for (int i = 0; i < n; i++) {
        if (isUnused(i)) {
          waste(i);
        }
      }
      if (opens >= 0.9 * n) {
        wastedInPass = 0;
        opens = 0;
        abandoned = false;
      }
      forget();
      opensBefore = allOpens;
    }

    private boolean isUnused(int place) {
      return !opened[place] && (known[place] == Known.FETCHING || known[place] == Known.FETCHED);
    }

    private long unused() {
      return IntStream.range(0, n).filter(this::isUnused).mapToLong(i -> sizes[said.get(i)]).sum();
    }

    private void waste(int place) {
      if (!resident.contains(said.get(place))) {
        wasted += sizes[said.get(place)];
        wastedInPass += sizes[said.get(place)];
      }
      known[place] = Known.OVER;
      if (threads.isEmpty()) {
        stillEarly = false;
        earlyInVain = true;
      }
    }

    private void begin() {
      assertThat(order.isToBegin())
          .isEqualTo(!begun && !abandoned && (stillEarly || !threads.isEmpty()));
      if (order.isToBegin()) {
        order.begin();
        begun = true;
        int[] missing =
            said.stream().filter(f -> !resident.contains(f)).mapToInt(f -> sizes[f]).toArray();
        long bytes = IntStream.of(missing).asLongStream().sum();
        allowance = (long) (Order.ALLOWED * bytes);
        mean = missing.length == 0 ? 0 : bytes / missing.length;
      }
    }

    private void fetch() {
      long most = random.nextBoolean() ? Long.MAX_VALUE : random.nextInt(20 * LARGEST);
      for (int i = 0; i < n; i++) {
        if (isUnused(i) && known[i] == Known.FETCHED && now - arrived[i] >= PATIENCE) {
          waste(i);
          pausing = true;
        }
      }
      long before = unused();
      long bound = threads.isEmpty() ? allowance / 2 : allowance;
      Order.Fetch fetch = order.next(now, most);
      if (fetch == null) {
        assertThat(mustFetch(before, bound, most)).as("nothing is fetched").isFalse();
        if (order.isAbandoned() && !abandoned) {
          assertThat(wastedInPass).as("it is wrong").isGreaterThan(allowance / 2);
          abandoned = true;
        }
        return;
      }
      int place = fetch.file().position;
      assertThat(begun && !abandoned && !pausing && row < Order.SURPRISES).isTrue();
      assertThat(now).as("paused").isGreaterThanOrEqualTo(pausedUntil);
      assertThat(fetch.item().key().node()).isEqualTo((long) said.get(place));
      assertThat(resident).doesNotContain(said.get(place));
      assertThat(opened[place]).isFalse();
      assertThat(known[place]).isEqualTo(Known.NOTHING);
      assertThat(isAhead(place)).isTrue();
      known[place] = Known.FETCHING;
      files[place] = fetch.file();
      assertThat(unused()).isLessThanOrEqualTo(most);
      assertThat(unused() + wastedInPass).isLessThanOrEqualTo(bound);
      inFlight.add(fetch);
    }

    private boolean isAhead(int place) {
      return threads.isEmpty() ? stillEarly : threads.values().stream().anyMatch(at -> place > at);
    }

    /** Tells whether there is a file to fetch, and room for any file. */
    private boolean mustFetch(long unused, long bound, long most) {
      boolean some =
          IntStream.range(0, n)
              .anyMatch(
                  i ->
                      known[i] == Known.NOTHING
                          && !opened[i]
                          && !resident.contains(said.get(i))
                          && isAhead(i));
      return some
          && begun
          && !abandoned
          && !pausing
          && row < Order.SURPRISES
          && now >= pausedUntil
          && unused + LARGEST <= Math.min(most, 16 * mean)
          && unused + wastedInPass + LARGEST <= bound;
    }

    private void end() {
      if (inFlight.isEmpty()) {
        return;
      }
      Order.Fetch fetch = inFlight.remove(random.nextInt(inFlight.size()));
      boolean arrives = random.nextInt(10) > 0;
      boolean postponed = !arrives && random.nextBoolean();
      int place = fetch.file().position;
      boolean wasUsed = fetch.file().used;
      boolean again = postponed && !wasUsed;
      order.ended(
          fetch.file(),
          arrives
              ? Transit.Ahead.ARRIVED
              : postponed ? Transit.Ahead.POSTPONED : Transit.Ahead.OVER,
          random.nextInt(100_000_000),
          now);
      prefetched += arrives ? 1 : 0;
      pausedUntil = arrives ? now : pausedUntil;
      used += arrives && wasUsed ? 1 : 0;
      if (files[place] == fetch.file() && known[place] == Known.FETCHING) {
        known[place] = arrives ? Known.FETCHED : again ? Known.NOTHING : Known.OVER;
        arrived[place] = now;
        pausedUntil = again ? now + PAUSE : pausedUntil;
      }
      if (arrives && random.nextInt(10) == 0) {
        resident.add((int) fetch.item().key().node()); // there was room after all
      }
    }

    private void compare() {
      assertThat(order.figures().usedItems()).as("a counter").isGreaterThanOrEqualTo(usedBefore);
      usedBefore = order.figures().usedItems();
      assertThat(order.figures().position()).isEqualTo(lastOpened() + 1);
      assertThat(order.figures().surprises()).isEqualTo(surprises);
      assertThat(order.figures().prefetchedItems()).isEqualTo(prefetched);
      assertThat(order.figures().usedItems()).isEqualTo(used);
      assertThat(order.figures().wastedBytes()).isEqualTo(wasted);
      assertThat(order.isAbandoned()).isEqualTo(abandoned);
    }

    private int lastOpened() {
      for (int i = n - 1; i >= 0; i--) {
        if (opened[i]) {
          return i;
        }
      }
      return -1;
    }

    private static int count(boolean[] values) {
      int count = 0;
      for (boolean value : values) {
        count += value ? 1 : 0;
      }
      return count;
    }
  }
}
