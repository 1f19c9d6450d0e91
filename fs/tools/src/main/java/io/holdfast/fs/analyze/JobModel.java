package io.holdfast.fs.analyze;

import io.holdfast.fs.figures.Bottleneck;
import io.holdfast.policy.simulator.FetchModel;
import java.util.OptionalDouble;
import java.util.stream.Stream;

/**
 * Predicts the speed of a job from what was seen of it: DS-Analyzer's model (Mohan et al.,
 * "Analyzing and Mitigating Data Stalls in DNN Training", PVLDB 14(5), 2021, section 4), in which
 * the speed is the lowest of the rates F of fetching, P of preparation and G of the accelerator.
 * {@link FetchModel} has F, with peers as a third tier.
 *
 * <p>Deviations. DS-Analyzer measures each rate in a run of its own; here they are inferred from
 * one, where {@link Evidence} has no others. A job has a few readers, each of which fetches and
 * then prepares, so that neither is used all the time: {@link ReaderNetwork} bounds the speed too.
 * Preparation includes reading from memory, which is work of the readers' processors as well.
 *
 * <p>The rate S of an origin that readers queue for is what it gave in the time in which at least
 * one read waited. Where that time, which is an estimate, is too short to explain the speed that
 * was measured, S is what explains it. Immutable.
 */
public final class JobModel {
  /** Bytes per second of a peer's network where none has been seen: 10 Gbit/s. */
  static final double ASSUMED_NETWORK = 1.25e9;

  /** A speed that is less than this part of another counts as slower. */
  private static final double NEARLY = 0.95;

  private static final double LEAST_SHARE = 1e-9;
  private static final double FINEST = 1e-4;
  private static final int HALVINGS = 60;

  private final Evidence evidence;
  private final double processingPerByte;
  private final double usableProcessors;
  private final double originRate;
  private final double originDelay;
  private final double peerRate;
  private final double peerDelay;
  private final Rates rates;

  /**
   * Infers the rates.
   *
   * @throws IllegalArgumentException if nothing was read, or in no time
   */
  public JobModel(Evidence evidence) {
    if (!Stream.of(evidence.now(), evidence.cold(), evidence.warm())
        .allMatch(Observation::isMeasured)) {
      throw new IllegalArgumentException("an epoch without bytes or time: " + evidence);
    }
    this.evidence = evidence;
    Observation warm = evidence.warm();
    processingPerByte = warm.epoch().cpuSeconds().orElse(0) / warm.epoch().bytes();
    usableProcessors = usableProcessors(warm, evidence.site().processors());
    Observation now = evidence.now();
    peerRate = rate(now, now.epoch().peerBytes(), now.waitingForPeers());
    peerDelay =
        peerRate > 0
            ? now.waitingForPeers() * now.readerSeconds() / now.epoch().peerBytes()
            : 1 / ASSUMED_NETWORK;
    Observation cold = evidence.cold();
    long fetched = cold.epoch().originBytes();
    originDelay = fetched == 0 ? 0 : cold.waitingForOrigin() * cold.readerSeconds() / fetched;
    originRate = originRate(cold);
    rates = inferred();
  }

  /** Where readers wait for processors, which others may use too, what they got counts. */
  private static double usableProcessors(Observation warm, int processors) {
    double used = warm.epoch().cpuSeconds().orElse(0) / warm.epoch().seconds();
    double waits = warm.epoch().runDelaySeconds().orElse(0) / warm.readerSeconds();
    boolean fetches = warm.blocked() > 1 - NEARLY;
    boolean areShort = warm.waitsFor(Bottleneck.PREPARATION) && waits > 1 - NEARLY && !fetches;
    return areShort && used > 0 ? Math.min(used, processors) : processors;
  }

  /** Returns what came in the time in which a read waited; 0 if that is not known. */
  private static double rate(Observation seen, long bytes, double waiting) {
    double busy = seen.busySeconds(waiting);
    return bytes > 0 && busy > 0 ? bytes / busy : 0;
  }

  private double originRate(Observation cold) {
    double most = rate(cold, cold.epoch().originBytes(), cold.waitingForOrigin());
    if (most == 0) {
      return 0;
    }
    if (evidence.site().originScales()) {
      return cold.readers() / originDelay;
    }
    boolean fits =
        processingPerByte > 0
            && (cold.waitsFor(Bottleneck.STORAGE) || cold.waitsFor(Bottleneck.PREPARATION));
    return fits ? fittingRate(cold, most) : most;
  }

  /**
   * Returns the highest rate with which readers are no faster than they were. It is one that times
   * in which reads waited allow, because processors may be what has made them slow.
   *
   * @param most what follows from the estimate of that time
   */
  private double fittingRate(Observation seen, double most) {
    double high = most;
    double low = seen.epoch().originBytes() / seen.longestBusySeconds(seen.waitingForOrigin());
    if (network(seen, high).throughput(seen.readers()) <= seen.speed()) {
      return high;
    }
    for (int i = 0; i < HALVINGS; i++) {
      double middle = (low + high) / 2;
      if (network(seen, middle).throughput(seen.readers()) < seen.speed()) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return low;
  }

  private ReaderNetwork network(Observation seen, double rate) {
    double peers = seen.peerShare();
    return new ReaderNetwork(
        1 - seen.hitShare(), rate, peers * peerDelay, processingPerByte, processors(0));
  }

  private int processors(int more) {
    return Math.max(1, (int) Math.ceil(usableProcessors)) + more;
  }

  private Rates inferred() {
    OptionalDouble limit =
        Stream.of(evidence.now(), evidence.warm(), evidence.cold())
            .filter(seen -> seen.waitsFor(Bottleneck.ACCELERATOR))
            .mapToDouble(Observation::speed)
            .max();
    OptionalDouble bound =
        Stream.of(evidence.now(), evidence.warm(), evidence.cold())
            .mapToDouble(Observation::speed)
            .max();
    Setup now = setup();
    return new Rates(
        known(originRate),
        known(peerRate),
        evidence.site().memoryRate(),
        known(preparation(now)),
        known(1 / processingPerByte),
        processors(0),
        limit.isPresent() ? limit : bound,
        limit.isPresent());
  }

  private static OptionalDouble known(double rate) {
    return rate > 0 && !Double.isInfinite(rate) ? OptionalDouble.of(rate) : OptionalDouble.empty();
  }

  /** Returns the rates. */
  public Rates rates() {
    return rates;
  }

  /** Returns how the job runs now. */
  Setup setup() {
    Observation now = evidence.now();
    double hits = now.hitShare();
    int nodes = evidence.site().nodes();
    return new Setup(hits / nodes, nodes, 1, now.readers(), 1, 0);
  }

  /** Returns the mean epoch. */
  Observation now() {
    return evidence.now();
  }

  private double preparation(Setup with) {
    return processingPerByte == 0
        ? Double.POSITIVE_INFINITY
        : Math.min(with.readers(), usableProcessors + with.moreProcessors()) / processingPerByte;
  }

  /** Returns the processors that its readers can use now. */
  double usableProcessors() {
    return usableProcessors;
  }

  /** Returns m: the lower of P and G; infinite if neither is known. */
  double demand(Setup with) {
    return Math.min(preparation(with), accelerator(with));
  }

  private double accelerator(Setup with) {
    return rates.acceleratorIsLimit()
        ? rates.accelerator().orElseThrow() * with.acceleratorFactor()
        : Double.POSITIVE_INFINITY;
  }

  /** Returns the part of the hits that is in the own memory. */
  private double localPart(Setup with) {
    Observation now = evidence.now();
    boolean seen = with.nodes() == evidence.site().nodes() && now.hitShare() > LEAST_SHARE;
    return seen ? 1 - now.peerShare() / now.hitShare() : 1.0 / with.nodes();
  }

  /** Returns S, or 0 if it is not known. */
  private double origin(Setup with) {
    double readers = (double) with.readers() / evidence.cold().readers();
    double scale = evidence.site().originScales() ? readers : 1;
    return originRate * with.originFactor() * scale;
  }

  private double memory() {
    return rates.memory().orElse(Double.POSITIVE_INFINITY);
  }

  private double network() {
    return rates.peer().orElse(ASSUMED_NETWORK);
  }

  /**
   * Returns F, the bytes per second that files come at as it is; infinite if nothing is known of
   * where they come from.
   */
  double fetchRate() {
    Setup now = setup();
    double hits = now.hitShare();
    double peers = hits * (1 - localPart(now));
    double rate = origin(now) == 0 ? Double.POSITIVE_INFINITY : origin(now);
    return new FetchModel(rate, memory(), network(), demand(now)).fetchRate(hits - peers, peers);
  }

  /** Returns the bytes per second that the job gets; empty if that cannot be told. */
  OptionalDouble speed(Setup with) {
    double hits = with.hitShare();
    double peers = hits * (1 - localPart(with));
    double missing = 1 - hits;
    double origin = origin(with);
    if (missing > LEAST_SHARE && origin == 0) {
      return OptionalDouble.empty();
    }
    double rate = origin == 0 ? Double.POSITIVE_INFINITY : origin;
    FetchModel fetch = new FetchModel(rate, memory(), network(), demand(with));
    double ample = fetch.speed(hits - peers, peers);
    double few = readers(with, missing, rate, peers);
    return known(Math.min(ample, few));
  }

  private double readers(Setup with, double missing, double rate, double peers) {
    boolean scales = evidence.site().originScales();
    double waits = peers * peerDelay;
    if (scales) {
      waits += missing * originDelay / with.originFactor();
    }
    return new ReaderNetwork(
            scales ? 0 : missing, rate, waits, processingPerByte, processors(with.moreProcessors()))
        .throughput(with.readers());
  }

  /**
   * Returns the knee x*: the share of the dataset in each node's memory from which on more brings
   * nothing. With ample readers it is where F meets the demand; a few readers are near their speed
   * with all in memory only later. Empty if that cannot be told.
   */
  OptionalDouble knee() {
    Setup now = setup();
    if (originRate == 0) {
      return OptionalDouble.empty();
    }
    double local = localPart(now);
    double hit = 1 / (local / memory() + (1 - local) / network());
    double hits = new FetchModel(origin(now), hit, hit, demand(now)).sufficientHitRatio();
    double ample = hits / now.nodes();
    OptionalDouble best = speed(now.withCapacityShare(1.0 / now.nodes()));
    if (best.isEmpty()) {
      return OptionalDouble.of(1.0 / now.nodes());
    }
    return OptionalDouble.of(Math.max(ample, capacityFor(NEARLY * best.getAsDouble())));
  }

  /** Returns the least capacity share that gives a speed which the whole dataset in memory does. */
  private double capacityFor(double speed) {
    Setup now = setup();
    double low = 0;
    double high = 1.0 / now.nodes();
    if (reaches(now.withCapacityShare(0), speed)) {
      return 0;
    }
    while (high - low > FINEST) {
      double middle = (low + high) / 2;
      if (reaches(now.withCapacityShare(middle), speed)) {
        high = middle;
      } else {
        low = middle;
      }
    }
    return high;
  }

  private boolean reaches(Setup with, double speed) {
    return speed(with).orElse(0) >= speed;
  }
}
