package io.holdfast.fs.bench;

import io.holdfast.fs.linux.NamedThreads;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Reads a sample of a mount, and the same dataset at its origin where that can be reached, in turn
 * and three times each; medians count. What is not resident is read once only, so each round takes
 * other files, as long as there are enough. Bounded in time as far as reads end: a read that hangs
 * is up to the caller. Used by one thread.
 */
public final class Bench {
  private static final int ROUNDS = 3;
  private static final int SIDES = 3;

  /** How much of the time is for the choice of files. */
  private static final double CHOICE = 0.2;

  private final Plan plan;
  private final Random random;
  private final LongAdder failures = new LongAdder();

  /**
   * What is to be done.
   *
   * @param mount where the mount is
   * @param origin where its dataset can be read without it, if that is possible
   * @param time for everything
   * @param files how many files of each kind, at most
   * @param threads how many read at once
   * @param seed of all that is chosen at random
   */
  public record Plan(
      Path mount, @Nullable Path origin, Duration time, int files, int threads, long seed) {}

  /** Prepares; reads nothing yet. */
  public Bench(Plan plan) {
    this.plan = plan;
    this.random = new Random(plan.seed());
  }

  /** What came out; what was not measured is not a number. */
  record Figures(double mount, double cold, double warm) {}

  /**
   * Chooses files and reads them.
   *
   * @throws IOException where nothing could be chosen
   * @throws InterruptedException when the thread is told to stop
   */
  public BenchReport run() throws IOException, InterruptedException {
    Residence.prepare();
    long nanos = plan.time().toNanos();
    long end = System.nanoTime() + (long) (nanos * CHOICE);
    Sample sample = Sample.of(plan.mount(), plan.files(), random, System::nanoTime, end);
    if (sample.size() == 0) {
      throw new IOException(
          "found no file to read: is the mount empty, or --xattr off, or --time too short?");
    }
    List<Workload> tasks =
        Arrays.stream(Workload.values()).filter(task -> !sample.of(task.kind()).isEmpty()).toList();
    long each = (long) (nanos * (1 - CHOICE)) / Math.max(1, tasks.size() * ROUNDS * SIDES + 1);
    // they do not keep the command from ending where a read hangs
    ExecutorService executor =
        Executors.newFixedThreadPool(plan.threads(), new NamedThreads("reader"));
    try {
      Slice slice = new Slice(executor, plan.threads(), failures);
      warmUp(sample, slice, each);
      Map<Workload, Figures> figures = new EnumMap<>(Workload.class);
      for (Workload task : tasks) {
        figures.put(task, measure(task, sample.of(task.kind()), slice, each));
      }
      return new BenchReport(figures, sample.size(), sample.residentShare(), failures.sum());
    } finally {
      executor.shutdownNow();
    }
  }

  /** The first reads of a process are slow, whatever they read. */
  private void warmUp(Sample sample, Slice slice, long nanos) throws InterruptedException {
    List<Path> files = below(plan.mount(), sample.of(Sample.Kind.SMALL_RESIDENT));
    slice.measure(files, new Slice.How(true, false, true, nanos, 0));
  }

  private Figures measure(Workload task, List<Path> files, Slice slice, long nanos)
      throws IOException, InterruptedException {
    List<Double> mount = new ArrayList<>();
    List<Double> cold = new ArrayList<>();
    List<Double> warm = new ArrayList<>();
    // The kind of large files is read in order and at random: each takes its half.
    List<Path> own = task.small() ? files : everyNth(files, 2, task.random() ? 1 : 0);
    for (int round = 0; round < ROUNDS; round++) {
      Slice.How how =
          new Slice.How(task.small(), task.random(), task.resident(), nanos, random.nextLong());
      List<Path> forMount = task.resident() ? own : everyNth(own, 2 * ROUNDS, 2 * round);
      List<Path> forOrigin = task.resident() ? own : everyNth(own, 2 * ROUNDS, 2 * round + 1);
      boolean mountFirst = round % 2 == 0;
      if (mountFirst) {
        mount.add(readMount(forMount, slice, how));
      }
      if (plan.origin() != null) {
        readOrigin(plan.origin(), forOrigin, slice, how, cold, warm);
      }
      if (!mountFirst) {
        mount.add(readMount(forMount, slice, how));
      }
    }
    return new Figures(median(mount), median(cold), median(warm));
  }

  private double readMount(List<Path> files, Slice slice, Slice.How how)
      throws IOException, InterruptedException {
    forgetAtOrigin(files);
    return slice.measure(below(plan.mount(), files), how);
  }

  private void readOrigin(
      Path origin,
      List<Path> files,
      Slice slice,
      Slice.How how,
      List<Double> cold,
      List<Double> warm)
      throws IOException, InterruptedException {
    List<Path> paths = below(origin, files);
    forgetAtOrigin(files);
    Slice.How once = new Slice.How(how.small(), how.random(), false, how.nanos(), how.seed());
    cold.add(slice.measure(paths, once));
    // A few files only, that are certainly there when they are read again.
    List<Path> few = paths.subList(0, Math.min(paths.size(), Math.max(1, plan.files() / 10)));
    slice.measure(few, once);
    Slice.How again = new Slice.How(how.small(), how.random(), true, how.nanos(), how.seed());
    warm.add(slice.measure(few, again));
    forgetAtOrigin(files);
  }

  /** Else a read of what is not resident would find at the origin what was read there before. */
  private void forgetAtOrigin(List<Path> files) throws IOException {
    if (plan.origin() != null) {
      for (Path file : below(plan.origin(), files)) {
        Residence.forget(file);
      }
    }
  }

  private static List<Path> below(Path root, List<Path> files) {
    return files.stream().map(root::resolve).toList();
  }

  /** Every n-th one; one of them also where there are fewer than n. */
  static <T> List<T> everyNth(List<T> all, int n, int from) {
    if (!all.isEmpty() && all.size() <= from) {
      return List.of(all.get(from % all.size()));
    }
    List<T> some = new ArrayList<>();
    for (int i = from; i < all.size(); i += n) {
      some.add(all.get(i));
    }
    return some;
  }

  /** The median of those that are numbers. */
  static double median(List<Double> values) {
    List<Double> sorted = values.stream().filter(v -> !v.isNaN()).sorted().toList();
    return sorted.isEmpty() ? Double.NaN : sorted.get(sorted.size() / 2);
  }
}
