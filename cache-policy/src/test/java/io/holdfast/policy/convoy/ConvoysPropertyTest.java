package io.holdfast.policy.convoy;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.policy.convoy.Convoys.Verdict;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random jobs on a model of a mount: what is resident, what is kept in transit, what is being
 * fetched. Each job reads one file after the other.
 */
final class ConvoysPropertyTest {
  private static final long MILLI = 1_000_000L;

  static LongStream seeds() {
    return LongStream.range(0, 60).map(i -> System.nanoTime() * 31 + i);
  }

  /** A fetch on its way. */
  private record Fetch(String name, int file, int bytes) {}

  private static final class Model {
    final Random random;
    final int[] sizes;
    final long budget;
    final Convoys<Fetch> convoys;
    final Set<Integer> resident = new HashSet<>();
    final int room;
    final Map<Integer, Fetch> there = new HashMap<>();
    final Set<Fetch> kept = new HashSet<>();
    final Map<Fetch, Set<Reader>> waiting = new HashMap<>();
    final Set<Fetch> delayed = new HashSet<>();
    final Map<Fetch, Long> delayedAt = new HashMap<>();
    final List<Reader> readers = new ArrayList<>();
    long now;
    long fetches;
    long names;

    Model(Random random, int files, int room, long budget) {
      this.random = random;
      this.room = room;
      this.budget = budget;
      sizes = IntStream.range(0, files).map(i -> 1 + random.nextInt(20)).toArray();
      convoys = new Convoys<>(budget, 100_000);
    }

    void act() {
      for (Fetch each = convoys.nextToLetGo(); each != null; each = convoys.nextToLetGo()) {
        assertThat(kept.remove(each)).isTrue();
        there.remove(each.file, each);
      }
      for (Fetch each = convoys.nextToGoOn(); each != null; each = convoys.nextToGoOn()) {
        assertThat(delayed.remove(each)).isTrue();
      }
      convoys.check();
      assertThat(kept.stream().mapToLong(Fetch::bytes).sum()).isLessThanOrEqualTo(budget);
      assertThat(convoys.heldBytes()).isLessThanOrEqualTo(budget);
      for (Fetch each : delayed) {
        assertThat(now - delayedAt.getOrDefault(each, now))
            .as("nobody waits for longer")
            .isLessThanOrEqualTo(Convoys.PATIENCE_NANOS);
      }
    }

    /** Ends a fetch: admits the item while there is room, as MinIO does. */
    void arrive(Fetch fetch) {
      Set<Reader> waiters = waiting.remove(fetch);
      fetches++;
      if (resident.size() < room) {
        resident.add(fetch.file);
        there.remove(fetch.file, fetch);
        convoys.ended(fetch, now);
      } else if (convoys.keeps(fetch)) {
        kept.add(fetch);
      } else {
        there.remove(fetch.file, fetch);
      }
      for (Reader reader : waiters) {
        reader.waits = null;
        convoys.delivered(fetch, reader.job, fetch.bytes, now);
      }
      act();
    }

    void step(Reader reader) {
      now += random.nextInt(1000);
      if (reader.stopped || reader.waits != null || reader.isOver()) {
        return;
      }
      int file = reader.next();
      int thread = reader.ownThreads ? (int) reader.opens : reader.job.hashCode();
      // the read comes before or after the open is noticed
      boolean late = random.nextBoolean();
      if (!late) {
        convoys.opened(reader.job, thread, file, now);
        act();
      }
      read(reader, thread, file);
      if (late) {
        convoys.opened(reader.job, thread, file, now);
        act();
      }
    }

    private void read(Reader reader, int thread, int file) {
      if (resident.contains(file)) {
        reader.hits++;
        return;
      }
      reader.misses++;
      Fetch fetch = there.get(file);
      if (fetch == null) {
        fetch = new Fetch("f" + names++, file, sizes[file]);
        there.put(file, fetch);
        waiting.put(fetch, new HashSet<>(Set.of(reader)));
        reader.waits = fetch;
        Verdict verdict =
            convoys.begin(fetch, reader.job, thread, file, fetch.bytes, false, reader.mayWait, now);
        if (verdict == Verdict.WAIT) {
          delayed.add(fetch);
          delayedAt.put(fetch, now);
        }
      } else if (kept.contains(fetch)) {
        // else the page cache had its bytes
        if (!reader.ownThreads || random.nextInt(4) > 0) {
          convoys.delivered(fetch, reader.job, fetch.bytes, now);
        }
      } else {
        waiting.get(fetch).add(reader);
        reader.waits = fetch;
        convoys.joined(fetch, thread, now);
      }
      act();
    }

    /** Lets some time pass; fetches that are not delayed may arrive. */
    void pass() {
      now += MILLI * random.nextInt(20);
      convoys.expire(now);
      act();
      for (Fetch fetch : List.copyOf(waiting.keySet())) {
        if (!delayed.contains(fetch) && random.nextInt(3) > 0) {
          arrive(fetch);
        }
      }
    }
  }

  private static final class Reader {
    final String job;
    final List<List<Integer>> passes;
    final boolean mayWait;

    /** Whether another thread opens each file, and may find its bytes in the page cache. */
    final boolean ownThreads;

    long opens;
    int pass;
    int at;
    long hits;
    long misses;
    boolean stopped;
    Fetch waits;

    Reader(String job, List<List<Integer>> passes, boolean mayWait, boolean ownThreads) {
      this.job = job;
      this.passes = passes;
      this.mayWait = mayWait;
      this.ownThreads = ownThreads;
    }

    boolean isOver() {
      return pass == passes.size();
    }

    int next() {
      int file = passes.get(pass).get(at);
      at++;
      opens++;
      if (at == passes.get(pass).size()) {
        at = 0;
        pass++;
      }
      return file;
    }
  }

  private static List<List<Integer>> passes(int files, int count, long seed) {
    Random random = new Random(seed);
    List<Integer> all = IntStream.range(0, files).boxed().collect(Collectors.toList());
    List<List<Integer>> passes = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      // a job that opens one file twice in a row has looked at it
      int last = all.get(files - 1);
      do {
        Collections.shuffle(all, random);
      } while (all.get(0) == last);
      passes.add(List.copyOf(all));
    }
    return passes;
  }

  /**
   * Jobs of some orders that stop, go on, end and read something else. Nobody waits for too long,
   * each reads to its end, and the budget is never passed.
   */
  @ParameterizedTest
  @MethodSource("seeds")
  void randomJobs_neverPassTheBudget_andNeverStall(long seed) {
    Random random = new Random(seed);
    int files = 100 + random.nextInt(400);
    Model model = new Model(random, files, random.nextInt(files), 20 + random.nextInt(1500));
    int orders = 1 + random.nextInt(3);
    int jobs = 2 + random.nextInt(7);
    for (int i = 0; i < jobs; i++) {
      int order = random.nextInt(orders);
      String name = "job" + i;
      model.readers.add(
          new Reader(name, passes(files, 3, order), random.nextInt(4) > 0, random.nextBoolean()));
      if (random.nextBoolean()) {
        model.convoys.announced(name, 1L + order, model.now);
      }
    }
    long steps = 0;
    List<Reader> left = new ArrayList<>(model.readers);
    while (!left.isEmpty()) {
      steps++;
      assertThat(steps).as("seed %d: somebody is stalled", seed).isLessThan(400_000);
      Reader reader = left.get(random.nextInt(left.size()));
      int what = random.nextInt(4000);
      if (what == 0) {
        reader.stopped = true;
        model.convoys.stopped(reader.job, model.now);
      } else if (what == 1 && reader.waits == null) {
        model.convoys.stopped(reader.job, model.now);
        left.remove(reader);
        continue;
      } else if (what < 20) {
        model.readers.forEach(each -> each.stopped = false);
      }
      model.act();
      model.step(reader);
      if (random.nextInt(3) == 0) {
        model.pass();
      }
      if (reader.isOver()) {
        model.convoys.stopped(reader.job, model.now);
        model.act();
        left.remove(reader);
      }
    }
    model.readers.forEach(reader -> model.convoys.stopped(reader.job, model.now));
    model.act();
    assertThat(model.kept).as("seed %d: everybody is gone", seed).isEmpty();
    assertThat(model.convoys.heldBytes()).isZero();
  }

  /**
   * Jobs of one order and of like speed, in a budget that holds their gaps: each byte is fetched
   * once a pass, and each job's hits are MinIO's to the item.
   */
  @ParameterizedTest
  @MethodSource("seeds")
  void jobsOfOneOrder_withinTheBudget_fetchEachMissingFileOnceAPass(long seed) {
    Random random = new Random(seed);
    int files = 300 + random.nextInt(300);
    int room = files * (10 + random.nextInt(60)) / 100;
    Model model = new Model(random, files, room, 100_000);
    int jobs = 2 + random.nextInt(7);
    int passes = 4;
    for (int i = 0; i < jobs; i++) {
      model.readers.add(new Reader("job" + i, passes(files, passes, seed), true, false));
      model.convoys.announced("job" + i, 1, model.now);
    }
    List<Reader> left = new ArrayList<>(model.readers);
    while (!left.isEmpty()) {
      Reader reader = left.get(random.nextInt(left.size()));
      long least = left.stream().mapToLong(r -> (long) r.pass * files + r.at).min().orElse(0);
      if ((long) reader.pass * files + reader.at < least + 100) {
        model.step(reader);
      }
      if (random.nextInt(3) == 0) {
        model.pass();
      }
      if (reader.isOver() && reader.waits == null) {
        model.convoys.stopped(reader.job, model.now);
        left.remove(reader);
      }
    }
    int missing = files - room;
    assertThat(model.fetches)
        .as("seed %d, %d jobs", seed, jobs)
        .isEqualTo(files + (passes - 1L) * missing);
    for (Reader reader : model.readers) {
      assertThat(reader.hits + reader.misses).isEqualTo((long) passes * files);
      assertThat(reader.misses)
          .as("seed %d: misses of the passes after the first are MinIO's", seed)
          .isBetween((passes - 1L) * missing, files + (passes - 1L) * missing);
    }
  }
}
