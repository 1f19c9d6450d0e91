package io.holdfast.fs.stats;

import com.github.benmanes.caffeine.cache.CacheLoader;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import com.github.benmanes.caffeine.cache.Ticker;
import io.holdfast.fs.FetchUse;
import io.holdfast.fs.stats.Processes.ProcessInfo;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/**
 * What applications do with the mount, by process and by job: opens, misses, bytes fetched, time
 * stalled, epochs. What this process itself does does not count. Thread-safe.
 *
 * <p>Bounded: of the jobs and processes that have done something those are kept apart that were
 * active last; what others did counts in the totals alone. A process keeps the job in which it was
 * first seen, also when it has ended.
 */
public final class Activity {
  /** Jobs that are kept apart at most. */
  static final int MOST_JOBS = 256;

  /** Processes that are kept apart at most. */
  static final int MOST_PROCESSES = 4096;

  private static final int MOST_THREADS = 16_384;

  /** How many go at once when there are too many: each sixteenth. */
  private static final int GOING = 16;

  /** A number that was another thread's is noticed after this time. */
  private static final Duration KEEP_THREAD = Duration.ofSeconds(10);

  private final JobBy by;
  private final int itemSize;
  private final LongSupplier nanoTime;
  private final Processes processes;
  private final JobNames names;
  private final int ownProcess = (int) ProcessHandle.current().pid();
  private final LongAdder opens = new LongAdder();
  private final LoadingCache<Integer, Caller> callers;

  /** Guards the maps, and when processes were seen; a leaf but for /proc. */
  private final Object lock = new Object();

  private final Map<String, JobFigures> jobs = new HashMap<>();
  private final Map<Integer, ProcessActivity> byPid = new HashMap<>();

  /** A process and what it has done. */
  public record ProcessReport(int pid, String job, String command, Counts counts) {}

  /**
   * A job and what it has done.
   *
   * @param processes how many processes of it were seen
   * @param epochs the last ones, the one under way as the last
   */
  public record JobReport(String job, int processes, Counts counts, List<Epoch> epochs) {}

  /**
   * Begins to count.
   *
   * @param itemSize bytes of an item
   * @param nanoTime a clock of nanoseconds
   */
  public Activity(JobBy by, int itemSize, LongSupplier nanoTime) {
    this(by, itemSize, nanoTime, Path.of("/proc"));
  }

  /** The same with another /proc. */
  Activity(JobBy by, int itemSize, LongSupplier nanoTime, Path proc) {
    this.by = by;
    this.itemSize = itemSize;
    this.nanoTime = nanoTime;
    this.processes = new Processes(proc);
    this.names = new JobNames(by, processes);
    this.callers =
        Caffeine.newBuilder()
            .refreshAfterWrite(KEEP_THREAD)
            .maximumSize(MOST_THREADS)
            .executor(Runnable::run)
            .ticker((Ticker) nanoTime::getAsLong)
            .build(new Lookup());
  }

  /** Threads that are gone stay what they were. */
  private final class Lookup implements CacheLoader<Integer, Caller> {
    @Override
    public Caller load(Integer thread) {
      int pid = processes.processOf(thread);
      return new Caller(process(pid == 0 ? thread : pid));
    }

    @Override
    public Caller reload(Integer thread, Caller old) {
      int pid = processes.processOf(thread);
      if (pid == 0) {
        return old;
      }
      ProcessActivity now = process(pid);
      return now == old.process() ? old : new Caller(now);
    }
  }

  /** Returns what jobs are told apart by. */
  public JobBy by() {
    return by;
  }

  /**
   * Returns a thread's figures.
   *
   * @param thread the kernel's id of it, or 0 where it is unknown: then one for this call
   */
  public Caller caller(int thread) {
    if (thread == 0) {
      return new Caller(process(0));
    }
    Caller caller = callers.get(thread);
    if (caller.process().forgotten) {
      callers.invalidate(thread);
      return callers.get(thread);
    }
    return caller;
  }

  /** Counts opens by a thread. */
  public void opened(int thread, OpenBatch batch) {
    ProcessActivity process = caller(thread).process();
    if (process.pid != ownProcess) {
      opens.add(batch.count());
      process.opens.add(batch.count());
      process.job.opened(batch, itemSize);
    }
  }

  /** Says that the opens to come were made after those that were counted. */
  public void settle() {
    jobsNow().forEach(JobFigures::settle);
  }

  /**
   * Returns what learns who uses a fetch.
   *
   * @param item names the item
   * @param whole whether it is of the whole item
   * @param begins whether it is of the item's first byte
   * @param thread who has it fetched
   */
  public FetchUse fetch(long item, boolean whole, boolean begins, int thread) {
    return new ItemUse(this, item, whole, begins, caller(thread).process());
  }

  /** Returns the opens since the mount. */
  public long opens() {
    return opens.sum();
  }

  /** Returns the jobs, those with the most opens first. */
  public List<JobReport> jobs() {
    return jobsNow().stream()
        .map(job -> new JobReport(job.name, job.processes(), job.counts(), job.epochs()))
        .filter(job -> hasDone(job.counts()))
        .sorted(Comparator.comparingLong((JobReport job) -> -job.counts().opens()))
        .toList();
  }

  /** Returns the processes, those with the most opens first. */
  public List<ProcessReport> processes() {
    List<ProcessActivity> all;
    synchronized (lock) {
      all = List.copyOf(byPid.values());
    }
    return all.stream()
        .map(Activity::report)
        .filter(process -> hasDone(process.counts()))
        .sorted(Comparator.comparingLong((ProcessReport process) -> -process.counts().opens()))
        .toList();
  }

  /** One that was only looked at is not shown: this process, for one. */
  private static boolean hasDone(Counts counts) {
    return counts.opens() + counts.misses() + counts.stallNanos() > 0;
  }

  private static ProcessReport report(ProcessActivity process) {
    Counts counts =
        new Counts(
            process.opens.sum(),
            0,
            process.misses.sum(),
            process.fetchedBytes.sum(),
            process.stallNanos.sum(),
            0);
    return new ProcessReport(process.pid, process.job.name, process.command, counts);
  }

  private List<JobFigures> jobsNow() {
    synchronized (lock) {
      return List.copyOf(jobs.values());
    }
  }

  private ProcessActivity process(int pid) {
    ProcessInfo process = pid == 0 ? null : processes.process(pid);
    synchronized (lock) {
      ProcessActivity known = byPid.get(pid);
      if (known == null || (process != null && known.started != process.started())) {
        if (known == null && byPid.size() >= MOST_PROCESSES) {
          forgetProcesses();
        }
        known = process == null ? unknown(pid) : add(process);
        byPid.put(pid, known);
        known.job.hasAnotherProcess();
      }
      known.lastSeen = nanoTime.getAsLong();
      return known;
    }
  }

  private ProcessActivity unknown(int pid) {
    return new ProcessActivity(pid, "", 0, job(JobNames.UNKNOWN));
  }

  private ProcessActivity add(ProcessInfo process) {
    return new ProcessActivity(
        process.pid(), process.command(), process.started(), job(names.jobOf(process)));
  }

  private JobFigures job(String name) {
    JobFigures job = jobs.get(name);
    if (job == null) {
      if (jobs.size() >= MOST_JOBS) {
        forgetJobs();
      }
      job = new JobFigures(name, nanoTime);
      jobs.put(name, job);
    }
    return job;
  }

  private void forgetProcesses() {
    List<ProcessActivity> all = new ArrayList<>(byPid.values());
    all.sort(Comparator.comparingLong(process -> process.lastSeen));
    for (ProcessActivity process : all.subList(0, MOST_PROCESSES / GOING)) {
      process.forgotten = true;
      byPid.remove(process.pid);
    }
  }

  private void forgetJobs() {
    List<JobFigures> all = new ArrayList<>(jobs.values());
    all.sort(Comparator.comparingLong(JobFigures::lastActive));
    for (JobFigures job : all.subList(0, MOST_JOBS / GOING)) {
      jobs.remove(job.name);
    }
    byPid.values().forEach(process -> process.forgotten |= !jobs.containsKey(process.job.name));
    byPid.values().removeIf(process -> process.forgotten);
  }
}
