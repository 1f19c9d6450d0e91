package io.holdfast.fs.throughput;

import io.holdfast.fs.figures.Bottleneck;
import io.holdfast.fs.figures.EpochSplit;
import io.holdfast.fs.figures.JobsFigures.Epoch;
import io.holdfast.fs.figures.JobsFigures.Split;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/**
 * What was seen of a job in an epoch, or in the mean of some. Immutable.
 *
 * @param epoch its figures
 * @param shares what its readers did; empty if that is not known
 * @param finding what it waited for
 */
public record Observation(Epoch epoch, Optional<Split> shares, EpochSplit.Finding finding) {
  /**
   * The share of the time in which a read has to wait for the origin, so that what comes then is
   * its rate. An origin that rests more gives what it has saved up meanwhile: a disk behind a limit
   * of 50 MB/s looked like one of 80 MB/s to readers that waited for it 60 % of the time. The same
   * holds for peers.
   */
  private static final double MOSTLY = 0.75;

  /** The same for one reader, of which it is known when it waits. */
  private static final double MUCH = 0.4;

  /** The fewest items from the origin that tell its rate. */
  private static final long FEWEST_FETCHES = 8;

  /** The least time that readers must have been blocked by them, in seconds. */
  private static final double LEAST_STALL = 0.2;

  /**
   * An epoch that opened so many times the bytes of the dataset opened files again and again. A job
   * that draws files at random with replacement opens 1.4 times as many as there are.
   */
  private static final double AGAIN = 1.75;

  /** An epoch for which so many times the bytes of its files came read them again and again. */
  private static final double MORE = 1.2;

  /** Readers that are fewer than this part of the most at a time were never all there for long. */
  private static final double MOST_OF_THEM = 0.75;

  /** The most readers that are believed. */
  private static final long MOST_READERS = 1_000_000;

  /** Returns what was seen of an epoch. */
  public static Observation of(Epoch epoch) {
    return new Observation(epoch, EpochSplit.shares(epoch), EpochSplit.finding(epoch));
  }

  /**
   * Returns the mean epoch, with the finding of all of them together.
   *
   * @param epochs at least one
   */
  public static Observation mean(List<Observation> epochs) {
    List<Epoch> all = epochs.stream().map(Observation::epoch).toList();
    Epoch last = all.get(all.size() - 1);
    Epoch sum = scaled(all, last, 1);
    return new Observation(
        scaled(all, last, all.size()), EpochSplit.shares(sum), EpochSplit.finding(sum));
  }

  /** Returns the sum of epochs, divided into parts. */
  private static Epoch scaled(List<Epoch> all, Epoch last, int parts) {
    return new Epoch(
        last.epoch(),
        sum(all, Epoch::opens) / parts,
        sum(all, Epoch::misses) / parts,
        last.hitRatio(),
        total(all, Epoch::stallSeconds) / parts,
        total(all, Epoch::seconds) / parts,
        sum(all, Epoch::bytes) / parts,
        sum(all, Epoch::originBytes) / parts,
        sum(all, Epoch::peerBytes) / parts,
        total(all, Epoch::originStallSeconds) / parts,
        total(all, Epoch::peerStallSeconds) / parts,
        known(all, Epoch::fetchingSeconds, parts),
        known(all, Epoch::cpuSeconds, parts),
        known(all, Epoch::readerCpuSeconds, parts),
        known(all, Epoch::runDelaySeconds, parts),
        known(all, Epoch::readerSeconds, parts),
        known(all, Epoch::processorSeconds, parts),
        known(all, Epoch::processorIdleSeconds, parts),
        all.stream().mapToLong(Observation::usualReaders).max().orElse(0),
        Optional.empty());
  }

  private static long sum(List<Epoch> all, ToLongFunction<Epoch> figure) {
    return all.stream().mapToLong(figure).reduce(0, Math::addExact);
  }

  private static double total(List<Epoch> all, ToDoubleFunction<Epoch> figure) {
    return all.stream().mapToDouble(figure).sum();
  }

  private static OptionalDouble known(
      List<Epoch> all, Function<Epoch, OptionalDouble> figure, int parts) {
    if (!all.stream().allMatch(each -> figure.apply(each).isPresent())) {
      return OptionalDouble.empty();
    }
    return OptionalDouble.of(total(all, each -> figure.apply(each).orElse(0)) / parts);
  }

  /** Returns the bytes per second of the epoch. */
  public double speed() {
    return epoch.seconds() > 0 ? epoch.bytes() / epoch.seconds() : 0;
  }

  /** Returns the share of the bytes that was in memory here or at a peer, from 0 to 1. */
  public double hitShare() {
    return 1 - part(epoch.originBytes());
  }

  /** Returns the share of the bytes that came from peers, from 0 to 1. */
  public double peerShare() {
    return Math.min(part(epoch.peerBytes()), hitShare());
  }

  private double part(long some) {
    return epoch.bytes() == 0 ? 0 : Math.max(0, Math.min(1, (double) some / epoch.bytes()));
  }

  /**
   * Returns why the bytes do not tell what share of them was in memory; empty where they do.
   *
   * @param dataset bytes of the whole dataset; 0 if that is not known
   */
  public Optional<String> doubt(long dataset) {
    if (dataset > 0 && epoch.bytes() > AGAIN * dataset) {
      return Optional.of(
          String.format(
              Locale.ROOT,
              "it opens files again and again in a pass, %.1f times the bytes of the dataset, and how"
                  + " much of them it reads is not known",
              (double) epoch.bytes() / dataset));
    }
    double fetched = (double) epoch.originBytes() + epoch.peerBytes();
    return epoch.bytes() > 0 && fetched > MORE * epoch.bytes()
        ? Optional.of(
            String.format(
                Locale.ROOT,
                "it keeps files open and reads them again and again: %.1f times the bytes of those"
                    + " that it opened were fetched",
                fetched / epoch.bytes()))
        : Optional.empty();
  }

  /** Returns the number of its readers; 1 if that is not known. */
  int readers() {
    return (int) Math.max(1, Math.min(MOST_READERS, usualReaders(epoch)));
  }

  /**
   * Returns how many readers an epoch had; 0 if that is not known. It is the most at a time, unless
   * these were never all there for long: the next pass's began before the last one's ended.
   */
  private static long usualReaders(Epoch epoch) {
    double lived = epoch.readerSeconds().orElse(0);
    long usual = epoch.seconds() > 0 ? Math.round(lived / epoch.seconds()) : 0;
    return usual > 0 && usual < MOST_OF_THEM * epoch.readers() ? usual : epoch.readers();
  }

  /** Tells whether it says anything of speed. */
  public boolean isMeasured() {
    return epoch.seconds() > 0 && epoch.bytes() > 0;
  }

  public boolean waitsFor(Bottleneck verdict) {
    return finding.verdict() == verdict;
  }

  /**
   * Returns the share of their time for which reads waited for the origin. It may be more than what
   * the readers were blocked, because the kernel reads ahead while they work.
   */
  double waitingForOrigin() {
    return Math.min(1, epoch.originStallSeconds() / readerSeconds());
  }

  /** Tells whether the origin was used so hard that the epoch tells its rate. */
  public boolean usesOriginHard() {
    double fetched = (double) epoch.originBytes() / (epoch.originBytes() + epoch.peerBytes());
    return epoch.originBytes() > 0
        && epoch.misses() * fetched >= FEWEST_FETCHES
        && epoch.originStallSeconds() >= LEAST_STALL
        && isMostly(waitingForOrigin());
  }

  /** Returns the bytes per second that the origin gave: it gives at least that. */
  double originSpeed() {
    return epoch.originBytes() / epoch.seconds();
  }

  /** Returns the same for peers. */
  double waitingForPeers() {
    return Math.min(1, epoch.peerStallSeconds() / readerSeconds());
  }

  /** Returns the share of their time that its readers were blocked by fetches. */
  double blocked() {
    return shares
        .map(parts -> parts.fetchOrigin() + parts.fetchPeer())
        .orElseGet(() -> Math.min(1, waitingForOrigin() + waitingForPeers()));
  }

  /**
   * Tells whether a read waited for peers nearly always, so that their network may be the limit.
   */
  boolean usesPeersHard() {
    return epoch.peerBytes() > 0 && isMostly(waitingForPeers());
  }

  private boolean isMostly(double waiting) {
    return busySeconds(waiting) >= (readers() == 1 ? MUCH : MOSTLY) * epoch.seconds();
  }

  /** Returns the seconds that all its readers had. */
  double readerSeconds() {
    return epoch.readerSeconds().orElse(epoch.seconds() * readers());
  }

  /**
   * Returns the seconds in which at least one read waited, if each reader's do so independently of
   * the others'.
   *
   * @param waiting the share of the readers' time for which reads waited
   */
  double busySeconds(double waiting) {
    return EpochSplit.secondsOfAny(epoch.seconds(), waiting, readers());
  }

  /** Returns the same if no two of them wait at a time, as far as the epoch is so long. */
  double longestBusySeconds(double waiting) {
    return epoch.seconds() * Math.min(1, waiting * readers());
  }
}
