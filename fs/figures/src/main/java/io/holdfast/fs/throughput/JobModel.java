package io.holdfast.fs.throughput;

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
 * was measured, S is what explains it. Where readers hardly waited, S is not told, and the speeds
 * that depend on it are {@link LeastSpeed}. Immutable.
 */
public final class JobModel {
  /** Bytes per second of a peer's network where none has been seen: 10 Gbit/s. */
  static final double ASSUMED_NETWORK = 1.25e9;

  /** A speed that is less than this part of another counts as slower. */
  private static final double NEARLY = 0.95;

  /** Speeds that differ by less are the same. */
  private static final double SAME = 0.98;

  /** An S that is not told is taken for this times what was seen, at most. */
  private static final double MOST_OF_SEEN = 2;

  private static final double LEAST_SHARE = 1e-9;
  private static final double FINEST = 1e-4;
  private static final int HALVINGS = 60;

  private final Evidence evidence;
  private final double processingPerByte;
  private final double usableProcessors;
  private final boolean isOriginTold;
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
    this(evidence, evidence.cold().usesOriginHard());
  }

  private JobModel(Evidence evidence, boolean tellsOrigin) {
    if (!seen(evidence).allMatch(Observation::isMeasured)) {
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
    // an origin that is used hard now may have given more before
    Stream<Observation> telling = tellsOrigin ? Stream.of(now, cold) : seen(evidence);
    double least = telling.mapToDouble(Observation::originSpeed).max().orElse(0);
    isOriginTold = tellsOrigin && least > 0;
    double most = cold.usesOriginHard() ? Double.POSITIVE_INFINITY : MOST_OF_SEEN * least;
    originRate = isOriginTold ? Math.max(least, Math.min(most, originRate(cold))) : least;
    rates = inferred();
  }

  private static Stream<Observation> seen(Evidence evidence) {
    return Stream.of(evidence.now(), evidence.cold(), evidence.warm());
  }

  /**
   * Where readers wait for processors, which others may use too, what they got counts. A job that
   * was seen to use more than the site has has these: the site may be that of a container.
   */
  private static double usableProcessors(Observation warm, int processors) {
    double used = warm.epoch().cpuSeconds().orElse(0) / warm.epoch().seconds();
    double waits = warm.epoch().runDelaySeconds().orElse(0) / warm.readerSeconds();
    boolean fetches = warm.blocked() > 1 - NEARLY;
    boolean areShort = warm.waitsFor(Bottleneck.PREPARATION) && waits > 1 - NEARLY && !fetches;
    double most = used * NEARLY > processors ? used : processors;
    return areShort && used > 0 ? Math.min(used, most) : most;
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
    return Math.min(likely(cold, most), fits ? fittingRate(cold, most) : most);
  }

  /**
   * Returns the mean of what follows if readers wait independently of each other, and if no two
   * wait at a time: two that fetch and prepare for as long each take turns.
   */
  private static double likely(Observation seen, double most) {
    double busy = seen.longestBusySeconds(seen.waitingForOrigin());
    return Math.sqrt(most * seen.epoch().originBytes() / busy);
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
        seen(evidence)
            .filter(seen -> seen.waitsFor(Bottleneck.ACCELERATOR))
            .mapToDouble(Observation::speed)
            .max();
    OptionalDouble bound = seen(evidence).mapToDouble(Observation::speed).max();
    Setup now = setup();
    return new Rates(
        isOriginTold ? known(originRate) : OptionalDouble.empty(),
        isOriginTold ? OptionalDouble.empty() : known(originRate),
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
  public Setup setup() {
    Observation now = evidence.now();
    double hits = now.hitShare();
    int nodes = evidence.site().nodes();
    return new Setup(hits / nodes, nodes, 1, now.readers(), 1, 0);
  }

  /**
   * Returns the bytes that a capacity share of 1 stands for: those that the job reads, of all
   * nodes.
   *
   * @param dataset what the dataset has; 0 if that is not known
   */
  public long bytesOfAll(long dataset) {
    long read = now().epoch().bytes();
    return evidence.site().nodes() == 1 ? read : Math.max(read, dataset);
  }

  /** Returns the mean epoch. */
  public Observation now() {
    return evidence.now();
  }

  private double preparation(Setup with) {
    return processingPerByte == 0
        ? Double.POSITIVE_INFINITY
        : Math.min(with.readers(), usableProcessors + with.moreProcessors()) / processingPerByte;
  }

  /** Returns the processors that its readers can use now. */
  public double usableProcessors() {
    return usableProcessors;
  }

  /** Returns m: the lower of P and G; infinite if neither is known. */
  public double demand(Setup with) {
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

  /**
   * Returns a model with the S that is most likely, also where that cannot be told: for one who
   * changes something, and looks what came of it. Such an S is twice at most of what was seen to
   * come from the origin, because readers that hardly wait for it do not show what it can give.
   */
  public JobModel withLikelyOrigin() {
    return isOriginTold ? this : new JobModel(evidence, true);
  }

  /** Tells whether S is told; otherwise it is at least {@link Rates#originAtLeast}. */
  public boolean isOriginTold() {
    return isOriginTold;
  }

  private boolean scales() {
    return isOriginTold && evidence.site().originScales();
  }

  /** Returns S, or what it is at least; infinite if nothing came from the origin. */
  private double origin(Setup with) {
    double readers = (double) with.readers() / evidence.cold().readers();
    boolean fewer = evidence.site().originScales() && readers < 1;
    double scale = scales() || fewer ? readers : 1;
    return originRate == 0 ? Double.POSITIVE_INFINITY : originRate * with.originFactor() * scale;
  }

  private double memory() {
    return rates.memory().orElse(Double.POSITIVE_INFINITY);
  }

  /**
   * Returns N as a limit of what peers give. Readers that wait for peers now and then show how long
   * one read waits ({@link #peerDelay}), and the origin can serve others meanwhile.
   */
  private double network() {
    return evidence.now().usesPeersHard() ? peerRate : Math.max(peerRate, ASSUMED_NETWORK);
  }

  /**
   * Returns F, the bytes per second that files come at as it is; infinite if nothing is known of
   * where they come from.
   */
  public double fetchRate() {
    Setup now = setup();
    double hits = now.hitShare();
    double peers = hits * (1 - localPart(now));
    double rate = isOriginTold ? origin(now) : Double.POSITIVE_INFINITY;
    return new FetchModel(rate, memory(), network(), demand(now)).fetchRate(hits - peers, peers);
  }

  /**
   * Returns the bytes per second that the job gets, or what it gets at least; empty if that cannot
   * be told.
   */
  public OptionalDouble speed(Setup with) {
    if (isOriginTold || !needsOrigin(with)) {
      return most(with);
    }
    if (originRate == 0) {
      return OptionalDouble.empty();
    }
    double speed = speed(with, origin(with));
    double seen =
        new LeastSpeed(seen(evidence).toList(), processingPerByte, processors(0))
            .of(with, evidence.site().nodes());
    return known(Math.min(Math.max(speed, seen), most(with).orElse(Double.POSITIVE_INFINITY)));
  }

  /** Returns the same, or what it gets at most: with an origin that gives anything. */
  public OptionalDouble most(Setup with) {
    return known(speed(with, isOriginTold ? origin(with) : Double.POSITIVE_INFINITY));
  }

  /** Tells whether the job may get more than {@link #speed} says, because S is not told. */
  public boolean isAtLeast(Setup with) {
    return !isOriginTold
        && needsOrigin(with)
        && !with.equals(setup())
        && speed(with).orElse(0) < SAME * most(with).orElse(Double.POSITIVE_INFINITY);
  }

  private static boolean needsOrigin(Setup with) {
    return 1 - with.hitShare() > LEAST_SHARE;
  }

  private double speed(Setup with, double rate) {
    double hits = with.hitShare();
    double peers = hits * (1 - localPart(with));
    FetchModel fetch = new FetchModel(rate, memory(), network(), demand(with));
    double ample = fetch.speed(hits - peers, peers);
    return Math.min(ample, readers(with, 1 - hits, rate, peers));
  }

  private double readers(Setup with, double missing, double rate, double peers) {
    boolean scales = scales() && !Double.isInfinite(rate);
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
   * with all in memory only later. Where S is not told, the knee is not above this. Empty if that
   * cannot be told.
   */
  public OptionalDouble knee() {
    Setup now = setup();
    if (originRate == 0) {
      return OptionalDouble.empty();
    }
    OptionalDouble best = speed(now.withCapacityShare(1.0 / now.nodes()));
    if (best.isEmpty()) {
      return OptionalDouble.of(1.0 / now.nodes());
    }
    double few = capacityFor(NEARLY * best.getAsDouble());
    return OptionalDouble.of(isOriginTold ? Math.max(few, sufficient(now)) : few);
  }

  private double sufficient(Setup now) {
    double local = localPart(now);
    double hit = 1 / (local / memory() + (1 - local) / network());
    return new FetchModel(origin(now), hit, hit, demand(now)).sufficientHitRatio() / now.nodes();
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
