package io.holdfast.fs.allocate.node;

import io.holdfast.fs.figures.Bottleneck;
import io.holdfast.fs.figures.Figures;
import io.holdfast.fs.figures.JobsFigures.Epoch;
import io.holdfast.fs.figures.JobsFigures.Job;
import io.holdfast.fs.throughput.Observation;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The epochs that tell the rates of jobs' consumers, also long after the last such epoch: daemons
 * know some epochs only. A training that has ended tells nothing of the next one under its name,
 * and what one daemon told counts only until another takes the mount. Not thread-safe.
 */
final class ConsumerBounds {
  /** A consumer that takes so many times as much as it was believed to is another one. */
  private static final double FASTER = 1.25;

  /** The jobs of each mount. */
  private final Map<String, Map<String, Known>> mounts = new HashMap<>();

  /**
   * A job as its last figures and those before told it. Immutable.
   *
   * @param mountedAt when the daemon took the mount that told it
   * @param newest the number of its newest epoch
   * @param past the number of the newest epoch that a training before this one had
   * @param bound the epoch that tells the rate of its consumer; null while there is none
   */
  private record Known(String mountedAt, long newest, long past, @Nullable Observation bound) {
    Known with(@Nullable Observation other) {
      return new Known(mountedAt, newest, past, other);
    }
  }

  /** Takes the figures of a mount, before each question about a job of it. */
  void look(String mount, Figures figures) {
    Map<String, Known> before = mounts.getOrDefault(mount, Map.of());
    Map<String, Known> now = new HashMap<>();
    for (Job job : figures.jobs().jobs()) {
      now.put(job.job(), known(before.get(job.job()), figures.mountedAt(), job));
    }
    mounts.put(mount, now);
  }

  private static Known known(@Nullable Known before, String mountedAt, Job job) {
    List<Epoch> epochs = job.epochs();
    long newest = epochs.isEmpty() ? 0 : epochs.get(epochs.size() - 1).epoch();
    boolean goesOn =
        before != null && before.mountedAt().equals(mountedAt) && before.newest() <= newest;
    if (!NodeMounts.mayRead(job)) {
      return new Known(mountedAt, newest, newest, null);
    }
    return goesOn
        ? new Known(mountedAt, newest, before.past(), before.bound())
        : new Known(mountedAt, newest, 0, null);
  }

  /** Forgets the mounts that there are no more. */
  void retain(Set<String> names) {
    mounts.keySet().retainAll(names);
  }

  /**
   * Returns the epoch that tells the rate of a job's consumer; empty if none does.
   *
   * @param epochs those of the job that tell something
   */
  Optional<Observation> of(String mount, Job job, List<Observation> epochs) {
    Map<String, Known> jobs = mounts.getOrDefault(mount, Map.of());
    Known known = jobs.get(job.job());
    if (known == null) {
      return Optional.empty();
    }
    List<Observation> over =
        epochs.subList(0, Math.max(0, epochs.size() - 1)).stream()
            .filter(each -> each.epoch().epoch() > known.past())
            .filter(Observation::isMeasured)
            .toList();
    Observation bound = median(over).orElse(known.bound());
    Observation told = bound == null || isFaster(over, bound) ? null : bound;
    jobs.put(job.job(), known.with(told));
    return Optional.ofNullable(told);
  }

  /**
   * An epoch that waited for its consumer tells the consumer's rate, also when later ones do not.
   * The median one does, because the bounds of epochs are blurred, and no epoch that is under way,
   * because its readers run ahead at first.
   */
  private static Optional<Observation> median(List<Observation> over) {
    List<Observation> bound =
        over.stream()
            .filter(each -> each.waitsFor(Bottleneck.ACCELERATOR))
            .sorted(Comparator.comparingDouble(Observation::speed))
            .toList();
    return bound.isEmpty() ? Optional.empty() : Optional.of(bound.get(bound.size() / 2));
  }

  /** Tells whether the last epoch was clearly faster than a consumer of that rate lets it be. */
  private static boolean isFaster(List<Observation> over, Observation bound) {
    return !over.isEmpty() && over.get(over.size() - 1).speed() > FASTER * bound.speed();
  }
}
