package io.holdfast.fs.analyze.run;

import io.holdfast.fs.analyze.Analysis;
import io.holdfast.fs.analyze.Subject;
import io.holdfast.fs.bench.MemoryRate;
import io.holdfast.fs.figures.Figures;
import io.holdfast.fs.figures.JobsFigures.Job;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.host.CommandRun;
import io.holdfast.fs.host.OwnProcess;
import io.holdfast.fs.linux.NamedThreads;
import io.holdfast.fs.throughput.Observation;
import io.holdfast.fs.throughput.Runs;
import io.holdfast.fs.units.Human;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs a command and reports what job it was; again with other memory if rates are to be measured.
 * Not thread-safe.
 */
public final class AnalyzedRuns {
  /**
   * The share of what is read that is in memory in the run with little, as CoorDL's authors had.
   */
  public static final double COLD = 0.35;

  private static final int MOST_LOOKS = 25;
  private static final long LOOK_MILLIS = 200;
  private static final long PAGE = 4096;

  /** Runs whose figures differ by no more have read the same. */
  private static final double SAME = 0.01;

  /** Shares that differ by less are the same. */
  private static final double NEAR = 0.05;

  private static final String BEGAN_ANEW =
      "the daemon began anew while the command ran: what the command read before is not counted";

  private static final Duration MEMORY_TIME = Duration.ofSeconds(1);
  private static final Duration GRACE = Duration.ofSeconds(10);

  private final OwnProcess process;
  private final AnalyzedMount mount;
  private final Plan plan;
  private int exit;
  private boolean interrupted;

  /**
   * What is run.
   *
   * @param job the name of the job that it is; null if that has to be found
   * @param toErrors whether its output goes to the error output
   */
  public record Plan(List<String> command, @Nullable String job, boolean toErrors) {}

  /**
   * A run.
   *
   * @param figures those of the mount after it
   * @param job the job that it was; empty if it has read nothing
   * @param opens the files that the job opened meanwhile
   * @param notes what a reader has to know of it
   */
  public record Run(
      CommandRun run,
      Figures figures,
      String job,
      long opens,
      List<Observation> epochs,
      List<String> notes) {
    /** Returns the mean size of the files. */
    double bytesPerOpen() {
      long counted = epochs.stream().mapToLong(each -> each.epoch().opens()).sum();
      double bytes = epochs.stream().mapToDouble(each -> each.epoch().bytes()).sum();
      return counted == 0 ? 0 : bytes / counted;
    }

    /** A run's first epoch has its start in it, and is set apart. */
    public Runs runs() {
      return Runs.of(epochs, true, run.exit() == 0);
    }
  }

  public AnalyzedRuns(OwnProcess process, AnalyzedMount mount, Plan plan) {
    this.process = process;
    this.mount = mount;
    this.plan = plan;
  }

  /** Runs the command once. */
  public Run run() {
    Figures asked = mount.figures();
    CommandRun run = CommandRun.of(plan.command(), plan.toErrors(), process.isInForeground());
    exit = exit == 0 ? run.exit() : exit;
    interrupted |= run.interrupted();
    Figures after = settled();
    Figures before = JobSearch.countedFrom(asked, after);
    List<String> notes = after.isOfDaemonOf(asked) ? List.of() : List.of(BEGAN_ANEW);
    Optional<Job> job =
        plan.job() == null
            ? JobSearch.ofProcesses(before, after, run.pids())
            : Optional.of(named(JobSearch.since(before, after), plan.job()));
    List<Observation> epochs =
        job
            .map(found -> JobSearch.epochsSince(before, found, run.seconds()))
            .orElse(List.of())
            .stream()
            .filter(epoch -> epoch.opens() > 0 || epoch.bytes() > 0)
            .map(Observation::of)
            .toList();
    long opens = job.map(found -> JobSearch.opensSince(before, found)).orElse(0L);
    return new Run(run, after, job.map(Job::job).orElse(""), opens, epochs, notes);
  }

  /** The command was run: what is wrong now is more than a word on the command line. */
  private static Job named(List<Job> jobs, String wanted) {
    try {
      return JobSearch.named(jobs, wanted);
    } catch (CliException e) {
      throw CliException.couldNot(String.valueOf(e.getMessage()), e);
    }
  }

  /** Returns the exit code of the first run that failed; 0 if none did. */
  public int exit() {
    return exit;
  }

  /** Opens are counted a moment after they were made. */
  private Figures settled() {
    Figures figures = mount.figures();
    for (int i = 0; i < MOST_LOOKS && process.pause(LOOK_MILLIS); i++) {
      Figures next = mount.figures();
      boolean same = next.jobs().equals(figures.jobs());
      figures = next;
      if (same) {
        break;
      }
    }
    return figures;
  }

  /** Reports a run. */
  public Analysis analysis(Run first, String... notes) {
    List<String> all = new ArrayList<>(first.notes());
    all.addAll(List.of(notes));
    return Analysis.of(subject(first, OptionalDouble.empty()), first.runs(), all);
  }

  private Subject subject(Run first, OptionalDouble memoryRate) {
    return mount.subject(first.figures(), first.job(), first.epochs(), memoryRate);
  }

  /**
   * Runs the command twice more, and reports the first run with the rates of the others; without
   * those of a run that the daemon did not prepare, or whose job is not found. The capacity is what
   * it was before, also if this process is told to end meanwhile.
   *
   * @param share of what it reads that is in memory in the run with little
   */
  public Analysis measured(Run first, double share) {
    long capacity = first.figures().promisedBytes();
    Thread restore = NamedThreads.named("restore-capacity", () -> mount.restoreCapacity(capacity));
    List<String> notes = new ArrayList<>(first.notes());
    Optional<Run> warm;
    Optional<Run> cold = Optional.empty();
    OptionalDouble memoryRate;
    process.atExit(restore);
    try {
      warm = unlessFailed("warm", notes, () -> warm(first, capacity, notes));
      memoryRate = memoryRate();
      if (!interrupted) {
        cold = unlessFailed("cold", notes, () -> cold(first, share, notes));
      }
    } finally {
      restore(capacity, notes);
      process.forgetAtExit(restore);
    }
    Runs runs =
        new Runs(
            first.epochs(),
            true,
            first.run().exit() == 0,
            warm.flatMap(AnalyzedRuns::mean),
            cold.flatMap(AnalyzedRuns::mean));
    return Analysis.of(subject(first, memoryRate), runs, notes);
  }

  private static Optional<Run> unlessFailed(
      String name, List<String> notes, Supplier<Optional<Run>> run) {
    try {
      return run.get();
    } catch (CliException e) {
      notes.add("the %s run does not count: %s".formatted(name, e.getMessage()));
      return Optional.empty();
    }
  }

  private void restore(long capacity, List<String> notes) {
    try {
      mount.setCapacity(capacity);
    } catch (CliException e) {
      exit = exit == 0 ? CliException.COULD_NOT : exit;
      notes.add(
          "the capacity was %s and could not be restored: %s"
              .formatted(Human.bytes(capacity), e.getMessage()));
    }
  }

  private static Optional<Observation> mean(Run run) {
    return run.runs().mean();
  }

  private Optional<Run> warm(Run first, long capacity, List<String> notes) {
    Figures figures = first.figures();
    long wanted = figures.dataset().bytes() + figures.dataset().files() * PAGE;
    if (wanted > capacity) {
      mount.setCapacityUpTo(wanted);
      long got = mount.figures().promisedBytes();
      if (got < wanted) {
        notes.add(
            "the warm run had %s of memory, and not the %s that the dataset takes: --memory leaves no more"
                .formatted(Human.bytes(got), Human.bytes(wanted)));
      }
    }
    mount.warm();
    return again("warm", first, notes);
  }

  private Optional<Run> cold(Run first, double share, List<String> notes) {
    Observation seen = first.runs().mean().orElseThrow();
    if (seen.hitShare() < share + NEAR) {
      notes.add("the first run is the cold one: it had as little in memory");
      return Optional.of(first);
    }
    long all = first.figures().dataset().pagesOf(first.figures().dataset().bytes());
    mount.setCapacity(Math.max(PAGE, (long) (share * all)));
    return again("cold", first, notes);
  }

  /** Runs the command again, and says whether that was the same. */
  private Optional<Run> again(String name, Run first, List<String> notes) {
    Run again = run();
    again.notes().forEach(note -> notes.add("the %s run: %s".formatted(name, note)));
    Optional<Observation> mean = again.runs().mean();
    if (again.run().exit() != 0 || mean.isEmpty()) {
      notes.add(
          "the %s run does not count: the command %s"
              .formatted(
                  name,
                  mean.isEmpty() ? "read nothing" : "ended with exit code " + again.run().exit()));
      return Optional.empty();
    }
    notes.add(
        String.format(
            Locale.ROOT,
            "%s run: %.0f %% of the bytes in memory, an epoch in %.1f s at %s/s",
            name,
            100 * mean.get().hitShare(),
            mean.get().epoch().seconds(),
            Human.bytes(Math.round(mean.get().speed()))));
    if (differ((double) first.opens(), (double) again.opens())
        || differ(first.bytesPerOpen(), again.bytesPerOpen())) {
      notes.add(
          "the %s run did not read the same files: %s of %s on average, and %s of %s in the first"
              .formatted(
                  name,
                  Human.count(again.opens(), "open"),
                  Human.bytes(Math.round(again.bytesPerOpen())),
                  Human.count(first.opens(), "open"),
                  Human.bytes(Math.round(first.bytesPerOpen()))));
    }
    return Optional.of(again);
  }

  private static boolean differ(double one, double other) {
    return Math.abs(one - other) > SAME * Math.max(one, other);
  }

  /** On a thread of its own: where the mount hangs, the command goes on. */
  private OptionalDouble memoryRate() {
    int threads = Runtime.getRuntime().availableProcessors();
    FutureTask<OptionalDouble> work =
        new FutureTask<>(() -> MemoryRate.measure(mount.mountpoint(), threads, MEMORY_TIME));
    NamedThreads.start("memory-rate", work);
    try {
      return work.get(MEMORY_TIME.plus(GRACE).toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      return OptionalDouble.empty(); // --xattr off, or the mount hangs
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return OptionalDouble.empty();
    }
  }
}
