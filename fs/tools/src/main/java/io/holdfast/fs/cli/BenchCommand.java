package io.holdfast.fs.cli;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.bench.Bench;
import io.holdfast.fs.bench.BenchReport;
import io.holdfast.fs.control.FiguresJson;
import io.holdfast.fs.control.RunningDaemon;
import io.holdfast.fs.figures.CacheFigures;
import io.holdfast.fs.figures.Figures;
import io.holdfast.fs.linux.NamedThreads;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code holdfast bench}: measures what a mount gives on this machine. */
@Command(
    name = "bench",
    sortOptions = false,
    customSynopsis = "holdfast bench [--time TIME] [--files N] [--threads N] [--json] MOUNT",
    header = "Measure what a mount gives on this machine, and say what is good.",
    description = {
      "",
      "Reads a few files that are chosen at random: small ones, large ones in order and at random,"
          + " resident and not, through the mount and at the source in turn, and shows medians."
          + " What is resident is compared with the source in the page cache, which is what memory"
          + " gives here; what is not, with the source without it. A source that is no directory is"
          + " not read.",
      "",
      "It reads as any program does, for as long as --time says: so what it reads may become"
          + " resident while there is room. The kernel's cache of those files at the source is"
          + " dropped. It writes nothing. Other readers disturb the figures."
    },
    parameterListHeading = "%nArguments:%n",
    optionListHeading = "%nOptions:%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  holdfast bench /data/imagenet",
      "  holdfast bench data-imagenet --time 60s --threads 8",
      "  holdfast bench /data/imagenet --json | jq '.rows[] | {what, mount, level}'"
    })
final class BenchCommand implements Callable<Integer> {
  private static final Duration DEADLINE = Duration.ofSeconds(5);

  /** How much longer than planned it may take before it counts as hung. */
  private static final Duration GRACE = Duration.ofSeconds(30);

  private static final int MOST_FILES = 1_000_000;
  private static final int MOST_THREADS = 256;

  private final CliContext context;

  @Parameters(paramLabel = "MOUNT", description = "A mountpoint, or the name of a mount.")
  private String target = "";

  @Option(
      names = "--time",
      paramLabel = "TIME",
      description = "How long it reads. Default: 15s.",
      converter = OptionValues.Budget.class)
  private Duration time = Duration.ofSeconds(15);

  @Option(
      names = "--files",
      paramLabel = "N",
      description = "How many files of each kind it reads at most. Default: 2000.")
  private int files = 2000;

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "How many read at once. Default: 4, or the processors if there are fewer.")
  private int threads = Math.min(4, Runtime.getRuntime().availableProcessors());

  @Mixin private final CommandOutput output = new CommandOutput();

  BenchCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    within("--files", files, MOST_FILES);
    within("--threads", threads, MOST_THREADS);
    RunningDaemon daemon = new Targets(context.host()).get(target);
    Figures stats = FiguresJson.figures(new DaemonClient(daemon, DEADLINE).stats());
    Path origin = OriginPath.of(daemon, stats.origin()).orElse(null);
    tell(daemon, origin);
    long seed = System.nanoTime();
    Bench.Plan plan = new Bench.Plan(daemon.mountpoint(), origin, time, files, threads, seed);
    print(daemon, stats, await(new Bench(plan), time, daemon));
    return 0;
  }

  private static void within(String option, int value, int largest) {
    if (value < 1 || value > largest) {
      throw CliException.usage(option + " '" + value + "' is not from 1 to " + largest);
    }
  }

  private void tell(RunningDaemon daemon, @Nullable Path origin) {
    output.note(
        "reading at most "
            + files
            + " files of each kind of "
            + daemon.mountpoint()
            + " for "
            + time.toMillis() / 1000.0
            + " s with "
            + threads
            + " threads"
            + (origin == null ? "; the source cannot be read directly" : ""));
  }

  /** On a thread of its own: where the mount hangs, the command still ends. */
  private static BenchReport await(Bench bench, Duration budget, RunningDaemon daemon)
      throws IOException {
    FutureTask<BenchReport> work = new FutureTask<>(bench::run);
    NamedThreads.start("bench", work);
    try {
      return work.get(budget.plus(GRACE).toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof IOException failure) {
        throw CliException.couldNot(daemon.mountpoint() + ": " + failure.getMessage(), failure);
      }
      throw new IllegalStateException(e.getCause());
    } catch (TimeoutException e) {
      throw CliException.couldNot(
          "reads of "
              + daemon.mountpoint()
              + " do not end: 'holdfast doctor' looks for the cause without touching the mount",
          e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw CliException.couldNot("interrupted", e);
    }
  }

  private void print(RunningDaemon daemon, Figures stats, BenchReport report) throws IOException {
    CacheFigures cache = stats.cache();
    BenchReport.Capacity capacity =
        new BenchReport.Capacity(cache.plannedHitRatio(), cache.pin().equals("hard"));
    if (output.isJson()) {
      Map<String, @Nullable Object> all = new LinkedHashMap<>();
      all.put("name", daemon.name());
      all.put("mountpoint", daemon.mountpoint().toString());
      all.put("threads", threads);
      all.putAll(report.json(capacity));
      output.text(
          JSON.std
                  .with(JSON.Feature.PRETTY_PRINT_OUTPUT, JSON.Feature.WRITE_NULL_PROPERTIES)
                  .asString(all)
              + "\n");
    } else {
      output.text(report.text(capacity, context.colors()::of));
    }
  }
}
