package io.holdfast.fs.control;

import io.holdfast.fs.units.Columns;
import io.holdfast.fs.units.Human;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The jobs and processes of a mount as aligned tables for people. Takes the map of {@link
 * ControlCommands#stats()}. Stateless.
 */
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
          "its hit ratio");

  private JobsText() {}

  /**
   * Shows all jobs with their epochs, and all processes.
   *
   * @param stats as from {@link ControlCommands#stats()}
   * @return lines, each with its end
   */
  public static String of(Map<String, Object> stats) {
    Figures all = new Figures(stats);
    List<Figures> jobs = all.group("jobs").groups("jobs");
    if (jobs.isEmpty()) {
      return "no job has opened or fetched anything yet\n";
    }
    return jobs(jobs, Integer.MAX_VALUE) + "\n" + epochs(jobs) + "\n" + processes(all);
  }

  /** Shows the first jobs, a line each below a heading. */
  static String jobs(List<Figures> jobs, int most) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(HEADING);
    for (Figures job : jobs.subList(0, Math.min(most, jobs.size()))) {
      List<Figures> epochs = job.groups("epochs");
      Figures last = epochs.isEmpty() ? new Figures(Map.of()) : epochs.get(epochs.size() - 1);
      rows.add(
          List.of(
              job.text("job"),
              Human.grouped(job.number("processes")),
              Human.grouped(job.number("opens")),
              Human.grouped(job.number("misses")),
              ratio(job),
              Human.bytes(job.number("fetched_bytes")),
              seconds(job, "stall_seconds"),
              epochs.isEmpty() ? "-" : job.text("epoch"),
              ratio(last)));
    }
    return Columns.aligned(rows);
  }

  private static String epochs(List<Figures> jobs) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("job", "epoch", "opens", "misses", "hit ratio", "stalled", "took"));
    for (Figures job : jobs) {
      for (Figures epoch : job.groups("epochs")) {
        rows.add(
            List.of(
                job.text("job"),
                epoch.text("epoch"),
                Human.grouped(epoch.number("opens")),
                Human.grouped(epoch.number("misses")),
                ratio(epoch),
                seconds(epoch, "stall_seconds"),
                seconds(epoch, "seconds")));
      }
    }
    return Columns.aligned(rows);
  }

  private static String processes(Figures all) {
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("process", "command", "opens", "misses", "fetched", "stalled", "job"));
    for (Figures process : all.groups("processes")) {
      rows.add(
          List.of(
              process.text("pid"),
              process.text("command"),
              Human.grouped(process.number("opens")),
              Human.grouped(process.number("misses")),
              Human.bytes(process.number("fetched_bytes")),
              seconds(process, "stall_seconds"),
              process.text("job")));
    }
    return Columns.aligned(rows);
  }

  private static String ratio(Figures of) {
    return of.has("hit_ratio") ? Human.ratio(of.real("hit_ratio")) : "-";
  }

  private static String seconds(Figures of, String key) {
    return String.format(Locale.ROOT, "%.1f s", of.real(key));
  }
}
