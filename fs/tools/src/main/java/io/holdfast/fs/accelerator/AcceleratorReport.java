package io.holdfast.fs.accelerator;

import io.holdfast.fs.units.Columns;
import io.holdfast.fs.units.Human;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * The results of {@link AcceleratorBench}, and what must be known to judge them. AU is that of
 * MLPerf Storage's definition, but no result of that benchmark: the notes tell which of its rules
 * the run does not keep. Immutable.
 */
public final class AcceleratorReport {
  /** The least steps that MLPerf Storage's rules want. */
  private static final long LEAST_STEPS = 500;

  /** How many times the host's memory the dataset has to be, by the same rules. */
  private static final int MEMORY_TIMES = 5;

  /** From this difference on, the dataset's samples are other ones than the workload's. */
  private static final double OTHER_SIZE = 0.1;

  private final AcceleratorBench.Plan plan;
  private final DatasetFiles files;
  private final List<Row> rows;
  private final boolean forgotten;
  private final boolean interrupted;

  /**
   * Creates a report.
   *
   * @param forgotten whether all of the source's pages were dropped before
   * @param interrupted whether somebody ended the run
   */
  AcceleratorReport(
      AcceleratorBench.Plan plan,
      DatasetFiles files,
      List<Row> rows,
      boolean forgotten,
      boolean interrupted) {
    this.plan = plan;
    this.files = files;
    this.rows = List.copyOf(rows);
    this.forgotten = forgotten;
    this.interrupted = interrupted;
  }

  /**
   * One measurement. AU, rates, steps, bytes and seconds leave out the first step of each
   * accelerator.
   *
   * @param utilization the mean AU, from 0 to 1; NaN if an accelerator had no second step
   * @param bytesPerSecond of all accelerators together; NaN like the AU
   * @param steps the steps of the accelerator that had the fewest
   * @param bytes the bytes of all steps together
   * @param seconds the longest time of an accelerator
   * @param readBytes all that was read, for first steps and ahead, too
   * @param fetchedBytes what the mount fetched for it from its origin and from peers; -1 for the
   *     source
   */
  record Row(
      Target target,
      int accelerators,
      double utilization,
      double bytesPerSecond,
      long steps,
      long bytes,
      double seconds,
      long readBytes,
      long fetchedBytes) {

    static Row of(Target target, int accelerators, Emulation.Outcome outcome, long fetchedBytes) {
      List<Accelerator.Usage> usages = outcome.usages();
      return new Row(
          target,
          accelerators,
          outcome.utilization(),
          outcome.bytesPerSecond(),
          usages.stream().mapToLong(Accelerator.Usage::steps).min().orElse(0),
          usages.stream().mapToLong(Accelerator.Usage::bytes).sum(),
          usages.stream().mapToDouble(Accelerator.Usage::seconds).max().orElse(0),
          outcome.bytesRead(),
          fetchedBytes);
    }

    boolean passes(Training training) {
      return utilization >= training.targetUtilization();
    }
  }

  /**
   * The state of machine and mount that the report's notes depend on.
   *
   * @param memoryBytes the memory of this host; 0 if unknown
   * @param hardPins whether the pages of residents are locked
   * @param residentBefore the share of the capacity that was in use before the run, from 0 to 1
   * @param residentAfter the same after it
   */
  public record Conditions(
      long memoryBytes, boolean hardPins, double residentBefore, double residentAfter) {}

  /** Shows everything as a table and lines, each with its end. */
  public String text(Conditions conditions) {
    StringBuilder text = new StringBuilder(heading());
    List<List<String>> table = new ArrayList<>();
    table.add(List.of("", "accelerators", "AU", "bytes/s", "steps", "from memory", ""));
    for (Row row : rows) {
      table.add(
          List.of(
              row.target().word(),
              Human.count(row.accelerators()),
              tenths(row.utilization()),
              Double.isNaN(row.bytesPerSecond())
                  ? "n/a"
                  : Human.bytes(Math.round(row.bytesPerSecond())) + "/s",
              Human.count(row.steps()),
              row.fetchedBytes() < 0 ? "" : percent(fromMemory(row)),
              result(row)));
    }
    text.append(Columns.aligned(table)).append('\n');
    for (Target target : plan.targets()) {
      kept(target).ifPresent(most -> text.append(keeps(target, most)));
    }
    notes(conditions).forEach(note -> text.append("note: ").append(note).append('\n'));
    return text.toString();
  }

  private String result(Row row) {
    if (Double.isNaN(row.utilization())) {
      return "not measured";
    }
    return row.passes(plan.training()) ? "passes" : "too slow";
  }

  private String heading() {
    Training training = plan.training();
    String samples =
        training.recordBytes() == 0 ? "files" : "records of " + Human.bytes(training.recordBytes());
    return String.format(
        Locale.ROOT,
        "%s%s: batches of %s %s, %s ms each, %s per accelerator, which takes %s/s; target AU %s%n"
            + "%s%s, %s; seed %d%n%n",
        training.workload(),
        training.type().isEmpty() ? "" : " on " + training.type(),
        Human.count(training.batch()),
        samples,
        millis(training.computeNanos()),
        Human.count(training.workers(), "reader"),
        Human.bytes(Math.round(training.demand(files.meanSampleBytes()))),
        percent(training.targetUtilization()),
        files.isComplete() ? "" : "a part of the dataset: ",
        Human.count(files.count(), "file"),
        Human.bytes(files.bytes()),
        plan.seed());
  }

  /** Returns the largest number of accelerators that passed; empty if nothing was measured. */
  private OptionalInt kept(Target target) {
    List<Row> measured =
        rows.stream()
            .filter(row -> row.target() == target && !Double.isNaN(row.utilization()))
            .toList();
    return measured.isEmpty()
        ? OptionalInt.empty()
        : OptionalInt.of(
            measured.stream()
                .filter(row -> row.passes(plan.training()))
                .mapToInt(Row::accelerators)
                .max()
                .orElse(0));
  }

  private String keeps(Target target, int most) {
    String number =
        most > 0
            ? (most == plan.most() ? "at least " : "") + Human.count(most, "accelerator")
            : plan.fewest() == 1
                ? "no accelerator"
                : "fewer than " + Human.count(plan.fewest(), "accelerator");
    return "%s keeps %s at an AU of %s%n"
        .formatted(target.word(), number, percent(plan.training().targetUtilization()));
  }

  /**
   * Returns everything as nested maps. Rates are per second, shares from 0 to 1; a result that was
   * not measured is null.
   */
  public Map<String, @Nullable Object> json(Conditions conditions) {
    Training training = plan.training();
    Map<String, @Nullable Object> all = new LinkedHashMap<>();
    all.put("workload", training.workload());
    all.put("accelerator_type", training.type().isEmpty() ? null : training.type());
    all.put("record_bytes", training.recordBytes() == 0 ? null : training.recordBytes());
    all.put("batch", training.batch());
    all.put("compute_seconds", training.computeNanos() / 1e9);
    all.put("workers", training.workers());
    all.put("target_au", training.targetUtilization());
    all.put("files", files.count());
    all.put("dataset_bytes", files.bytes());
    all.put("complete", files.isComplete());
    all.put("seed", plan.seed());
    all.put("interrupted", interrupted);
    all.put("rows", rows.stream().map(this::json).toList());
    List<Map<String, Object>> kept = new ArrayList<>();
    for (Target target : plan.targets()) {
      kept(target)
          .ifPresent(
              most -> {
                Map<String, Object> one = new LinkedHashMap<>();
                one.put("target", target.word());
                one.put("accelerators", most);
                kept.add(one);
              });
    }
    all.put("kept", kept);
    all.put("notes", notes(conditions));
    return all;
  }

  private Map<String, @Nullable Object> json(Row row) {
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("target", row.target().word());
    json.put("accelerators", row.accelerators());
    json.put("au", rounded(row.utilization()));
    json.put(
        "bytes_per_second",
        Double.isNaN(row.bytesPerSecond()) ? null : Math.round(row.bytesPerSecond()));
    json.put("passes", Double.isNaN(row.utilization()) ? null : row.passes(plan.training()));
    json.put("steps", row.steps());
    json.put("seconds", rounded(row.seconds()));
    json.put("bytes", row.bytes());
    json.put("read_bytes", row.readBytes());
    json.put("fetched_bytes", row.fetchedBytes() < 0 ? null : row.fetchedBytes());
    return json;
  }

  /** Returns what a reader of the figures has to know. */
  List<String> notes(Conditions conditions) {
    List<String> notes = new ArrayList<>();
    if (interrupted) {
      notes.add("the run was ended before its time: the figures are of the part until then");
    }
    if (rows.stream().anyMatch(row -> Double.isNaN(row.utilization()))) {
      notes.add("an accelerator did not get a second batch: give more --time, or fewer");
    }
    addDataset(notes);
    addMount(notes, conditions);
    addRules(notes, conditions);
    return notes;
  }

  private void addDataset(List<String> notes) {
    long wanted = plan.training().sampleBytes();
    double mean = files.meanSampleBytes();
    if (wanted > 0 && Math.abs(mean / wanted - 1) > OTHER_SIZE) {
      notes.add(
          "samples of the dataset have %s on average, those of %s %s: the AU is that of the dataset"
              .formatted(
                  Human.bytes(Math.round(mean)), plan.training().workload(), Human.bytes(wanted)));
    }
    if (files.tooSmall() > 0) {
      notes.add(
          Human.count(files.tooSmall(), "file")
              + " left out: smaller than a record of "
              + Human.bytes(plan.training().recordBytes()));
    }
    if (!forgotten) {
      notes.add(
          "the time was too short to drop all of the source from the page cache, so it may seem"
              + " faster than it is: give more --time");
    }
  }

  private void addMount(List<String> notes, Conditions conditions) {
    if (plan.targets().contains(Target.MOUNT)
        && conditions.residentAfter() - conditions.residentBefore() > 0.01) {
      notes.add(
          "the capacity was %s full before the run and %s after it: later epochs are faster;"
                  .formatted(
                      percent(conditions.residentBefore()), percent(conditions.residentAfter()))
              + " run 'holdfast warm' first");
    }
  }

  /** Tells how the run differs from one by the rules of MLPerf Storage. */
  private void addRules(List<String> notes, Conditions conditions) {
    notes.add(
        "AU as MLPerf Storage defines it, but no result of that benchmark, whose rules want a"
            + " warm-up and five runs");
    rows.stream()
        .mapToLong(Row::steps)
        .min()
        .ifPresent(
            steps -> {
              if (steps < LEAST_STEPS) {
                notes.add(
                    "the rules want at least %d steps, there were %d"
                        .formatted(LEAST_STEPS, steps));
              }
            });
    if (files.bytes() / MEMORY_TIMES < conditions.memoryBytes()) {
      notes.add(
          "the rules want a dataset of at least %d times the host's memory of %s, this one has %s"
              .formatted(
                  MEMORY_TIMES, Human.bytes(conditions.memoryBytes()), Human.bytes(files.bytes())));
    }
    if (plan.targets().contains(Target.MOUNT) && conditions.hardPins()) {
      notes.add(
          "the rules want caches dropped before each epoch (3.0): the mount's residents are pinned"
              + " and survive that");
    }
  }

  /** Returns the share of the bytes that needed no fetch. */
  private static double fromMemory(Row row) {
    return row.readBytes() == 0
        ? Double.NaN
        : Math.max(0, 1 - (double) row.fetchedBytes() / row.readBytes());
  }

  private static String percent(double share) {
    return Double.isNaN(share) ? "n/a" : String.format(Locale.ROOT, "%.0f %%", 100 * share);
  }

  private static String tenths(double share) {
    return Double.isNaN(share) ? "n/a" : String.format(Locale.ROOT, "%.1f %%", 100 * share);
  }

  private static String millis(long nanos) {
    return BigDecimal.valueOf(nanos, 6).stripTrailingZeros().toPlainString();
  }

  private static @Nullable Double rounded(double value) {
    return Double.isNaN(value) ? null : Math.round(value * 10_000) / 10_000.0;
  }
}
