package io.holdfast.fs.analyze.run;

import io.holdfast.fs.control.FiguresJson;
import io.holdfast.fs.figures.Bottleneck;
import io.holdfast.fs.figures.Figures;
import io.holdfast.fs.figures.JobsFigures.Epoch;
import io.holdfast.fs.figures.JobsFigures.Job;
import io.holdfast.fs.figures.ProcessFigures;
import io.holdfast.fs.host.CliException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Finds a job, and its epochs, in a mount's figures. Stateless. */
public final class JobSearch {
  /** The row of all jobs that have none of their own. */
  private static final String OTHERS = "(others)";

  /** The row of all processes that the daemon cannot see, or that were gone at once. */
  private static final String UNKNOWN = "unknown";

  /** The most names that a message has. */
  private static final int MOST_NAMES = 10;

  /** An epoch that another job's run had begun counts if it has so much of the longest one. */
  private static final double NOTABLE = 0.05;

  private JobSearch() {}

  /**
   * Returns the job that the user means.
   *
   * @param wanted its name, or a part of it that no other job's name has
   */
  public static Job named(Figures figures, String wanted) {
    return named(jobs(figures), wanted);
  }

  /** The same among some jobs. */
  static Job named(List<Job> jobs, String wanted) {
    for (Job job : jobs) {
      if (job.job().equals(wanted)) {
        return job;
      }
    }
    List<Job> like = jobs.stream().filter(job -> job.job().contains(wanted)).toList();
    if (wanted.isEmpty() || like.isEmpty()) {
      throw CliException.couldNot(
          "--job '"
              + wanted
              + "' is not known: "
              + known(jobs)
              + "; 'holdfast stats --jobs' shows all");
    }
    if (like.size() > 1) {
      throw CliException.usage(
          "--job '" + wanted + "' may be any of " + names(like) + ": give the whole name");
    }
    return like.get(0);
  }

  /**
   * Returns the job with the most opens, of those of which enough was seen and that still run, or
   * else of all; the processes that the daemon cannot see only if there is no other.
   */
  public static Optional<Job> busiest(Figures figures) {
    return jobs(figures).stream()
        .min(Comparator.comparing(JobSearch::isUnknown).thenComparing(job -> !runsAndTells(job)));
  }

  private static boolean runsAndTells(Job job) {
    return job.endedSeconds().isEmpty() && !job.verdict().equals(Bottleneck.UNKNOWN.word());
  }

  /** Returns the jobs that have a row of their own, those with the most opens first. */
  public static List<Job> jobs(Figures figures) {
    return figures.jobs().jobs().stream().filter(job -> !job.job().equals(OTHERS)).toList();
  }

  /** Tells whether a row is no job, but sums up the processes of which nothing is known. */
  public static boolean isUnknown(Job job) {
    return job.job().equals(UNKNOWN);
  }

  private static String known(List<Job> jobs) {
    return jobs.isEmpty() ? "no job has read from the mount" : "there are " + names(jobs);
  }

  private static String names(List<Job> jobs) {
    String names = jobs.stream().limit(MOST_NAMES).map(Job::job).collect(Collectors.joining(", "));
    return jobs.size() > MOST_NAMES ? names + ", ..." : names;
  }

  /**
   * Returns the figures from which counts go on: those from before; none if another daemon has
   * taken the mount since, which counts from 0.
   */
  static Figures countedFrom(Figures before, Figures after) {
    return after.isOfDaemonOf(before) ? before : FiguresJson.figures(Map.of());
  }

  /**
   * Returns the job that a command was: the one whose processes read most of what its processes
   * read. If none of them is known any more, the only job that has read meanwhile.
   *
   * @param pids processes of the command
   */
  static Optional<Job> ofProcesses(Figures before, Figures after, Set<Long> pids) {
    Map<Long, Long> reads = new HashMap<>();
    before.processes().forEach(each -> reads.put(each.pid(), reads(each)));
    Map<String, Long> byJob = new HashMap<>();
    for (ProcessFigures process : after.processes()) {
      long more = reads(process) - reads.getOrDefault(process.pid(), 0L);
      if (pids.contains(process.pid()) && more != 0) {
        // a number that was another process's before counts whole
        byJob.merge(process.job(), more > 0 ? more : reads(process), Long::sum);
      }
    }
    String most =
        byJob.entrySet().stream()
            .max(Map.Entry.comparingByValue())
            .map(Map.Entry::getKey)
            .orElse("");
    List<Job> others = since(before, after);
    return byJob.isEmpty() && others.size() == 1
        ? Optional.of(others.get(0))
        : Optional.ofNullable(find(after, most));
  }

  /** Returns the jobs that have opened files since a moment. */
  static List<Job> since(Figures before, Figures after) {
    return jobs(after).stream().filter(job -> opensSince(before, job) > 0).toList();
  }

  private static long reads(ProcessFigures process) {
    return process.opens() + process.misses();
  }

  private static long opens(@Nullable Job job) {
    return job == null ? 0 : job.opens();
  }

  private static @Nullable Job find(Figures figures, String name) {
    return jobs(figures).stream().filter(job -> job.job().equals(name)).findFirst().orElse(null);
  }

  /** Returns the files that a job has opened since a moment. */
  static long opensSince(Figures before, Job job) {
    return job.opens() - opens(find(before, job.job()));
  }

  /**
   * Returns the epochs of a job in a time. Of one that had begun before, the part since then; all
   * of it where figures have fallen, because another daemon counts from 0.
   *
   * @param seconds how long that time was
   */
  public static List<Epoch> epochsSince(Figures before, Job job, double seconds) {
    Job was = find(before, job.job());
    List<Epoch> known = was == null ? List.of() : was.epochs();
    if (known.isEmpty()) {
      return job.epochs();
    }
    Epoch last = known.get(known.size() - 1);
    List<Epoch> since = new ArrayList<>();
    Optional<Epoch> continued = Optional.empty();
    for (Epoch epoch : job.epochs()) {
      if (epoch.epoch() > last.epoch()) {
        since.add(epoch);
      } else if (epoch.epoch() == last.epoch() && epoch.opens() > last.opens()) {
        continued = Optional.of(hasFallen(epoch, last) ? epoch : rest(epoch, last, seconds));
      }
    }
    long longest = since.stream().mapToLong(Epoch::bytes).max().orElse(0);
    continued
        .filter(rest -> rest.bytes() > NOTABLE * longest)
        .ifPresent(rest -> since.add(0, rest));
    return since;
  }

  private static boolean hasFallen(Epoch epoch, Epoch before) {
    return epoch.misses() < before.misses()
        || epoch.bytes() < before.bytes()
        || epoch.originBytes() < before.originBytes()
        || epoch.peerBytes() < before.peerBytes();
  }

  private static Epoch rest(Epoch all, Epoch before, double most) {
    return new Epoch(
        all.epoch(),
        all.opens() - before.opens(),
        all.misses() - before.misses(),
        OptionalDouble.empty(),
        Math.max(0, all.stallSeconds() - before.stallSeconds()),
        Math.min(most, Math.max(0, all.seconds() - before.seconds())),
        all.bytes() - before.bytes(),
        all.originBytes() - before.originBytes(),
        all.peerBytes() - before.peerBytes(),
        Math.max(0, all.originStallSeconds() - before.originStallSeconds()),
        Math.max(0, all.peerStallSeconds() - before.peerStallSeconds()),
        rest(all.fetchingSeconds(), before.fetchingSeconds()),
        rest(all.cpuSeconds(), before.cpuSeconds()),
        rest(all.readerCpuSeconds(), before.readerCpuSeconds()),
        rest(all.runDelaySeconds(), before.runDelaySeconds()),
        rest(all.readerSeconds(), before.readerSeconds()),
        rest(all.processorSeconds(), before.processorSeconds()),
        rest(all.processorIdleSeconds(), before.processorIdleSeconds()),
        all.readers(),
        Optional.empty());
  }

  private static OptionalDouble rest(OptionalDouble all, OptionalDouble before) {
    return all.isPresent()
        ? OptionalDouble.of(Math.max(0, all.getAsDouble() - before.orElse(0)))
        : all;
  }
}
