package io.holdfast.fs.analyze;

import io.holdfast.fs.figures.Bottleneck;
import io.holdfast.fs.figures.JobsFigures.Split;
import io.holdfast.fs.throughput.JobModel;
import io.holdfast.fs.throughput.Observation;
import io.holdfast.fs.throughput.Rates;
import io.holdfast.fs.throughput.Setup;
import io.holdfast.fs.throughput.WhatIf;
import io.holdfast.fs.units.Columns;
import io.holdfast.fs.units.Human;
import io.holdfast.fs.units.Visible;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.ToDoubleFunction;

/** A report for people. Stateless. */
public final class AnalysisText {
  static final List<String> EPOCH_HEADING =
      List.of(
          "epoch",
          "time",
          "bytes",
          "speed",
          "from memory",
          "origin",
          "peers",
          "preparation",
          "back-pressure",
          "waits for");

  static final List<String> WHAT_IF_HEADING = List.of("if", "speed", "epoch", "gain");

  /** Of the steps of the capacity, each so manieth is shown. */
  private static final int SHOWN_STEP = 4;

  /** A rate that is less than this part of another is lower. */
  private static final double CLEARLY = 0.95;

  private AnalysisText() {}

  /** Returns lines, each with its end. */
  public static String of(Analysis analysis) {
    StringBuilder text = new StringBuilder();
    text.append(Visible.of(title(analysis))).append("\n\n");
    text.append(Columns.aligned(withHeading(EPOCH_HEADING, epochs(analysis))));
    List<String> reasons = reasons(analysis);
    if (!reasons.isEmpty()) {
      text.append('\n');
      reasons.forEach(line -> text.append(Visible.of(line)).append('\n'));
    }
    analysis
        .model()
        .ifPresent(
            model ->
                text.append('\n')
                    .append(Columns.aligned(rates(model.rates())))
                    .append('\n')
                    .append(
                        Columns.aligned(withHeading(WHAT_IF_HEADING, whatIf(analysis, model)))));
    text.append('\n').append(Visible.of(analysis.advice())).append('\n');
    analysis.notes().forEach(note -> text.append("Note: ").append(Visible.of(note)).append(".\n"));
    return text.toString();
  }

  /** Returns what it is about. */
  static String title(Analysis analysis) {
    return "Job " + analysis.subject().job() + " at " + analysis.subject().mount();
  }

  private static List<List<String>> withHeading(List<String> heading, List<List<String>> rows) {
    List<List<String>> all = new ArrayList<>();
    all.add(heading);
    all.addAll(rows);
    return all;
  }

  /** Returns a row for each epoch. */
  static List<List<String>> epochs(Analysis analysis) {
    List<Observation> steady = analysis.runs().steady();
    return analysis.runs().epochs().stream()
        .map(
            seen ->
                epoch(
                    seen,
                    steady.contains(seen) ? "" : "*",
                    seen.doubt(analysis.subject().datasetBytes()).isEmpty()))
        .toList();
  }

  private static List<String> epoch(Observation seen, String mark, boolean tellsHits) {
    return List.of(
        seen.epoch().epoch() + mark,
        time(seen.epoch().seconds()),
        Human.bytes(seen.epoch().bytes()),
        rate(seen.speed()),
        tellsHits ? percent(seen.hitShare() - seen.peerShare()) : "-",
        share(seen, Split::fetchOrigin),
        share(seen, Split::fetchPeer),
        share(seen, Split::preparation),
        share(seen, Split::backPressure),
        words(seen.finding().verdict()));
  }

  private static String share(Observation seen, ToDoubleFunction<Split> part) {
    return seen.shares().map(shares -> percent(part.applyAsDouble(shares))).orElse("-");
  }

  static String words(Bottleneck verdict) {
    return switch (verdict) {
      case STORAGE -> "storage";
      case PREPARATION -> "preparation";
      case ACCELERATOR -> "the accelerator";
      case UNKNOWN -> "cannot be told";
    };
  }

  /** Returns why, and what the marks mean. */
  static List<String> reasons(Analysis analysis) {
    List<String> lines = new ArrayList<>();
    List<Observation> epochs = analysis.runs().epochs();
    List<Observation> steady = analysis.runs().steady();
    if (!epochs.isEmpty()) {
      Observation told =
          steady.isEmpty() ? epochs.get(epochs.size() - 1) : Observation.mean(steady);
      lines.add(
          (told.waitsFor(Bottleneck.UNKNOWN)
                  ? "What it waits for cannot be told"
                  : "It waits for " + words(told.finding().verdict()))
              + ": "
              + told.finding().reason()
              + ".");
      analysis.model().flatMap(model -> together(model, told)).ifPresent(lines::add);
    }
    if (steady.size() < epochs.size()) {
      lines.add("* set apart: rates are those of the other epochs.");
    }
    return lines;
  }

  /**
   * What readers do most need not be what limits all of them: where they wait for processors at the
   * same moments, there may be enough of them on the whole.
   */
  private static Optional<String> together(JobModel model, Observation told) {
    double files = model.fetchRate();
    double prepared = model.rates().preparation().orElse(Double.POSITIVE_INFINITY);
    if (Double.isInfinite(files) || Double.isInfinite(prepared)) {
      return Optional.empty(); // one of the two is not known
    }
    boolean storage = told.waitsFor(Bottleneck.PREPARATION) && files < CLEARLY * prepared;
    boolean preparation = told.waitsFor(Bottleneck.STORAGE) && prepared < CLEARLY * files;
    if (!storage && !preparation) {
      return Optional.empty();
    }
    return Optional.of(
        "All readers together are limited by %s, though: files come at up to %s, and can be prepared at %s."
            .formatted(storage ? "storage" : "preparation", rate(files), rate(prepared)));
  }

  /** Returns a row for each rate. */
  static List<List<String>> rates(Rates rates) {
    return List.of(
        List.of(
            "origin",
            rates.originAtLeast().isPresent()
                ? "at least " + told(rates.originAtLeast())
                : told(rates.origin())),
        List.of("peers", told(rates.peer())),
        List.of("memory", told(rates.memory())),
        List.of("preparation", told(rates.preparation()) + perCore(rates)),
        List.of(
            "accelerator",
            (rates.acceleratorIsLimit() ? "" : "at least ") + told(rates.accelerator())));
  }

  private static String perCore(Rates rates) {
    return rates.perProcessor().isPresent()
        ? ", %s with each CPU core; enough with %s"
            .formatted(
                rate(rates.perProcessor().getAsDouble()), Human.count(rates.processors(), "worker"))
        : "";
  }

  private static String told(OptionalDouble rate) {
    return rate.isPresent() ? rate(rate.getAsDouble()) : "-";
  }

  /** Returns a row for each change that is shown. */
  static List<List<String>> whatIf(Analysis analysis, JobModel model) {
    List<List<String>> rows = new ArrayList<>();
    Observation now = model.now();
    double speed = model.speed(model.setup()).orElse(now.speed());
    rows.add(List.of("as it is", rate(now.speed()), time(now.epoch().seconds()), ""));
    int step = 0;
    for (WhatIf row : analysis.whatIf()) {
      if (row.change() == WhatIf.Change.CAPACITY && step++ % SHOWN_STEP != 0) {
        continue;
      }
      double than = row.change() == WhatIf.Change.WARM ? firstSpeed(analysis, speed) : speed;
      rows.add(
          List.of(
              change(row, model.setup()),
              (row.isAtLeast() ? "at least " : "") + rate(row.speed()),
              (row.isAtLeast() ? "at most " : "") + time(row.epochSeconds()),
              (row.isAtLeast() ? "at least " : "")
                  + String.format(Locale.ROOT, "%.2f", row.speed() / than)));
    }
    return rows;
  }

  /** Returns the speed of the first epoch, if it was one that fills memory. */
  private static double firstSpeed(Analysis analysis, double otherwise) {
    Observation first = analysis.runs().epochs().get(0);
    return analysis.runs().firstIsCold() && first.isMeasured() ? first.speed() : otherwise;
  }

  private static String change(WhatIf row, Setup now) {
    return switch (row.change()) {
      case CAPACITY ->
          percent(row.value()) + " in memory" + (now.nodes() > 1 ? " of each node" : "");
      case NODES -> Human.count(Math.round(row.value()), "node") + " share it";
      case ORIGIN -> "the origin twice as fast";
      case WORKERS -> Human.count(Math.round(row.value()), "worker");
      case ACCELERATOR -> "the accelerator twice as fast";
      case WARM -> "first epoch, warmed before";
    };
  }

  static String rate(double rate) {
    return Human.bytes(Math.round(rate)) + "/s";
  }

  static String time(double seconds) {
    return seconds < 60
        ? String.format(Locale.ROOT, "%.1f s", seconds)
        : Human.seconds(Math.round(seconds));
  }

  static String percent(double share) {
    return String.format(Locale.ROOT, "%.0f %%", 100 * share);
  }
}
