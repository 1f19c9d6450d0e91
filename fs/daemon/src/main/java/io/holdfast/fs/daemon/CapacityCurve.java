package io.holdfast.fs.daemon;

import io.holdfast.fs.figures.Bottleneck;
import io.holdfast.fs.figures.CurveFigures;
import io.holdfast.fs.figures.CurveFigures.Point;
import io.holdfast.fs.figures.EpochSplit;
import io.holdfast.fs.figures.Figures;
import io.holdfast.fs.figures.JobsFigures.Epoch;
import io.holdfast.fs.figures.JobsFigures.Job;
import io.holdfast.fs.figures.JobsFigures.Split;
import io.holdfast.fs.units.Human;
import io.holdfast.policy.simulator.FetchModel;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.TreeSet;

/**
 * The speed of a job by the share of the dataset that is in memory: {@link FetchModel}, with rates
 * that one epoch of the job itself shows. A reader fetches and prepares in turn, so the rate of a
 * tier is that at which all readers together fetch from the tier and prepare: bytes of the tier by
 * the time that a reader was blocked for them, and bytes of the epoch by the time of preparation.
 * An item in memory takes the preparation alone. If readers waited for their consumer, the job is
 * no faster than it was. Immutable.
 *
 * @param epoch the epoch whose rates these are
 * @param share the share of the dataset that the capacity holds
 * @param peerShare the share that the capacity of other nodes holds
 * @param dataset bytes of the dataset
 * @param bytes bytes of an epoch
 */
record CapacityCurve(
    String job,
    long epoch,
    FetchModel model,
    boolean isConsumerBound,
    double share,
    double peerShare,
    long dataset,
    long bytes) {
  private static final int STEPS = 20;

  /** Less than this is no gain that anybody would notice. */
  private static final double NOTABLE_GAIN = 1.05;

  /** The least time that readers must have been blocked, in seconds, for a rate of the origin. */
  private static final double LEAST_STALL = 0.2;

  /** Returns the curve of a job; empty if no epoch of it shows the rates. */
  static Optional<CapacityCurve> of(Figures figures, Job job) {
    List<Epoch> epochs = job.epochs();
    for (int i = epochs.size() - 1; i >= 0; i--) {
      Optional<CapacityCurve> curve = of(figures, job, epochs.get(i), i < epochs.size() - 1);
      if (curve.isPresent()) {
        return curve;
      }
    }
    return Optional.empty();
  }

  private static Optional<CapacityCurve> of(Figures figures, Job job, Epoch epoch, boolean isOver) {
    Split seconds = EpochSplit.seconds(epoch).orElse(null);
    long dataset = figures.dataset().bytes();
    if (seconds == null
        || EpochSplit.finding(epoch).verdict() == Bottleneck.UNKNOWN
        || epoch.seconds() <= 0
        || epoch.bytes() <= 0
        || epoch.originBytes() <= 0
        || seconds.fetchOrigin() < LEAST_STALL
        || seconds.preparation() <= 0
        || dataset <= 0) {
      return Optional.empty();
    }
    double readers = seconds.sum() / epoch.seconds();
    double preparation = seconds.preparation() / readers / epoch.bytes();
    double origin = preparation + seconds.fetchOrigin() / readers / epoch.originBytes();
    double peers =
        epoch.peerBytes() > 0
            ? preparation + seconds.fetchPeer() / readers / epoch.peerBytes()
            : preparation;
    boolean consumerBound = seconds.backPressure() / seconds.sum() >= EpochSplit.NOTABLE;
    double demand = consumerBound ? epoch.bytes() / epoch.seconds() : 1 / preparation;
    double share = figures.cache().plannedHitRatio();
    double withPeers = figures.cluster().map(each -> each.plannedHitRatio()).orElse(share);
    return Optional.of(
        new CapacityCurve(
            job.job(),
            epoch.epoch(),
            new FetchModel(1 / origin, 1 / preparation, 1 / peers, demand),
            consumerBound,
            share,
            Math.max(0, withPeers - share),
            dataset,
            isOver ? epoch.bytes() : dataset));
  }

  private double speed(double at) {
    return model.speed(at, Math.min(peerShare, 1 - at));
  }

  private OptionalDouble knee() {
    double knee = rounded(Math.max(0, model.sufficientHitRatio() - peerShare));
    return isConsumerBound && knee < 1 ? OptionalDouble.of(knee) : OptionalDouble.empty();
  }

  /** Four digits, as hit ratios have. */
  private static double rounded(double ratio) {
    return Math.round(ratio * 10_000) / 10_000.0;
  }

  private Point point(double at) {
    double speed = speed(at);
    return new Point(at, Math.round(at * dataset), Math.round(speed), bytes / speed);
  }

  /** Returns the curve as figures. */
  CurveFigures figures() {
    TreeSet<Double> shares = new TreeSet<>();
    for (int i = 0; i <= STEPS; i++) {
      shares.add(rounded((double) i / STEPS));
    }
    shares.add(share);
    OptionalDouble knee = knee();
    knee.ifPresent(shares::add);
    List<Point> points = new ArrayList<>();
    shares.forEach(at -> points.add(point(at)));
    return new CurveFigures(job, epoch, share, knee, advice(knee), points);
  }

  private String advice(OptionalDouble knee) {
    double gain = speed(1) / speed(share);
    String estimate = " An estimate from epoch " + epoch + ".";
    if (gain < NOTABLE_GAIN) {
      return (isConsumerBound
              ? "More memory makes this job no faster: its readers wait for whoever takes what they"
                  + " have read."
              : "More memory makes this job hardly faster: its readers are busy with what they have"
                  + " read.")
          + estimate;
    }
    return String.format(
            Locale.ROOT,
            "With %s in memory instead of %s, this job would be %.1f times as fast; then %s.",
            Human.bytes(Math.round(knee.orElse(1.0) * dataset)),
            Human.bytes(Math.round(share * dataset)),
            gain,
            isConsumerBound
                ? "it waits for whoever takes what it reads"
                : "preparation limits it, by more or faster processors")
        + estimate;
  }
}
