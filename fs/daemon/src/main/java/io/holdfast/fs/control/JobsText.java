package io.holdfast.fs.control;

import io.holdfast.fs.figures.Bottleneck;
import io.holdfast.fs.figures.Figures;
import io.holdfast.fs.figures.JobsFigures;
import io.holdfast.fs.figures.JobsFigures.Split;
import io.holdfast.fs.units.Columns;
import io.holdfast.fs.units.Human;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.function.ToDoubleFunction;

/** The jobs and processes of a mount as aligned tables for people. Stateless. */
public final class JobsText {
  private static final List<String> HEADING =
      List.of(
          "job",
          "processes",
          "opens",
          "misses",
          "hit ratio",
          "fetched",
          "stalled",
          "epoch",
          "its hit ratio",
          "waits for");

  private static final List<String> EPOCH_HEADING =
      List.of(
          "job",
          "epoch",
          "opens",
          "misses",
          "hit ratio",
          "stalled",
          "took",
          "origin",
          "peers",
          "preparation",
          "back-pressure");

  private JobsText() {}

  /**
   * Shows all jobs with their epochs and what each waits for, and all processes; ended processes of
   * the same command and job share a row.
   *
   * @return lines, each with its end
   */
  public static String of(Figures stats) {
    List<JobsFigures.Job> jobs = stats.jobs().jobs();
    if (jobs.isEmpty()) {
      return "no job has opened or fetched anything yet\n";
    }
    return String.join(
        "\n", jobs(jobs, Integer.MAX_VALUE), epochs(jobs), reasons(jobs), processes(stats));
  }

  /** Shows the first jobs, one line each, below a heading. */
  static String jobs(List<JobsFigures.Job> jobs, int most) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(HEADING);
    for (JobsFigures.Job job : jobs.subList(0, Math.min(most, jobs.size()))) {
      List<JobsFigures.Epoch> epochs = job.epochs();
      rows.add(
          List.of(
              job.job(),
              Human.grouped(job.processes()),
              Human.grouped(job.opens()),
              Human.grouped(job.misses()),
              ratio(job.hitRatio()),
              Human.bytes(job.fetchedBytes()),
              seconds(job.stallSeconds()),
              epochs.isEmpty() ? "-" : Long.toString(job.epoch()),
              epochs.isEmpty() ? "-" : ratio(epochs.get(epochs.size() - 1).hitRatio()),
              waitsFor(job)));
    }
    return Columns.aligned(rows);
  }

  private static String epochs(List<JobsFigures.Job> jobs) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(EPOCH_HEADING);
    for (JobsFigures.Job job : jobs) {
      for (JobsFigures.Epoch epoch : job.epochs()) {
        rows.add(
            List.of(
                job.job(),
                Long.toString(epoch.epoch()),
                Human.grouped(epoch.opens()),
                Human.grouped(epoch.misses()),
                ratio(epoch.hitRatio()),
                seconds(epoch.stallSeconds()),
                seconds(epoch.seconds()),
                share(epoch, Split::fetchOrigin),
                share(epoch, Split::fetchPeer),
                share(epoch, Split::preparation),
                share(epoch, Split::backPressure)));
      }
    }
    return Columns.aligned(rows);
  }

  private static String share(JobsFigures.Epoch epoch, ToDoubleFunction<Split> part) {
    return epoch
        .shares()
        .map(shares -> Math.round(100 * part.applyAsDouble(shares)) + " %")
        .orElse("-");
  }

  private static String reasons(List<JobsFigures.Job> jobs) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("job", "waits for", "because"));
    for (JobsFigures.Job job : jobs) {
      rows.add(List.of(job.job(), waitsFor(job), job.reason().isEmpty() ? "-" : job.reason()));
    }
    return Columns.aligned(rows);
  }

  private static String waitsFor(JobsFigures.Job job) {
    return job.verdict().isEmpty() || job.verdict().equals(Bottleneck.UNKNOWN.word())
        ? "-"
        : job.verdict();
  }

  private static String processes(Figures all) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("process", "command", "opens", "misses", "fetched", "stalled", "job"));
    for (ProcessRow process : ProcessRow.of(all.processes())) {
      rows.add(
          List.of(
              process.number(),
              process.command(),
              Human.grouped(process.opens()),
              Human.grouped(process.misses()),
              Human.bytes(process.fetchedBytes()),
              seconds(process.stallSeconds()),
              process.job()));
    }
    return Columns.aligned(rows);
  }

  private static String ratio(OptionalDouble ratio) {
    return ratio.isPresent() ? Human.ratio(ratio.getAsDouble()) : "-";
  }

  private static String seconds(double seconds) {
    return String.format(Locale.ROOT, "%.1f s", seconds);
  }
}
