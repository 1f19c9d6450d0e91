package io.holdfast.fs.bench;

import io.holdfast.fs.units.Columns;
import io.holdfast.fs.units.Human;
import io.holdfast.fs.units.Level;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * The results of {@link Bench}, rated. Residents are compared with the same files in the page cache
 * at the origin, which shows the speed of memory here. Other files are compared with the origin
 * without its page cache. Immutable.
 */
public final class BenchReport {
  private static final double GOOD = 0.7;
  private static final double FAIR = 0.4;

  private final Map<Workload, Bench.Figures> figures;
  private final int files;
  private final double residentShare;
  private final long failures;

  BenchReport(
      Map<Workload, Bench.Figures> figures, int files, double residentShare, long failures) {
    this.figures = figures;
    this.files = files;
    this.residentShare = residentShare;
    this.failures = failures;
  }

  /**
   * The part of the dataset that can be resident.
   *
   * @param plannedHitRatio the share of the dataset that fits the capacity, from 0 to 1
   * @param hardPins whether the pages of residents are locked
   */
  public record Capacity(double plannedHitRatio, boolean hardPins) {}

  /**
   * A judgement.
   *
   * @param level how good it is; null if there is nothing to compare with
   * @param reason why, and what to do about it
   */
  record Verdict(@Nullable Level level, String reason) {}

  /** Shows everything as a table and lines, each with its end. */
  public String text(Capacity capacity, BiFunction<Level, String, String> paint) {
    StringBuilder text = new StringBuilder();
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("", "mount", "source, cold", "source, cached", "ratio"));
    List<Verdict> verdicts = new ArrayList<>();
    for (Workload task : Workload.values()) {
      Bench.Figures measured = figures.get(task);
      if (measured == null) {
        rows.add(List.of(task.words(), "none in the sample", "", "", ""));
        verdicts.add(new Verdict(null, ""));
      } else {
        rows.add(
            List.of(
                task.words(),
                shown(task, measured.mount()),
                shown(task, measured.cold()),
                shown(task, measured.warm()),
                ratioText(ratio(task, measured))));
        verdicts.add(verdict(task, measured));
      }
    }
    List<String> lines = Columns.aligned(rows).lines().toList();
    int width = lines.stream().mapToInt(String::length).max().orElse(0);
    for (int i = 0; i < lines.size(); i++) {
      Level level = i == 0 ? null : verdicts.get(i - 1).level();
      String line = lines.get(i);
      text.append(line);
      if (level != null) {
        text.append(" ".repeat(width - line.length() + 2)).append(paint.apply(level, level.word()));
      }
      text.append('\n');
    }
    text.append('\n');
    all(capacity).stream()
        .filter(verdict -> !verdict.reason().isEmpty())
        .forEach(
            verdict -> {
              Level level = verdict.level();
              text.append(level == null ? "note" : paint.apply(level, level.word()));
              text.append(": ").append(verdict.reason()).append('\n');
            });
    return text.toString();
  }

  /**
   * Returns everything as nested maps. Rates are per second; a result that was not measured is
   * null.
   */
  public Map<String, @Nullable Object> json(Capacity capacity) {
    List<Map<String, @Nullable Object>> rows = new ArrayList<>();
    figures.forEach(
        (task, measured) -> {
          Verdict verdict = verdict(task, measured);
          Map<String, @Nullable Object> row = new LinkedHashMap<>();
          row.put("what", task.words());
          row.put("unit", task.unit());
          row.put("mount", rounded(measured.mount()));
          row.put("origin_cold", rounded(measured.cold()));
          row.put("origin_cached", rounded(measured.warm()));
          row.put("ratio", rounded(ratio(task, measured)));
          row.put("level", word(verdict));
          row.put("reason", verdict.reason());
          rows.add(row);
        });
    Map<String, @Nullable Object> all = new LinkedHashMap<>();
    all.put("files", files);
    all.put("resident_share", rounded(residentShare));
    all.put("failures", failures);
    all.put("rows", rows);
    List<Map<String, @Nullable Object>> notes = new ArrayList<>();
    for (Verdict verdict : whole(capacity)) {
      Map<String, @Nullable Object> note = new LinkedHashMap<>();
      note.put("level", word(verdict));
      note.put("reason", verdict.reason());
      notes.add(note);
    }
    all.put("notes", notes);
    return all;
  }

  private static @Nullable String word(Verdict verdict) {
    Level level = verdict.level();
    return level == null ? null : level.word();
  }

  private List<Verdict> all(Capacity capacity) {
    List<Verdict> all = new ArrayList<>();
    figures.forEach((task, measured) -> all.add(verdict(task, measured)));
    all.addAll(whole(capacity));
    return all;
  }

  /** Returns the notes about the mount as a whole. */
  List<Verdict> whole(Capacity capacity) {
    List<Verdict> notes = new ArrayList<>();
    double planned = capacity.plannedHitRatio();
    if (residentShare < FAIR * planned) {
      notes.add(
          new Verdict(
              Level.POOR,
              "%s of the sample is resident, %s of the dataset would fit: read it once, or run"
                      .formatted(percent(residentShare), percent(planned))
                  + " 'holdfast warm'"));
    } else if (planned < GOOD) {
      notes.add(
          new Verdict(
              planned < FAIR ? Level.POOR : Level.FAIR,
              "the capacity is for %s of the dataset, so %s is fetched in each epoch: raise"
                      .formatted(percent(planned), percent(1 - planned))
                  + " --capacity, or share memory with --peers"));
    }
    if (!capacity.hardPins()) {
      notes.add(
          new Verdict(
              Level.FAIR,
              "pins are soft, so memory pressure takes residents away: allow more locked memory"
                  + " (ulimit -l), or mount as root"));
    }
    if (failures > 0) {
      notes.add(
          new Verdict(
              Level.POOR,
              Human.count(failures, "read") + " failed: the daemon's log tells of the cause"));
    }
    return notes;
  }

  /** Returns the speed of the mount as a share of the speed that it is compared with. */
  private static double ratio(Workload task, Bench.Figures figures) {
    return figures.mount() / (task.resident() ? figures.warm() : figures.cold());
  }

  static Verdict verdict(Workload task, Bench.Figures figures) {
    double ratio = ratio(task, figures);
    if (Double.isNaN(ratio)) {
      return new Verdict(null, "");
    }
    if (ratio >= GOOD) {
      return new Verdict(Level.GOOD, "");
    }
    return new Verdict(
        ratio >= FAIR ? Level.FAIR : Level.POOR,
        task.words() + ": " + ratioText(ratio) + fix(task));
  }

  private static String fix(Workload task) {
    if (task.resident()) {
      return " of what this machine's page cache gives: 'holdfast doctor' looks for causes;"
          + " counting opens costs a tenth (--count-opens)";
    }
    return task.small()
        ? " of what the source gives: a fetch goes through the daemon, and pays only if the file is"
            + " resident from then on; 'holdfast stats' shows what fetches wait for"
        : " of what the source gives: raise --transit, which bounds what is fetched ahead";
  }

  private static String shown(Workload task, double rate) {
    if (Double.isNaN(rate)) {
      return "n/a";
    }
    long rounded = Math.round(rate);
    return task.small() ? Human.count(rounded) + " files/s" : Human.bytes(rounded) + "/s";
  }

  private static String ratioText(double ratio) {
    return Double.isNaN(ratio) ? "-" : "%.2f".formatted(ratio);
  }

  private static String percent(double share) {
    return Double.isNaN(share) ? "nothing" : Math.round(100 * share) + " %";
  }

  private static @Nullable Double rounded(double value) {
    return Double.isNaN(value) ? null : Math.round(value * 1000) / 1000.0;
  }
}
