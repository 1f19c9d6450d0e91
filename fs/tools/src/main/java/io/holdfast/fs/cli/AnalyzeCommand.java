package io.holdfast.fs.cli;

import io.holdfast.fs.FsException;
import io.holdfast.fs.analyze.Analysis;
import io.holdfast.fs.analyze.AnalysisJson;
import io.holdfast.fs.analyze.AnalysisPage;
import io.holdfast.fs.analyze.AnalysisPlot;
import io.holdfast.fs.analyze.AnalysisText;
import io.holdfast.fs.analyze.Subject;
import io.holdfast.fs.analyze.run.AnalyzedMount;
import io.holdfast.fs.analyze.run.AnalyzedRuns;
import io.holdfast.fs.analyze.run.JobSearch;
import io.holdfast.fs.client.Targets;
import io.holdfast.fs.control.RunningDaemon;
import io.holdfast.fs.figures.Figures;
import io.holdfast.fs.figures.JobsFigures.Job;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.plot.Picture;
import io.holdfast.fs.plot.PlotFile;
import io.holdfast.fs.plot.WholeFile;
import io.holdfast.fs.throughput.Observation;
import io.holdfast.fs.throughput.Runs;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code holdfast analyze}: tells what a job waits for, and what would make it faster. */
@Command(
    name = "analyze",
    sortOptions = false,
    customSynopsis = {
      "holdfast analyze [OPTIONS] [--job JOB] [MOUNTPOINT|NAME]",
      "       holdfast analyze [OPTIONS] [--measure] [MOUNTPOINT|NAME] -- COMMAND..."
    },
    header = "Tell what a job waits for, and what would make it faster.",
    description = {
      "",
      "Shows for each epoch of a job, running or past, how much of their time its readers were"
          + " blocked by the origin and by peers, how much they prepared what they had read, and"
          + " how much they waited until somebody took it. From this come the rates of origin,"
          + " peers, preparation and accelerator, and the speed with other memory, nodes, origin,"
          + " workers or accelerator. Asks the daemon's socket and never the mount.",
      "",
      "With -- COMMAND it runs the command and reports it. The exit code is the command's if that"
          + " failed, 127 if there is no such command, 126 if it cannot be run. A command that was"
          + " ended gives a report of what was seen until then.",
      "",
      "With --measure the command runs twice more: with what it reads in memory, as far as"
          + " --memory lets the capacity grow, and with little memory. So rates are measured that"
          + " are inferred otherwise. The capacity is then what it was before; what is in memory"
          + " need not be the same."
    },
    parameterListHeading = "%nArguments:%n",
    optionListHeading = "%nOptions:%n",
    footerHeading = "%nExamples:%n",
    footer = {
      "  holdfast analyze",
      "  holdfast analyze /data/imagenet --job /slurm/job_811 --html report.html",
      "  holdfast analyze -- python3 train.py --epochs 3",
      "  holdfast analyze data-imagenet --measure --plot report.svg -- python3 train.py",
      "  holdfast analyze --json | jq .knee_capacity_share"
    })
final class AnalyzeCommand implements Callable<Integer> {
  private static final double LARGEST_COLD = 0.95;

  private final CliContext context;

  @Spec private @Nullable CommandSpec spec;

  @Parameters(
      arity = "0..*",
      hideParamSyntax = true,
      paramLabel = "[MOUNTPOINT|NAME] [-- COMMAND...]",
      description = {
        "Which mount: by default the only one. And a command to run, with its arguments."
      })
  private List<String> words = new ArrayList<>();

  @Option(
      names = "--job",
      paramLabel = "JOB",
      description = {
        "Which job, by its name in 'holdfast stats --jobs' or a part of it. Default: the one with"
            + " the most opens, of those that run if any does, or the one that COMMAND is."
      })
  private @Nullable String job;

  @Option(names = "--measure", description = "Run COMMAND again, with much memory and with little.")
  private boolean measure;

  @Option(
      names = "--cold",
      paramLabel = "SHARE",
      description =
          "The share of what COMMAND reads that is in memory in its run with little, from 0 to"
              + " 0.95. Default: 0.35.")
  private @Nullable Double cold;

  @Option(
      names = "--plot",
      paramLabel = "FILE",
      description = "Also a picture, .png or .svg: time of each epoch, and speed over memory.")
  private @Nullable String plot;

  @Option(
      names = "--html",
      paramLabel = "FILE",
      description = "Also a page that needs nothing else, to send to a colleague.")
  private @Nullable String html;

  @Mixin private final CommandOutput output = new CommandOutput();

  AnalyzeCommand(CliContext context) {
    this.context = context;
  }

  /** Where pictures go. */
  private record Outputs(@Nullable PlotFile plot, @Nullable WholeFile html) {}

  @Override
  public Integer call() throws IOException {
    List<String> command = context.commandBehindOptions(spec);
    List<String> mount = words.subList(0, words.size() - command.size());
    check(mount, command);
    Outputs outputs = outputs();
    Targets targets = context.targets();
    RunningDaemon daemon = mount.isEmpty() ? targets.only() : targets.get(mount.get(0));
    AnalyzedMount analyzed = new AnalyzedMount(context, daemon, output.err());
    if (command.isEmpty()) {
      write(ofJob(analyzed), outputs);
      return 0;
    }
    return run(analyzed, command, outputs);
  }

  private void check(List<String> mount, List<String> command) {
    boolean ends = context.parsed(spec).originalArgs().contains(CliContext.END_OF_OPTIONS);
    if (mount.size() > 1) {
      throw CliException.usage(
          "too many arguments: '" + mount.get(1) + "' is not expected; put -- before a command");
    }
    if (ends && (command.isEmpty() || command.get(0).isEmpty())) {
      throw CliException.usage("no command behind --: give one, or leave -- out");
    }
    if ((measure || cold != null) && command.isEmpty()) {
      throw CliException.usage(
          (measure ? "--measure" : "--cold") + " runs a command: give one behind --");
    }
    if (cold != null && !measure) {
      throw CliException.usage("--cold is for --measure: give it too");
    }
    if (cold != null && !(cold >= 0 && cold <= LARGEST_COLD)) {
      throw CliException.usage("--cold '" + cold + "' is not from 0 to " + LARGEST_COLD);
    }
  }

  private Outputs outputs() throws FsException {
    try {
      PlotFile picture = plot == null ? null : PlotFile.of(plot);
      if (picture != null) {
        Picture.requireFonts("--plot");
      }
      try {
        WholeFile page = html == null ? null : WholeFile.of(html);
        if (page != null) {
          Picture.requireFonts("--html");
        }
        return new Outputs(picture, page);
      } catch (IllegalArgumentException e) {
        throw CliException.usage("--html " + e.getMessage(), e);
      }
    } catch (IllegalArgumentException e) {
      throw CliException.usage("--plot " + e.getMessage(), e);
    }
  }

  private Analysis ofJob(AnalyzedMount mount) {
    Figures figures = mount.figures();
    mount.requireCounts(figures);
    List<String> notes = new ArrayList<>();
    Job found;
    if (job == null) {
      found =
          JobSearch.busiest(figures)
              .orElseThrow(
                  () ->
                      CliException.couldNot(
                          "no job has read from "
                              + mount.mountpoint()
                              + " yet: start one, or run it with 'holdfast analyze -- COMMAND'"));
      int others = JobSearch.jobs(figures).size() - 1;
      if (others > 0) {
        notes.add(
            "of %d jobs this is the one with the most opens, or of those that run: --job names another"
                .formatted(others + 1));
      }
    } else {
      found = JobSearch.named(figures, job);
    }
    List<Observation> epochs = found.epochs().stream().map(Observation::of).toList();
    boolean first = !epochs.isEmpty() && epochs.get(0).epoch().epoch() == 1;
    boolean ended = found.endedSeconds().isPresent();
    Subject subject = mount.subject(figures, found.job(), epochs, OptionalDouble.empty());
    return Analysis.of(subject, Runs.of(epochs, first, ended), notes);
  }

  private int run(AnalyzedMount mount, List<String> command, Outputs outputs) throws IOException {
    mount.requireCounts(mount.figures());
    AnalyzedRuns runs =
        new AnalyzedRuns(context, mount, new AnalyzedRuns.Plan(command, job, output.isJson()));
    try {
      return report(mount, runs, command, outputs);
    } catch (CliException | FsException e) {
      if (runs.exit() == 0) {
        throw e;
      }
      // a script that asks whether the command has failed is told so, whatever the daemon does
      throw new CliException(runs.exit(), String.valueOf(e.getMessage()));
    }
  }

  private int report(AnalyzedMount mount, AnalyzedRuns runs, List<String> command, Outputs outputs)
      throws IOException {
    AnalyzedRuns.Run first = runs.run();
    int exit = first.run().exit();
    if (first.epochs().isEmpty()) {
      first.notes().forEach(output::note);
      output.note(
          "'%s' has read nothing from %s: check which paths it reads"
              .formatted(command.get(0), mount.mountpoint()));
      return exit == 0 ? CliException.COULD_NOT : exit;
    }
    Analysis analysis;
    if (!measure) {
      analysis = runs.analysis(first);
    } else if (exit != 0 || first.run().interrupted()) {
      analysis = runs.analysis(first, "it was not run again, because it failed");
    } else if (first.runs().mean().isEmpty()) {
      analysis =
          runs.analysis(first, "it was not run again, because it opened files without bytes");
    } else {
      analysis = runs.measured(first, cold == null ? AnalyzedRuns.COLD : cold);
    }
    write(analysis, outputs);
    return runs.exit();
  }

  /** Prints first: a command that took hours is reported, too, if a picture finds no room. */
  private void write(Analysis analysis, Outputs outputs) throws IOException {
    if (output.isJson()) {
      output.jsonWithNulls(AnalysisJson.of(analysis));
    } else {
      output.text(AnalysisText.of(analysis));
    }
    if (outputs.plot() != null) {
      outputs.plot().write(new AnalysisPlot(analysis).picture());
    }
    if (outputs.html() != null) {
      try {
        outputs.html().write(AnalysisPage.of(analysis));
      } catch (IOException e) {
        throw CliException.couldNot(
            "the page '" + outputs.html().path() + "' cannot be written: " + e.getMessage(), e);
      }
    }
  }
}
