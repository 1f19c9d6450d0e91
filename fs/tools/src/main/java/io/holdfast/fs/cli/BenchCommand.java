package io.holdfast.fs.cli;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.bench.Bench;
import io.holdfast.fs.bench.BenchReport;
import io.holdfast.fs.client.DaemonClient;
import io.holdfast.fs.client.OriginPath;
import io.holdfast.fs.control.FiguresJson;
import io.holdfast.fs.control.RunningDaemon;
import io.holdfast.fs.figures.CacheFigures;
import io.holdfast.fs.figures.Figures;
import io.holdfast.fs.host.CliException;
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
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code holdfast bench}: measures what a mount gives on this machine. */
@Command(
    name = "bench",
    sortOptions = false,
    customSynopsis = {
      "holdfast bench [--time TIME] [--files N] [--threads N] [--json] MOUNT",
      "       holdfast bench --accelerators N --workload NAME [OPTIONS] MOUNT"
    },
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
          + " dropped. It writes nothing. Other readers disturb the figures.",
      "",
      "With --accelerators it emulates a training instead: each accelerator takes batches from"
          + " reader threads, which read all files, shuffled anew in each epoch, and is busy for a"
          + " fixed time with each. The result is AU (accelerator utilization) as MLPerf Storage"
          + " defines it: the share of the time, without the first step, that the accelerator"
          + " computes. It is no result of that benchmark. ACCELERATORS.md has the values and what"
          + " differs. Ctrl-C ends it with what was measured until then."
    },
    parameterListHeading = "%nArguments:%n",
    optionListHeading = "%nOptions:%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  holdfast bench /data/imagenet",
      "  holdfast bench data-imagenet --time 60s --threads 8",
      "  holdfast bench /data/imagenet --json | jq '.rows[] | {what, mount, level}'",
      "  holdfast bench /data/openimages --accelerators 2 --workload retinanet",
      "  holdfast bench imagenet --accelerators 1..8 --batch 64 --compute-time 95ms"
    })
final class BenchCommand implements Callable<Integer> {
  /** How much longer than planned it may take before it counts as hung. */
  private static final Duration GRACE = Duration.ofSeconds(30);

  private static final Duration DEFAULT_TIME = Duration.ofSeconds(15);
  private static final Duration DEFAULT_EMULATION_TIME = Duration.ofSeconds(60);
  private static final int DEFAULT_FILES = 2000;
  private static final int DEFAULT_THREADS =
      Math.min(4, Runtime.getRuntime().availableProcessors());

  private static final int MOST_FILES = 1_000_000;
  private static final int MOST_THREADS = 256;

  private final CliContext context;

  @Spec private @Nullable CommandSpec command;

  @Parameters(paramLabel = "MOUNT", description = "A mountpoint, or the name of a mount.")
  private String target = "";

  @Option(
      names = "--time",
      paramLabel = "TIME",
      description = "How long it reads. Default: 15s, with --accelerators 60s.",
      converter = OptionValues.Budget.class)
  private @Nullable Duration time;

  @Option(
      names = "--files",
      paramLabel = "N",
      description =
          "How many files of each kind it reads at most. Default: 2000, with --accelerators all.")
  private @Nullable Integer files;

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "How many read at once. Default: 4, or the processors if there are fewer.")
  private @Nullable Integer threads;

  @ArgGroup(validate = false, heading = "%nEmulated accelerators:%n")
  private AcceleratorRequest.Options accelerators = new AcceleratorRequest.Options();

  @Mixin private final CommandOutput output = new CommandOutput();

  BenchCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws IOException {
    context.refuseRepeatedOptions(command);
    within("--files", files, MOST_FILES);
    within("--threads", threads, MOST_THREADS);
    if (accelerators.accelerators != null) {
      return emulate(AcceleratorRequest.of(accelerators.accelerators, accelerators));
    }
    AcceleratorRequest.refuseWithoutAccelerators(accelerators);
    RunningDaemon daemon = context.targets().get(target);
    Figures stats = FiguresJson.figures(new DaemonClient(daemon, context.answerDeadline()).stats());
    Path origin = OriginPath.of(daemon, stats.origin()).orElse(null);
    Bench.Plan plan =
        new Bench.Plan(
            daemon.mountpoint(),
            origin,
            time == null ? DEFAULT_TIME : time,
            files == null ? DEFAULT_FILES : files,
            threads == null ? DEFAULT_THREADS : threads,
            System.nanoTime());
    tell(plan);
    print(daemon, stats, plan, await(new Bench(plan)::run, plan.time(), daemon));
    return 0;
  }

  private int emulate(AcceleratorRequest request) throws IOException {
    if (threads != null) {
      throw CliException.usage("--threads is not for --accelerators: give --workers");
    }
    RunningDaemon daemon = context.targets().get(target);
    AcceleratorRun run =
        new AcceleratorRun(
            context, daemon, new DaemonClient(daemon, context.answerDeadline()), output);
    Duration budget = time == null ? DEFAULT_EMULATION_TIME : time;
    run.show(
        request,
        budget,
        files == null ? MOST_FILES : files,
        bench -> await(bench::run, budget, daemon));
    return 0;
  }

  private static void within(String option, @Nullable Integer value, int largest) {
    if (value != null && (value < 1 || value > largest)) {
      throw CliException.usage(option + " '" + value + "' is not from 1 to " + largest);
    }
  }

  private void tell(Bench.Plan plan) {
    output.note(
        "reading at most "
            + plan.files()
            + " files of each kind of "
            + plan.mount()
            + " for "
            + plan.time().toMillis() / 1000.0
            + " s with "
            + plan.threads()
            + " threads"
            + (plan.origin() == null ? "; the source cannot be read directly" : ""));
  }

  /** On a thread of its own: where the mount hangs, the command still ends. */
  private static <T> T await(Callable<T> reads, Duration budget, RunningDaemon daemon)
      throws IOException {
    FutureTask<T> work = new FutureTask<>(reads);
    NamedThreads.start("bench", work);
    try {
      return work.get(budget.plus(GRACE).toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof IOException failure) {
        throw CliException.couldNot(daemon.mountpoint() + ": " + failure.getMessage(), failure);
      }
      if (e.getCause() instanceof CliException failure) {
        throw failure;
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

  private void print(RunningDaemon daemon, Figures stats, Bench.Plan plan, BenchReport report)
      throws IOException {
    CacheFigures cache = stats.cache();
    BenchReport.Capacity capacity =
        new BenchReport.Capacity(cache.plannedHitRatio(), cache.pin().equals("hard"));
    if (output.isJson()) {
      Map<String, @Nullable Object> all = new LinkedHashMap<>();
      all.put("name", daemon.name());
      all.put("mountpoint", daemon.mountpoint().toString());
      all.put("threads", plan.threads());
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
