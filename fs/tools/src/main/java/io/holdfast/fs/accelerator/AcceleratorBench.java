package io.holdfast.fs.accelerator;

import io.holdfast.fs.linux.NamedThreads;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Measures which AU emulated accelerators reach at a mount and at its source; of a range of
 * numbers, searches the largest that reaches the target. All measurements of a run take the same
 * time, and read in orders of their own, from one seed. Bounded in time unless a read hangs; the
 * caller handles that. One thread runs it; another may {@linkplain #stop() stop} it.
 */
public final class AcceleratorBench {
  /** The share of the time to find the files, and once more to drop the source's page cache. */
  private static final double PREPARATION = 0.1;

  private static final int FORGETTERS = 8;

  /** Keeps the seeds of measurements apart, because the epochs of one take the seeds behind it. */
  private static final long SEED_STEP = 1_000_003;

  private final Plan plan;
  private final LongSupplier fetchedBytes;
  private final Clock clock = Clock.SYSTEM;
  private final AtomicReference<@Nullable Window> running = new AtomicReference<>();
  private volatile boolean stopped;

  /**
   * The plan of a benchmark.
   *
   * @param mount the mountpoint
   * @param origin the directory where the dataset can be read without the mount, if there is one
   * @param training what each accelerator does
   * @param targets where to read, in this order; without an origin, only the mount
   * @param fewest the smallest number of accelerators
   * @param most the largest one; the same to measure only that
   * @param time the time for everything
   * @param files the most files
   * @param seed the seed of all random choices
   */
  public record Plan(
      Path mount,
      @Nullable Path origin,
      Training training,
      List<Target> targets,
      int fewest,
      int most,
      Duration time,
      int files,
      long seed) {}

  /**
   * Creates a benchmark, which reads nothing yet.
   *
   * @param fetchedBytes what the mount has fetched until now, from its origin and from peers
   */
  public AcceleratorBench(Plan plan, LongSupplier fetchedBytes) {
    this.plan = plan;
    this.fetchedBytes = fetchedBytes;
  }

  /** Ends it: {@link #run} then returns what was measured until now. Any thread may call it. */
  public void stop() {
    stopped = true;
    Window window = running.get();
    if (window != null) {
      window.endNow();
    }
  }

  /**
   * Measures.
   *
   * @throws IOException if there is no file with a sample, or a file cannot be read
   * @throws InterruptedException if the thread is interrupted
   */
  public AcceleratorReport run() throws IOException, InterruptedException {
    long begin = clock.nanoTime();
    long nanos = plan.time().toNanos();
    DatasetFiles files = find(begin + (long) (nanos * PREPARATION));
    boolean forgotten = forget(files, clock.nanoTime() + (long) (nanos * PREPARATION));
    int measurements = plan.targets().size() * measurementsOf(plan.fewest(), plan.most());
    long each = Math.max(1, (begin + nanos - clock.nanoTime()) / measurements);
    List<AcceleratorReport.Row> rows = new ArrayList<>();
    for (Target target : plan.targets()) {
      search(target, files, each, rows);
    }
    return new AcceleratorReport(plan, files, rows, forgotten, stopped);
  }

  private DatasetFiles find(long end) throws IOException {
    DatasetFiles files =
        DatasetFiles.find(
            plan.mount(),
            plan.training().recordBytes(),
            plan.files(),
            new Random(plan.seed()),
            () -> stopped || clock.nanoTime() - end >= 0);
    if (files.count() > 0) {
      return files;
    }
    throw new IOException(
        files.tooSmall() > 0
            ? "no file is as large as a record of "
                + plan.training().recordBytes()
                + " bytes: give a smaller --record-size, or a workload with whole files"
            : "found no file to read: is the mount empty, or --time too short?");
  }

  /**
   * Drops the source's pages of all files: the daemon would find them there, and the source would
   * seem faster than it is. Tells whether the time was enough.
   */
  private boolean forget(DatasetFiles files, long end) throws InterruptedException {
    Path origin = plan.origin();
    if (origin == null || plan.targets().equals(List.of(Target.SOURCE_CACHED))) {
      return true;
    }
    DirectoryStorage source = new DirectoryStorage(origin, files, true);
    AtomicInteger next = new AtomicInteger();
    ExecutorService threads =
        Executors.newFixedThreadPool(FORGETTERS, new NamedThreads("forgetter"));
    for (int i = 0; i < FORGETTERS; i++) {
      threads.execute(
          () -> {
            int file = next.getAndIncrement();
            while (file < files.count() && !stopped && clock.nanoTime() - end < 0) {
              source.forget(file);
              file = next.getAndIncrement();
            }
          });
    }
    threads.shutdown();
    // The caller has a deadline for calls that hang.
    while (!threads.awaitTermination(1, TimeUnit.HOURS)) {}
    return next.get() >= files.count();
  }

  /** Returns how often a search in a range measures at most. */
  static int measurementsOf(int fewest, int most) {
    int count = 1;
    for (int numbers = most - fewest + 1; numbers > 1; numbers /= 2) {
      count++;
    }
    return count;
  }

  private void search(
      Target target, DatasetFiles files, long nanos, List<AcceleratorReport.Row> rows)
      throws IOException, InterruptedException {
    search(
        plan.fewest(),
        plan.most(),
        accelerators -> {
          if (stopped) {
            return false;
          }
          AcceleratorReport.Row row = measure(target, files, accelerators, nanos, rows.size());
          rows.add(row);
          return row.passes(plan.training());
        });
  }

  /** Tells whether a number of accelerators reaches the target. */
  interface Trial {
    boolean passes(int accelerators) throws IOException, InterruptedException;
  }

  /** Halves a range until it is clear where it ends: the more there are, the less each gets. */
  static void search(int fewest, int most, Trial trial) throws IOException, InterruptedException {
    int passes = fewest - 1;
    int fails = most + 1;
    while (passes + 1 < fails) {
      int accelerators = passes + (fails - passes) / 2;
      if (trial.passes(accelerators)) {
        passes = accelerators;
      } else {
        fails = accelerators;
      }
    }
  }

  private AcceleratorReport.Row measure(
      Target target, DatasetFiles files, int accelerators, long nanos, int number)
      throws IOException, InterruptedException {
    Path root = target == Target.MOUNT ? plan.mount() : plan.origin();
    if (root == null) {
      throw new IllegalArgumentException("no source for " + target);
    }
    Storage storage = new DirectoryStorage(root, files, target == Target.SOURCE);
    Window window = new Window(clock, nanos);
    running.set(window);
    if (stopped) {
      window.endNow();
    }
    long before = target == Target.MOUNT ? fetchedBytes.getAsLong() : 0;
    Emulation emulation = new Emulation(storage, plan.training(), accelerators, clock);
    Emulation.Outcome outcome = emulation.run(plan.seed() + number * SEED_STEP, window);
    long fetched = target == Target.MOUNT ? fetchedBytes.getAsLong() - before : -1;
    return AcceleratorReport.Row.of(target, accelerators, outcome, fetched);
  }
}
