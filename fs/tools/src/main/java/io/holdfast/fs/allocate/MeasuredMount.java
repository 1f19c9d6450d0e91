package io.holdfast.fs.allocate;

import io.holdfast.fs.analyze.Analysis;
import io.holdfast.fs.figures.Bottleneck;
import io.holdfast.fs.figures.DatasetFigures;
import io.holdfast.fs.figures.Figures;
import io.holdfast.fs.throughput.JobModel;
import io.holdfast.fs.throughput.Observation;
import io.holdfast.fs.throughput.WhatIf;
import java.util.List;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;

/**
 * Finds the rates of a mount in the analysis of its job. The demand curve is that of {@link
 * JobModel}, brought into the form that can be allocated by: S is the speed with nothing in memory,
 * m the speed with all of it, and C what comes nearest to the speeds between. For a job with ample
 * readers these are the rates of its origin, and of preparation or accelerator; a job with few of
 * them, which fetch and then prepare, is slower than its origin, and that is in S and C then.
 * Stateless.
 */
public final class MeasuredMount {
  /** A speed that is less than this part of the demand is not at its knee. */
  private static final double BELOW_KNEE = 0.98;

  private MeasuredMount() {}

  /**
   * Returns what is known of a mount.
   *
   * @param analysis of its job
   * @param epochs all that are known of the job: the longest tells what a pass reads
   * @throws ArithmeticException where figures are more than any machine can have
   */
  public static FoundMount of(
      Figures figures, Analysis analysis, List<Observation> epochs, Bounds bounds) {
    String name = figures.name();
    long capacity = figures.promisedBytes();
    JobModel model = analysis.model().orElse(null);
    Observation mean = analysis.runs().mean().orElse(null);
    if (model == null || mean == null) {
      return FoundMount.left(
          name, capacity, analysis.doubt().orElse("no epoch of its job was seen yet"));
    }
    if (mean.finding().verdict() == Bottleneck.UNKNOWN) {
      return FoundMount.left(name, capacity, mean.finding().reason());
    }
    long pass = dataset(figures.dataset(), epochs);
    if (pass <= 0) {
      return FoundMount.left(name, capacity, "the size of its dataset is not known yet");
    }
    long dataset = Math.max(pass, figures.cache().keptBytes()); // what is pinned stays
    List<WhatIf> curve =
        WhatIf.all(model.withLikelyOrigin()).stream()
            .filter(row -> row.change() == WhatIf.Change.CAPACITY)
            .toList();
    OptionalDouble none = speed(curve, 0);
    if (none.isEmpty()) {
      return FoundMount.left(
          name, capacity, "its origin has not been read: how fast that is cannot be told");
    }
    double seen = mean.speed();
    double demand = Math.max(seen, speed(curve, 1).orElse((double) PlanReader.MOST_RATE));
    Rates rates =
        new Rates(
            share(bounds, mean),
            whole(none.getAsDouble()),
            whole(memory(curve, none.getAsDouble(), demand)),
            whole(demand),
            bound(model));
    long least = Math.min(bounds.least(), dataset);
    PlannedMount mount =
        new PlannedMount(
            name,
            dataset,
            rates,
            new Capacity(capacity, least, Math.max(least, bounds.most()), bounds.weight()));
    double load = mean.epoch().originBytes() / mean.epoch().seconds();
    return FoundMount.measured(mount, bounds, load, analysis.subject().job())
        .withOriginGuessed(!model.isOriginTold());
  }

  /**
   * Returns the bytes of whole pages that a pass of the job reads; of all files before the first.
   */
  private static long dataset(DatasetFigures all, List<Observation> epochs) {
    long pass =
        epochs.subList(0, Math.max(0, epochs.size() - 1)).stream()
            .mapToLong(each -> each.epoch().bytes())
            .max()
            .orElse(0);
    boolean whole = pass <= 0 || (all.bytes() > 0 && pass > all.bytes());
    long bytes = whole ? all.bytes() : pass;
    return Math.max(0, all.pagesOf(bytes));
  }

  private static OptionalDouble speed(List<WhatIf> curve, double share) {
    return curve.stream()
        .filter(row -> row.value() == share)
        .mapToDouble(WhatIf::speed)
        .findFirst();
  }

  /**
   * Returns C: in 1 / v = x / C + (1 - x) / S, 1 / C is a slope, found by least squares below the
   * knee.
   */
  private static double memory(List<WhatIf> curve, double none, double demand) {
    double products = 0;
    double squares = 0;
    for (WhatIf row : curve) {
      double share = row.value();
      if (share > 0 && row.speed() < BELOW_KNEE * demand) {
        products += share * (1 / row.speed() - (1 - share) / none);
        squares += share * share;
      }
    }
    double perByte = squares == 0 ? 0 : products / squares;
    return perByte <= 0
        ? PlanReader.MOST_RATE
        : Math.min(PlanReader.MOST_RATE, Math.max(demand, 1 / perByte));
  }

  private static @Nullable OriginShare share(Bounds bounds, Observation seen) {
    long readers = Math.max(1, Math.min(OriginShare.MOST_READERS, seen.epoch().readers()));
    return bounds.origin() == null ? null : new OriginShare(bounds.origin(), readers);
  }

  private static Bottleneck bound(JobModel model) {
    OptionalDouble preparation = model.rates().preparation();
    if (model.rates().acceleratorIsLimit()) {
      double accelerator = model.rates().accelerator().orElseThrow();
      return preparation.orElse(Double.POSITIVE_INFINITY) < accelerator
          ? Bottleneck.PREPARATION
          : Bottleneck.ACCELERATOR;
    }
    return preparation.isPresent() ? Bottleneck.PREPARATION : Bottleneck.UNKNOWN;
  }

  private static long whole(double rate) {
    return Math.max(1, Math.min(PlanReader.MOST_RATE, Math.round(rate)));
  }
}
