package io.holdfast.fs.control;

import io.holdfast.fs.figures.ProcessFigures;
import io.holdfast.fs.units.Human;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A row about processes for people: one process, or all ended processes of one command and job,
 * since a loop in a shell leaves thousands. Immutable.
 *
 * @param pid the process; for several ended processes, any of them
 * @param count the number of processes
 */
record ProcessRow(
    String job,
    String command,
    long pid,
    long count,
    long opens,
    long misses,
    long fetchedBytes,
    double stallSeconds) {

  /**
   * Folds the rows of {@code stats.json}, in the order of the first process of each.
   *
   * @param processes as in {@code processes}
   */
  static List<ProcessRow> of(List<ProcessFigures> processes) {
    List<ProcessRow> rows = new ArrayList<>();
    Map<List<String>, Integer> folded = new HashMap<>();
    for (ProcessFigures each : processes) {
      ProcessRow row = of(each);
      Integer at = each.ended() ? folded.get(List.of(row.job, row.command)) : null;
      if (at != null) {
        rows.set(at, rows.get(at).with(row));
      } else {
        if (each.ended()) {
          folded.put(List.of(row.job, row.command), rows.size());
        }
        rows.add(row);
      }
    }
    return rows;
  }

  private static ProcessRow of(ProcessFigures process) {
    return new ProcessRow(
        process.job(),
        process.command(),
        process.pid(),
        1,
        process.opens(),
        process.misses(),
        process.fetchedBytes(),
        process.stallSeconds());
  }

  private ProcessRow with(ProcessRow other) {
    return new ProcessRow(
        job,
        command,
        pid,
        count + other.count,
        opens + other.opens,
        misses + other.misses,
        fetchedBytes + other.fetchedBytes,
        stallSeconds + other.stallSeconds);
  }

  /** Returns the pid, or how many processes have ended. */
  String number() {
    return count == 1 ? Long.toString(pid) : Human.grouped(count) + " ended";
  }
}
