package io.holdfast.fs.transit;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Fetches that wait for their turn. Each job gets as many bytes as each other job that has fetches
 * here, however many readers it has; the fetches of one job come in their order. A job that had
 * nothing to fetch for a while saves no share up.
 *
 * <p>This is start-time fair queueing (Goyal, Vin, Cheng, SIGCOMM '96): each job has the bytes at
 * which its next fetch starts, and the smallest comes first. Not thread-safe.
 *
 * <p>Where the heap is full, {@link #add} changes nothing, and taking a fetch needs no heap.
 */
final class FairQueue {
  private static final Comparator<JobFetches> ORDER =
      Comparator.<JobFetches>comparingLong(each -> each.start)
          .thenComparingLong(each -> each.sequence);

  /**
   * The fetches of a job, and its place among the jobs, which is not changed while it is queued.
   */
  private static final class JobFetches {
    /** No deque: that of the JDK loses its elements if it cannot grow. */
    final ArrayList<FetchTask> tasks = new ArrayList<>(1);

    long start;

    /** Of jobs with the same start, the one that has waited longest comes first. */
    long sequence;
  }

  /** The jobs that have fetches here, or whose last one started later than {@link #now}. */
  private final Map<Object, JobFetches> jobs = new HashMap<>();

  /** The jobs that have fetches here. */
  private final PriorityQueue<JobFetches> waiting = new PriorityQueue<>(ORDER);

  /** Where the last fetch started that was taken. */
  private long now;

  private long sequence;
  private int size;

  boolean isEmpty() {
    return size == 0;
  }

  int size() {
    return size;
  }

  void add(FetchTask task) {
    forgetIdle();
    JobFetches job = jobs.computeIfAbsent(task.job(), none -> new JobFetches());
    job.tasks.ensureCapacity(job.tasks.size() + 1); // first: a job in the queue has a fetch
    if (job.tasks.isEmpty()) {
      job.start = Math.max(job.start, now);
      enqueue(job);
    }
    job.tasks.add(task);
    size++;
  }

  private void enqueue(JobFetches job) {
    job.sequence = sequence++;
    waiting.add(job);
  }

  /** Returns the fetch whose turn is next, or null. */
  @Nullable FetchTask peek() {
    JobFetches first = waiting.peek();
    return first == null ? null : first.tasks.get(0);
  }

  /** Takes the fetch whose turn is next. */
  FetchTask remove() {
    JobFetches job = waiting.remove();
    FetchTask task = job.tasks.remove(0);
    size--;
    now = job.start;
    job.start += task.bytes();
    if (!job.tasks.isEmpty()) {
      enqueue(job);
    }
    clearIfEmpty();
    return task;
  }

  /** Takes a fetch out of its turn; returns whether it was here. */
  boolean remove(FetchTask task) {
    JobFetches job = jobs.get(task.job());
    if (job == null || !job.tasks.remove(task)) {
      return false;
    }
    size--;
    if (job.tasks.isEmpty()) {
      waiting.remove(job);
    }
    clearIfEmpty();
    return true;
  }

  /** Tells whether a fetch waits here. */
  boolean contains(FetchTask task) {
    JobFetches job = jobs.get(task.job());
    return job != null && job.tasks.contains(task);
  }

  private void clearIfEmpty() {
    if (size == 0) {
      clear();
    }
  }

  /** Forgets jobs without a fetch whose last one has had its share of time. */
  private void forgetIdle() {
    if (jobs.size() > 2 * waiting.size()) {
      jobs.values().removeIf(job -> job.tasks.isEmpty() && job.start <= now);
    }
  }

  void clear() {
    jobs.clear();
    waiting.clear();
    size = 0;
    now = 0;
  }
}
