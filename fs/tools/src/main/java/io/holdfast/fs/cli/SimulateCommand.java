package io.holdfast.fs.cli;

import com.fasterxml.jackson.jr.ob.JSON;
import io.holdfast.fs.FsException;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.plot.Picture;
import io.holdfast.fs.plot.PlotFile;
import io.holdfast.fs.simulate.Experiment;
import io.holdfast.fs.simulate.HitRatioPlot;
import io.holdfast.fs.simulate.Prediction;
import io.holdfast.fs.simulate.Report;
import io.holdfast.fs.units.Visible;
import io.holdfast.fs.workload.WorkloadReport;
import io.holdfast.policy.simulator.Run;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code holdfast simulate}: tells what a capacity would give, without a mount. */
@Command(
    name = "simulate",
    sortOptions = false,
    sortSynopsis = false,
    customSynopsis = {
      "holdfast simulate [OPTIONS] DIRECTORY",
      "       holdfast simulate [OPTIONS] --files N --size SIZE",
      "       holdfast simulate [OPTIONS] --trace FILE [DIRECTORY]",
      "       holdfast simulate [--policy NAMES] [--json] [--plot FILE] --jobs FILE"
    },
    header = "Tell what a capacity would give, before memory is bought.",
    description = {
      "",
      "Plays epochs of a training job over a dataset against cache policies, and shows for each"
          + " epoch how much came from memory. DIRECTORY is a dataset: only its names and sizes"
          + " are read.",
      "",
      "With a --jobs FILE: plays jobs on the nodes of a cluster, and shows for each way to divide"
          + " the nodes' memory among them how soon they end."
    },
    parameterListHeading = "%nArguments:%n",
    optionListHeading = "%nOptions:%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  holdfast simulate /data/imagenet",
      "  holdfast simulate /data/imagenet --capacity 64G,128G --policy minio,linux",
      "  holdfast simulate --files 1300000 --size lognormal:110K --plot hits.svg",
      "  holdfast simulate /data/imagenet --nodes 4 --capacity 20%% --policy minio",
      "  holdfast simulate /data/imagenet --origin-rate 500M --memory-rate 10G \\",
      "      --demand 900M",
      "  holdfast simulate --jobs jobs.json --plot jobs.svg"
    })
final class SimulateCommand implements Callable<Integer> {
  private final CliContext context;

  @Spec private @Nullable CommandSpec spec;

  @Parameters(
      arity = "0..1",
      paramLabel = "DIRECTORY",
      description = "A dataset, whose files' sizes are taken.")
  private @Nullable String directory;

  @ArgGroup(validate = false, exclusive = false)
  private SimulateOptions options = new SimulateOptions();

  SimulateCommand(CliContext context) {
    this.context = context;
  }

  @Override
  public Integer call() throws FsException, IOException {
    context.refuseRepeatedOptions(spec);
    if (options.output.json && options.output.csv) {
      throw CliException.usage("--json and --csv exclude each other: give one of them");
    }
    if (WorkloadSimulation.isAsked(options.reads.jobs)) {
      play(WorkloadSimulation.of(String.valueOf(options.reads.jobs), directory, options));
      return 0;
    }
    SimulateRequest request = new SimulateRequest(directory, options);
    PlotFile plot = plotFile();
    try {
      simulate(request, plot);
    } catch (OutOfMemoryError e) {
      throw CliException.couldNot(
          "so many items do not fit in the heap: raise it with HOLDFAST_HEAP, such as"
              + " HOLDFAST_HEAP=16g, or simulate a part of them",
          e);
    }
    return 0;
  }

  private void play(WorkloadSimulation simulation) throws FsException, IOException {
    PlotFile plot = plotFile();
    WorkloadReport report = simulation.report();
    if (plot != null) {
      WorkloadSimulation.draw(report, plot);
    }
    PrintWriter out = context.out(spec);
    if (options.output.json) {
      out.println(JSON.std.with(JSON.Feature.PRETTY_PRINT_OUTPUT).asString(report.json()));
    } else {
      out.print(report.text());
    }
    out.flush();
  }

  private @Nullable PlotFile plotFile() throws FsException {
    if (options.output.plot == null) {
      return null;
    }
    try {
      PlotFile plot = PlotFile.of(options.output.plot);
      Picture.requireFonts("--plot");
      return plot;
    } catch (IllegalArgumentException e) {
      throw CliException.usage("--plot " + e.getMessage());
    }
  }

  private void simulate(SimulateRequest request, @Nullable PlotFile plot) throws FsException {
    Experiment experiment = experiment(request);
    Prediction prediction =
        request.rates().map(rates -> new Prediction(rates, experiment.scenario())).orElse(null);
    List<Run> runs;
    List<Experiment.Curve> curves;
    try (SimulationProgress progress = progress(experiment, plot != null)) {
      runs = experiment.runs(progress);
      curves = plot == null ? List.of() : experiment.sweep(progress);
      progress.finish();
    }
    if (plot != null) {
      plot.write(new HitRatioPlot("Hit ratio of later epochs", curves).picture());
    }
    print(new Report(experiment.scenario(), runs, prediction));
  }

  private Experiment experiment(SimulateRequest request) throws FsException {
    PrintWriter err = context.err(spec);
    try {
      Experiment experiment =
          request.experiment(note -> err.println("holdfast: " + Visible.of(note)));
      err.flush();
      return experiment;
    } catch (IllegalArgumentException e) {
      throw CliException.usage(String.valueOf(e.getMessage()));
    }
  }

  private SimulationProgress progress(Experiment experiment, boolean sweeps) {
    int simulations = experiment.runCount() + (sweeps ? experiment.sweepCount() : 0);
    return SimulationProgress.of(
        experiment.scenario(), simulations, context.err(spec), context::errColumns);
  }

  private void print(Report report) {
    PrintWriter out = context.out(spec);
    if (options.output.json) {
      out.println(report.json());
    } else {
      out.print(options.output.csv ? report.csv() : report.text());
    }
    out.flush();
  }
}
