package io.holdfast.fs.daemon;

import io.holdfast.fs.figures.Bottleneck;
import io.holdfast.fs.figures.CurveFigures;
import io.holdfast.fs.figures.CurveFigures.Point;
import io.holdfast.fs.figures.Figures;
import io.holdfast.fs.figures.JobsFigures.Job;
import io.holdfast.fs.throughput.Evidence;
import io.holdfast.fs.throughput.JobModel;
import io.holdfast.fs.throughput.Observation;
import io.holdfast.fs.throughput.Runs;
import io.holdfast.fs.throughput.Setup;
import io.holdfast.fs.units.Human;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.TreeSet;

/**
 * The speed of a job by the share of what it reads that is in the memory of each node, as {@link
 * JobModel} predicts it. Immutable.
 *
 * @param epoch the last epoch that the prediction is from
 * @param fills whether that is the job's first epoch, which also fills the memory
 * @param bytes the memory that the share 1 stands for
 */
record CapacityCurve(String job, long epoch, boolean fills, JobModel model, long bytes) {
  private static final int STEPS = 20;

  /** Less than this is no gain that anybody would notice. */
  private static final double NOTABLE_GAIN = 1.05;

  /**
   * Returns the curve of a job; empty if no epoch of it tells anything of its origin, or of what
   * was in memory. An epoch that has just begun tells nothing yet.
   */
  static Optional<CapacityCurve> of(Figures figures, Job job) {
    List<Observation> epochs =
        job.epochs().stream()
            .map(Observation::of)
            .filter(each -> each.finding().verdict() != Bottleneck.UNKNOWN)
            .toList();
    boolean first = !epochs.isEmpty() && epochs.get(0).epoch().epoch() == 1;
    Runs runs = Runs.of(epochs, first, false);
    Evidence.Site site = Evidence.Site.of(figures, epochs, OptionalDouble.empty());
    return runs.evidence(site, figures.dataset().wholeBytes())
        .map(JobModel::new)
        .map(
            model ->
                new CapacityCurve(
                    job.job(),
                    model.now().epoch().epoch(),
                    !runs.hasLater(),
                    model,
                    figures.dataset().pagesOf(model.bytesOfAll(figures.dataset().bytes()))))
        .filter(curve -> curve.speed(0).isPresent() && curve.speed(curve.share()).isPresent());
  }

  /** Returns the share that is in memory now. */
  private double share() {
    return rounded(model.setup().capacityShare());
  }

  private Setup with(double at) {
    return at == share() ? model.setup() : model.setup().withCapacityShare(at);
  }

  private OptionalDouble speed(double at) {
    return model.speed(with(at));
  }

  /** Returns the knee, if there is one below the whole dataset. */
  private OptionalDouble knee() {
    double knee = rounded(model.knee().orElse(1));
    return knee < 1 ? OptionalDouble.of(knee) : OptionalDouble.empty();
  }

  /** Four digits, as hit ratios have. */
  private static double rounded(double ratio) {
    return Math.round(ratio * 10_000) / 10_000.0;
  }

  private Point point(double at) {
    double speed = speed(at).orElseThrow();
    return new Point(
        at,
        Math.round(at * bytes),
        Math.round(speed),
        model.now().epoch().bytes() / speed,
        model.isAtLeast(with(at)));
  }

  /** Returns the curve as figures. */
  CurveFigures figures() {
    TreeSet<Double> shares = new TreeSet<>();
    for (int i = 0; i <= STEPS; i++) {
      shares.add(rounded((double) i / STEPS));
    }
    shares.add(share());
    OptionalDouble knee = knee();
    knee.ifPresent(shares::add);
    List<Point> points = new ArrayList<>();
    shares.stream().filter(at -> speed(at).isPresent()).forEach(at -> points.add(point(at)));
    return new CurveFigures(job, epoch, bytes, share(), knee, advice(knee), points);
  }

  private String advice(OptionalDouble knee) {
    double share = share();
    double now = speed(share).orElseThrow();
    double gain = speed(knee.orElse(1)).orElse(now) / now;
    boolean waitsForConsumer = model.rates().acceleratorIsLimit();
    String estimate =
        " An estimate from epoch " + epoch + (fills ? ", which also fills the memory." : ".");
    if (share >= knee.orElse(1) || gain < NOTABLE_GAIN) {
      return (waitsForConsumer
              ? "More memory makes this job no faster: its readers wait for whoever takes what they"
                  + " have read."
              : "More memory makes this job hardly faster: its readers are busy with what they have"
                  + " read.")
          + estimate;
    }
    return String.format(
            Locale.ROOT,
            "With %s in memory instead of %s, this job would be %.1f times as fast%s; then %s.",
            Human.bytes(Math.round(knee.orElse(1) * bytes)),
            Human.bytes(Math.round(share * bytes)),
            gain,
            model.isOriginTold() ? "" : ", with less perhaps too",
            waitsForConsumer
                ? "it waits for whoever takes what it reads"
                : "preparation limits it, by more or faster processors")
        + estimate;
  }
}
