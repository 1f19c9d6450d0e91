package io.holdfast.fs.plan;

import io.holdfast.fs.sampler.TorchSampler;
import io.holdfast.fs.stats.JobLife;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The jobs of this node that read as ranks, and those whose orders are about to be taken. Guarded
 * by the monitor of {@link Plans}.
 */
final class LocalRanks {
  /** The most lists that wait, as many as there may be orders. */
  private static final int MOST_LISTS = 32;

  /** How long a list waits for its order, which a client draws, and sends, in minutes at most. */
  private static final long LIST_PATIENCE = Duration.ofMinutes(10).toNanos();

  /** The pause between two looks at jobs that may have ended. */
  private static final long LOOK = Duration.ofSeconds(1).toNanos();

  /** The jobs whose order was taken. */
  private final Map<String, RankJob> jobs = new HashMap<>();

  private final Map<String, AwaitedOrder> awaited = new HashMap<>();
  private int lastNumber;
  private long lastLook;

  /**
   * The part that this node can offer. Immutable.
   *
   * @param job any of its jobs
   * @param ranks the ranks of all, ascending
   */
  record Part(RankJob job, int epoch, List<Integer> ranks) {}

  /** A job whose order is about to be taken, and when its list was. */
  private record AwaitedOrder(RankJob job, long since) {}

  LocalRanks(long now) {
    lastLook = now;
  }

  // --- lists

  /** Takes a list of files, from which a job's next order is drawn; returns why not, or nothing. */
  String await(String job, TorchSampler sampler, PlanFiles files, long now) {
    forgetLate(now);
    if (awaited.size() >= MOST_LISTS && !awaited.containsKey(job)) {
      return MOST_LISTS + " lists wait for their orders";
    }
    awaited.put(job, new AwaitedOrder(new RankJob(++lastNumber, sampler, files), now));
    return "";
  }

  /** Forgets lists whose orders did not come. */
  void forgetLate(long now) {
    awaited.values().removeIf(list -> now - list.since > LIST_PATIENCE);
  }

  /** Forgets the list of a job. */
  void forgetList(String job) {
    awaited.remove(job);
  }

  // --- ranks

  /**
   * Learns that an order of a job was taken. Ranks of other orders that are at their ends make way.
   *
   * @return the job as a rank; null if its order is not drawn from its list
   */
  @Nullable RankJob order(String job, long now) {
    AwaitedOrder list = awaited.remove(job);
    RankJob before = jobs.remove(job);
    if (list == null) {
      return null;
    }
    RankJob ordered = list.job;
    ordered.announced(now);
    if (before != null && ordered.isSameRankAs(before)) {
      ordered.follow(before);
    }
    jobs.values().removeIf(other -> other.isAtEnd() && !other.order.equals(ordered.order));
    jobs.put(job, ordered);
    return ordered;
  }

  @Nullable RankJob get(String job) {
    return jobs.get(job);
  }

  /** Returns a job with the number of an order; null if the job has another order by now. */
  @Nullable RankJob get(String job, int number) {
    RankJob its = jobs.get(job);
    return its == null || its.number != number ? null : its;
  }

  /** Removes a job; tells whether it was a rank. */
  boolean remove(String job) {
    return jobs.remove(job) != null;
  }

  void clear() {
    jobs.clear();
  }

  boolean isEmpty() {
    return jobs.isEmpty();
  }

  Collection<RankJob> all() {
    return jobs.values();
  }

  /** Returns any rank; there is one. */
  RankJob any() {
    return jobs.values().iterator().next();
  }

  /** Returns the greatest epoch of a rank. */
  int epoch() {
    return jobs.values().stream().mapToInt(RankJob::epoch).max().orElse(0);
  }

  private boolean readSeveralOrders() {
    return jobs.values().stream().map(job -> job.order).distinct().count() > 1;
  }

  /** Tells whether all ranks begin an epoch. */
  boolean begin(int epoch) {
    return jobs.values().stream().allMatch(job -> job.epoch() == epoch && job.isAtBeginning());
  }

  /** Returns the part of this node in the epoch that its ranks begin; null if they do not. */
  @Nullable Part part() {
    RankJob any = any();
    return begin(any.epoch()) ? new Part(any, any.epoch(), numbers()) : null;
  }

  /** Returns why these ranks have no part in one plan; empty if they may. */
  String difference() {
    if (readSeveralOrders()) {
      return "jobs of this node read several orders";
    }
    return numbers().stream().distinct().count() < jobs.size() ? "a rank is announced twice" : "";
  }

  private List<Integer> numbers() {
    return jobs.values().stream().map(RankJob::rank).sorted().toList();
  }

  /** Returns the lists of all ranks, and those that wait for their orders. */
  List<PlanFiles> files() {
    return Stream.concat(jobs.values().stream(), awaited.values().stream().map(AwaitedOrder::job))
        .map(job -> job.files)
        .toList();
  }

  // --- their ends

  /** Returns how long a rank waits at its end. */
  private long patience() {
    return readSeveralOrders() ? RankJob.SHORT_PATIENCE : RankJob.PATIENCE;
  }

  /** Returns the jobs whose ranks may be over; none if it has just done so. */
  Set<String> thatMayBeOver(long now) {
    if (now - lastLook < LOOK) {
      return Set.of();
    }
    lastLook = now;
    long patience = patience();
    Set<String> some = new HashSet<>(jobs.keySet());
    some.removeIf(job -> !jobs.get(job).mayBeOver(patience, now));
    return some;
  }

  /**
   * Removes the ranks that are over.
   *
   * @param lives whether the processes of some jobs live
   * @return why the last one was removed; empty if none was
   */
  String removeOver(Map<String, JobLife> lives, long now) {
    long patience = patience();
    String last = "";
    for (Map.Entry<String, JobLife> each : lives.entrySet()) {
      RankJob its = jobs.get(each.getKey());
      String why = its == null ? "" : its.over(each.getValue(), patience, now);
      if (!why.isEmpty()) {
        jobs.remove(each.getKey());
        last = why;
      }
    }
    return last;
  }
}
