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
 * Reads a sample of a mount in three rounds, in turn with the same dataset at its origin, if the
 * origin can be reached; medians count. Each round takes other files of those that are not
 * resident, as long as there are enough, because a read may make them resident. Bounded in time
 * unless a read hangs; the caller handles that. Used by one thread.
 */
public final class Bench {
  private static final int ROUNDS = 3;
  private static final int SIDES = 3;

  /** The share of the time for the choice of files. */
  private static final double CHOICE = 0.2;

  private final Plan plan;
  private final Random random;
  private final LongAdder failures = new LongAdder();

  /**
   * The plan of a benchmark.
   *
   * @param mount the mountpoint
   * @param origin the directory where the dataset can be read without the mount, if there is one
   * @param time the time for everything
   * @param files the most files of each kind
   * @param threads the number of threads that read
   * @param seed the seed of all random choices
   */
  public record Plan(
      Path mount, @Nullable Path origin, Duration time, int files, int threads, long seed) {}

  /** Creates a benchmark, which reads nothing yet. */
  public Bench(Plan plan) {
    this.plan = plan;
    this.random = new Random(plan.seed());
  }

  /** The results; NaN if not measured. */
  record Figures(double mount, double cold, double warm) {}

  /**
   * Chooses files and reads them.
   *
   * @throws IOException if no file could be chosen
   * @throws InterruptedException if the thread is interrupted
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
    // these threads do not keep the command from ending if a read hangs
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

  /** Reads some files without measuring, because the first reads of a process are slow. */
  private void warmUp(Sample sample, Slice slice, long nanos) throws InterruptedException {
    List<Path> files = below(plan.mount(), sample.of(Sample.Kind.SMALL_RESIDENT));
    slice.measure(files, new Slice.How(true, false, true, nanos, 0));
  }

  private Figures measure(Workload task, List<Path> files, Slice slice, long nanos)
      throws IOException, InterruptedException {
    List<Double> mount = new ArrayList<>();
    List<Double> cold = new ArrayList<>();
    List<Double> warm = new ArrayList<>();
    // large files are read in order and at random; each way takes half of them
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
    // only a few files, which are certainly still cached at the second read
    List<Path> few = paths.subList(0, Math.min(paths.size(), Math.max(1, plan.files() / 10)));
    slice.measure(few, once);
    Slice.How again = new Slice.How(how.small(), how.random(), true, how.nanos(), how.seed());
    warm.add(slice.measure(few, again));
    forgetAtOrigin(files);
  }

  /**
   * Drops files from the origin's page cache: otherwise a fetch would find pages there that the
   * last round has read.
   */
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

  /** Returns every n-th element; at least one, even if there are fewer than n. */
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

  /** Returns the median of the values that are numbers. */
  static double median(List<Double> values) {
    List<Double> sorted = values.stream().filter(v -> !v.isNaN()).sorted().toList();
    return sorted.isEmpty() ? Double.NaN : sorted.get(sorted.size() / 2);
  }
}
