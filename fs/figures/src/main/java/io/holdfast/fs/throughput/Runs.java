package io.holdfast.fs.throughput;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The epochs of a job, and those of controlled runs of it. Immutable.
 *
 * @param epochs in their order
 * @param firstIsCold whether the first of them is a job's first, which is set apart
 * @param ended whether the job reads no more; its last epoch may have ended early
 * @param warm an epoch for which what is read was in memory
 * @param cold an epoch with little memory
 */
public record Runs(
    List<Observation> epochs,
    boolean firstIsCold,
    boolean ended,
    Optional<Observation> warm,
    Optional<Observation> cold) {
  /** Epochs whose hits differ by no more belong together: nobody has changed the capacity. */
  private static final double SAME_HITS = 0.05;

  /** The last epoch is whole if it has so much of the longest one's bytes. */
  private static final double NEARLY_ALL = 0.95;

  /** Returns runs without controlled ones. */
  public static Runs of(List<Observation> epochs, boolean firstIsCold, boolean ended) {
    return new Runs(epochs, firstIsCold, ended, Optional.empty(), Optional.empty());
  }

  /** Tells whether the last epoch is not over. */
  public boolean isLastUnderWay() {
    return !ended && !epochs.isEmpty() && (epochs.size() == 1 || isLastShort());
  }

  /** Tells whether the job has ended in the middle of its last epoch. */
  public boolean hasEndedEarly() {
    return ended && isLastShort();
  }

  private boolean isLastShort() {
    int last = epochs.size() - 1;
    if (last < 1) {
      return false;
    }
    long longest =
        epochs.subList(0, last).stream().mapToLong(each -> each.epoch().bytes()).max().orElse(0);
    return epochs.get(last).epoch().bytes() < NEARLY_ALL * longest;
  }

  /** Tells whether there is an epoch that is over and not set apart. */
  public boolean hasLater() {
    return !later().isEmpty();
  }

  private List<Observation> later() {
    List<Observation> later = new ArrayList<>(epochs);
    if (isLastUnderWay() || hasEndedEarly()) {
      later.remove(later.size() - 1);
    }
    if (firstIsCold && !later.isEmpty()) {
      later.remove(0);
    }
    later.removeIf(each -> !each.isMeasured());
    return later;
  }

  /** Returns the epochs that tell how the job runs now. */
  public List<Observation> steady() {
    List<Observation> later = later();
    if (!later.isEmpty()) {
      double hits = later.get(later.size() - 1).hitShare();
      later.removeIf(each -> Math.abs(each.hitShare() - hits) > SAME_HITS);
      return later;
    }
    // of a job that goes on, what it reads now tells most, though it is a part
    List<Observation> told = hasEndedEarly() ? epochs.subList(0, epochs.size() - 1) : epochs;
    List<Observation> measured = told.stream().filter(Observation::isMeasured).toList();
    return measured.isEmpty() ? measured : measured.subList(measured.size() - 1, measured.size());
  }

  /** Returns the mean epoch of now; empty if no epoch tells anything. */
  public Optional<Observation> mean() {
    List<Observation> steady = steady();
    return steady.isEmpty() ? Optional.empty() : Optional.of(Observation.mean(steady));
  }

  /**
   * Returns why the bytes of the mean epoch do not tell what was in memory; empty where they do.
   *
   * @param dataset bytes of the whole dataset; 0 if that is not known
   */
  public Optional<String> doubt(long dataset) {
    return mean().flatMap(now -> now.doubt(dataset));
  }

  /**
   * Returns what rates can be computed from; empty if no epoch tells anything, or if there is a
   * {@link #doubt}.
   */
  public Optional<Evidence> evidence(Evidence.Site site, long dataset) {
    return mean()
        .filter(now -> now.doubt(dataset).isEmpty())
        .map(
            now ->
                new Evidence(
                    now, colder(now), warm.filter(Observation::isMeasured).orElse(now), site));
  }

  /**
   * Returns the epoch that tells most of the origin. One that waited little for it shows how fast
   * an origin answers that has nothing to do, and not the rate that it keeps up. If all did, the
   * one in which the origin gave most.
   */
  private Observation colder(Observation now) {
    if (cold.isEmpty() && now.usesOriginHard()) {
      return now;
    }
    List<Observation> fetching =
        Stream.concat(Stream.concat(cold.stream(), Stream.of(now)), epochs.stream())
            .filter(Observation::isMeasured)
            .filter(each -> 1 - each.hitShare() > SAME_HITS)
            .toList();
    return fetching.stream()
        .filter(Observation::usesOriginHard)
        .max(Comparator.comparingDouble(Observation::waitingForOrigin))
        .or(() -> fetching.stream().max(Comparator.comparingDouble(Observation::originSpeed)))
        .orElse(now);
  }
}
