package io.holdfast.fs.cli;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.accelerator.AcceleratorBench;
import io.holdfast.fs.accelerator.AcceleratorReport;
import io.holdfast.fs.accelerator.Target;
import io.holdfast.fs.client.DaemonClient;
import io.holdfast.fs.client.OriginPath;
import io.holdfast.fs.control.FiguresJson;
import io.holdfast.fs.control.RunningDaemon;
import io.holdfast.fs.figures.CacheFigures;
import io.holdfast.fs.figures.Figures;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.linux.NamedThreads;
import io.holdfast.fs.linux.Procfs;
import io.holdfast.fs.units.Visible;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Has accelerators emulated on a mount, and prints what came out; also what came out until then, if
 * this process is told to end. Used by one thread.
 */
final class AcceleratorRun {
  /** How long the end of this process waits for the figures. */
  private static final int LAST_WORDS_SECONDS = 10;

  private static final int SEEDS = 1_000_000;

  private final CliContext context;
  private final RunningDaemon daemon;
  private final DaemonClient client;
  private final CommandOutput output;

  AcceleratorRun(
      CliContext context, RunningDaemon daemon, DaemonClient client, CommandOutput output) {
    this.context = context;
    this.daemon = daemon;
    this.client = client;
    this.output = output;
  }

  /** Runs a benchmark to its end, or fails. */
  interface Runner {
    AcceleratorReport run(AcceleratorBench bench) throws IOException;
  }

  /**
   * Measures and prints.
   *
   * @param files the most files
   */
  void show(AcceleratorRequest request, Duration time, int files, Runner runner)
      throws IOException {
    Figures before = figures();
    AcceleratorBench.Plan plan = plan(request, before, time, files);
    AcceleratorBench bench = new AcceleratorBench(plan, () -> fetchedBytes(figures()));
    tell(plan);
    CountDownLatch printed = new CountDownLatch(1);
    Thread atExit = NamedThreads.named("stop-bench", () -> endWell(bench, printed));
    context.atExit(atExit);
    try {
      AcceleratorReport report = runner.run(bench);
      print(report, conditions(before, figures()));
    } finally {
      printed.countDown();
      context.forgetAtExit(atExit);
    }
  }

  private static void endWell(AcceleratorBench bench, CountDownLatch printed) {
    bench.stop();
    try {
      if (!printed.await(LAST_WORDS_SECONDS, TimeUnit.SECONDS)) {
        return; // a read hangs
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private AcceleratorBench.Plan plan(
      AcceleratorRequest request, Figures stats, Duration time, int files) {
    Path origin = OriginPath.of(daemon, stats.origin()).orElse(null);
    List<Target> targets = request.targets();
    if (origin == null) {
      targets = targets.stream().filter(target -> target == Target.MOUNT).toList();
      if (targets.isEmpty()) {
        throw CliException.couldNot(
            "the source " + stats.origin() + " cannot be read directly: give --targets mount");
      }
    }
    Long seed = request.seed();
    return new AcceleratorBench.Plan(
        daemon.mountpoint(),
        origin,
        request.training(),
        targets,
        request.fewest(),
        request.most(),
        time,
        files,
        seed == null ? ThreadLocalRandom.current().nextInt(SEEDS) : seed);
  }

  private void tell(AcceleratorBench.Plan plan) {
    output.note(
        "emulating "
            + (plan.fewest() == plan.most() ? "" : plan.fewest() + " to ")
            + plan.most()
            + (plan.most() == 1 ? " accelerator" : " accelerators")
            + " on "
            + daemon.mountpoint()
            + " for "
            + plan.time().toMillis() / 1000.0
            + " s"
            + (plan.origin() == null ? "; the source cannot be read directly" : ""));
  }

  private Figures figures() {
    return FiguresJson.figures(client.stats());
  }

  private static long fetchedBytes(Figures stats) {
    return stats.fetches().origin().bytes() + stats.fetches().peer().bytes();
  }

  private static AcceleratorReport.Conditions conditions(Figures before, Figures after) {
    return new AcceleratorReport.Conditions(
        Procfs.host().meminfo().bytes("MemTotal").orElse(0),
        after.cache().pin().equals("hard"),
        full(before.cache()),
        full(after.cache()));
  }

  private static double full(CacheFigures cache) {
    return cache.capacityBytes() == 0
        ? 1
        : Math.min(1, (double) cache.residentBytes() / cache.capacityBytes());
  }

  private void print(AcceleratorReport report, AcceleratorReport.Conditions conditions)
      throws IOException {
    if (!output.isJson()) {
      output.text(context.colors().firstLine(report.text(conditions)));
      return;
    }
    Map<String, @Nullable Object> all = new LinkedHashMap<>();
    all.put("name", daemon.name());
    all.put("mountpoint", daemon.mountpoint().toString());
    all.putAll(report.json(conditions));
    output.text(
        Visible.json(
                JSON.std
                    .with(JSON.Feature.PRETTY_PRINT_OUTPUT, JSON.Feature.WRITE_NULL_PROPERTIES)
                    .asString(all))
            + "\n");
  }
}
