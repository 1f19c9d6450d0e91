package io.holdfast.fs.stats;

import com.github.benmanes.caffeine.cache.CacheLoader;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import com.github.benmanes.caffeine.cache.Ticker;
import io.holdfast.fs.FetchUse;
import io.holdfast.fs.figures.Bottleneck;
import io.holdfast.fs.figures.EpochSplit;
import io.holdfast.fs.figures.EpochSplit.Finding;
import io.holdfast.fs.figures.JobsFigures;
import io.holdfast.fs.figures.JobsFigures.Split;
import io.holdfast.fs.figures.ProcessFigures;
import io.holdfast.fs.linux.Procfs;
import io.holdfast.fs.linux.Procfs.ProcessStat;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Counts what applications do with the mount, by process and by job: opens, misses, bytes fetched,
 * time stalled, epochs. Does not count this process. Thread-safe.
 *
 * <p>Bounded, whatever users start and however they name it. The jobs and processes that were
 * active last have a row each; one more row sums up the others. Names have a bounded length ({@link
 * JobNames}). A process keeps the job in which it was first seen, also when it has ended. If its
 * environment names the job and cannot be read at once, the process is of job {@code none} until it
 * can.
 */
public final class Activity {
  /** The most jobs with a row each. */
  static final int MOST_JOBS = 256;

  /** The most processes that are counted one by one. */
  static final int MOST_PROCESSES = 4096;

  /** The most processes with a row each: those that were active last. */
  static final int MOST_TOLD = 960;

  /** The number in the row of all other processes; no process has it. */
  private static final int NO_PROCESS = -1;

  /** The epoch in the row of all other jobs. */
  private static final int NO_EPOCH = -1;

  /**
   * The bytes of heap for each job: a job, and what is known of the files that it opens, take a
   * part of them.
   */
  private static final long HEAP_OF_JOB = 2 << 20;

  private static final int FEWEST_JOBS = 32;

  private static final String HIDDEN =
      "/proc does not show its processes: they had ended, are hidden (hidepid), or are in another"
          + " pid namespace";

  private static final int MOST_THREADS = 16_384;

  /** Off for {@code packaging/bench/split-cost} alone, which measures what the looks cost. */
  private static final boolean IS_SPLIT = !"off".equals(System.getProperty("holdfast.split"));

  /** When there are too many, one of so many goes. */
  private static final int GOING = 16;

  /** After this time, a thread's number is looked up again: it may be another thread's by now. */
  private static final Duration KEEP_THREAD = Duration.ofSeconds(10);

  private final JobBy by;
  private final int itemSize;
  private final LongSupplier nanoTime;
  private final Procfs procfs;
  private final JobNames names;
  private final int ownProcess = (int) ProcessHandle.current().pid();
  private final LongAdder opens = new LongAdder();
  private final Lookup lookup = new Lookup();
  private final LoadingCache<Integer, Caller> callers;
  private final ReaderClock clock;
  private volatile OpenListener listener = OpenListener.NONE;

  /**
   * Guards the maps, and {@link ProcessActivity#lastSeen}. A leaf. No thread reads /proc while it
   * holds this lock.
   */
  private final Object lock = new Object();

  private final Map<String, JobFigures> jobs = new HashMap<>();
  private final Map<Integer, ProcessActivity> byPid = new HashMap<>();
  private final int mostJobs;

  /** The sum of the jobs that have no row of their own any more. */
  private JobCounts otherJobs = JobCounts.NOTHING;

  private Optional<Split> othersSplit = Optional.empty();

  private ProcessCounts otherProcesses = ProcessCounts.NOTHING;
  private int processesOfOtherJobs;

  /**
   * A process and what it has done. The number -1 stands for all other processes together.
   *
   * @param ended whether the process has ended
   */
  public record ProcessReport(
      int pid, String job, String command, boolean ended, ProcessCounts counts) {
    /** Returns the figures as {@code stats.json} shows them. */
    public ProcessFigures figures() {
      return new ProcessFigures(
          pid,
          job,
          command,
          ended,
          counts.opens(),
          counts.items(),
          counts.misses(),
          counts.fetchedBytes(),
          JobCounts.seconds(counts.stallNanos()));
    }
  }

  /**
   * A job and what it has done.
   *
   * @param processes the number of its processes that were seen
   * @param endedSeconds how long ago it read something, if it has ended; empty also where that
   *     cannot be told
   * @param parentAlive whether it has ended, but a process is alive that has started one of its own
   * @param splitSeconds what its readers did, in seconds
   * @param epochs the first and the last 15; the one under way comes last
   */
  public record JobReport(
      String job,
      int processes,
      OptionalDouble endedSeconds,
      boolean parentAlive,
      JobCounts counts,
      Optional<Split> splitSeconds,
      List<Epoch> epochs) {
    /**
     * Returns the figures as {@code stats.json} shows them.
     *
     * @param counted whether opens are counted
     */
    public JobsFigures.Job figures(boolean counted) {
      List<JobsFigures.Epoch> shown = epochs.stream().map(Epoch::figures).toList();
      Finding finding = finding(counted, shown);
      return new JobsFigures.Job(
          job,
          processes,
          endedSeconds,
          parentAlive,
          counts.opens(),
          counts.items(),
          counts.misses(),
          counts.shownHitRatio(),
          counts.fetchedBytes().sum(),
          counts.stallSeconds(),
          splitSeconds.map(JobReport::rounded),
          finding.verdict().word(),
          finding.reason(),
          epochNow(),
          shown);
    }

    private int epochNow() {
      return isSum() ? NO_EPOCH : epochs.isEmpty() ? 0 : epochs.get(epochs.size() - 1).number();
    }

    /** Tells whether the row sums up jobs that have no row of their own. */
    private boolean isSum() {
      return job.equals(JobNames.OTHERS);
    }

    private static Split rounded(Split split) {
      return new Split(
          rounded(split.fetchOrigin()),
          rounded(split.fetchPeer()),
          rounded(split.preparation()),
          rounded(split.backPressure()));
    }

    private static double rounded(double seconds) {
      return Math.round(seconds * 1000) / 1000.0;
    }

    /**
     * Returns what the job waits for in the epoch under way, or if too little was seen of it, what
     * it waited for in the one before.
     */
    private Finding finding(boolean counted, List<JobsFigures.Epoch> shown) {
      if (!counted) {
        return Finding.unknown("opens are not counted: see --count-opens");
      }
      if (isSum()) {
        return Finding.unknown("it sums up jobs that have no row of their own");
      }
      if (shown.isEmpty()) {
        return Finding.unknown("no opens were seen");
      }
      int last = shown.size() - 1;
      if (epochs.get(last).isHidden()) {
        return Finding.unknown(HIDDEN);
      }
      Finding now = EpochSplit.finding(shown.get(last));
      return now.verdict() == Bottleneck.UNKNOWN && last > 0
          ? EpochSplit.finding(shown.get(last - 1))
          : now;
    }
  }

  /**
   * Creates counters that are 0.
   *
   * @param itemSize bytes of an item
   * @param nanoTime a clock of nanoseconds
   */
  public Activity(JobBy by, int itemSize, LongSupplier nanoTime) {
    this(
        by,
        itemSize,
        nanoTime,
        Procfs.forIsolatedThreads(Path.of("/")),
        Runtime.getRuntime().maxMemory());
  }

  /**
   * Creates the same with another /proc.
   *
   * @param heap the heap's size in bytes
   */
  Activity(JobBy by, int itemSize, LongSupplier nanoTime, Procfs procfs, long heap) {
    this.mostJobs = (int) Math.max(FEWEST_JOBS, Math.min(MOST_JOBS, heap / HEAP_OF_JOB));
    this.by = by;
    this.itemSize = itemSize;
    this.nanoTime = nanoTime;
    this.procfs = procfs;
    this.names = new JobNames(by, procfs);
    this.clock = new ReaderClock(procfs, nanoTime);
    this.callers =
        Caffeine.newBuilder()
            .refreshAfterWrite(KEEP_THREAD)
            .maximumSize(MOST_THREADS)
            .executor(Runnable::run)
            .ticker((Ticker) nanoTime::getAsLong)
            .build(lookup);
  }

  /** Looks up the process of a thread. A thread that has ended keeps its process. */
  private final class Lookup implements CacheLoader<Integer, Caller> {
    @Override
    public Caller load(Integer thread) {
      int pid = procfs.processOf(thread);
      return newCaller(thread, process(pid == 0 ? thread : pid));
    }

    /** Returns the caller that a number stands for, which may have stood for another one. */
    Caller again(Integer thread, @Nullable Caller old) {
      return old == null ? load(thread) : reload(thread, old);
    }

    @Override
    public Caller reload(Integer thread, Caller old) {
      int pid = procfs.processOf(thread);
      if (pid == 0) {
        return old;
      }
      ProcessActivity now = process(pid);
      boolean known = !isCounted(now) || clock.knows(old);
      return now == old.process() && known ? old : newCaller(thread, now);
    }
  }

  private Caller newCaller(int thread, ProcessActivity process) {
    Caller caller = new Caller(thread, process, nanoTime.getAsLong());
    if (isCounted(process)) {
      clock.add(caller);
    }
    return caller;
  }

  /** Tells whether the time of a process's readers is measured. */
  private boolean isCounted(ProcessActivity process) {
    return IS_SPLIT && process.pid != ownProcess && !process.isHidden();
  }

  /**
   * Looks at the readers in {@code /proc}; see {@link ReaderClock}. To be called several times a
   * second.
   */
  public void look() {
    clock.look();
  }

  /** Returns the number of readers that looks look at, for a test. */
  int readersKnown() {
    return clock.size();
  }

  /** Returns how processes are grouped into jobs. */
  public JobBy by() {
    return by;
  }

  /**
   * Returns a thread's figures.
   *
   * @param thread the kernel's id of it, or 0 if it is unknown; then each call returns another
   *     caller
   */
  public Caller caller(int thread) {
    if (thread == 0) {
      return new Caller(0, process(0), nanoTime.getAsLong());
    }
    Caller caller = callers.get(thread);
    if (caller.process().forgotten) {
      callers.invalidate(thread);
      return callers.get(thread);
    }
    // its last opens may be told after its end: they are its own if no other thread has its number
    return caller.hasEnded ? callers.asMap().compute(thread, lookup::again) : caller;
  }

  /** Returns when a thread opened or read something last; now, if it waits for a read. */
  public long lastActive(int thread) {
    return caller(thread).lastActive(nanoTime.getAsLong());
  }

  /** Has a listener learn of all opens from now on. */
  public void listener(OpenListener listens) {
    listener = listens;
  }

  /** Counts opens by a thread. */
  public void opened(int thread, OpenBatch batch) {
    Caller caller = caller(thread);
    ProcessActivity process = caller.process();
    if (process.pid != ownProcess) {
      caller.opened(batch, nanoTime.getAsLong());
      process.opens.add(batch.count());
      process.items.add(batch.items(itemSize));
      JobFigures job = process.job; // another one may be told meanwhile
      job.opened(batch, itemSize, process.isHidden());
      // last: a reader reads the sum first, and finds these opens in the other figures too
      opens.add(batch.count());
      listener.opened(job.name, thread, batch);
    }
  }

  /**
   * Notes that all opens that are counted from now on were made after those that have been counted.
   */
  public void settle() {
    jobsNow().forEach(JobFigures::settle);
  }

  /**
   * Returns the object that counts who uses a fetch.
   *
   * @param item names the item; equal objects name the same item
   * @param whole whether the whole item is fetched
   * @param begins whether the item's first byte is fetched
   * @param thread the thread that began the fetch
   */
  public FetchUse fetch(Object item, boolean whole, boolean begins, int thread) {
    return new ItemUse(this, item, whole, begins, caller(thread).process(), false);
  }

  /**
   * Returns the object that counts who uses the fetch of a whole item ahead of its reader: only a
   * reader that has to wait for it has a miss.
   *
   * @param item names the item; equal objects name the same item
   * @param thread a thread of the job that is expected to read it
   */
  public FetchUse fetchAhead(Object item, int thread) {
    return new ItemUse(this, item, true, true, caller(thread).process(), true);
  }

  /** Returns the bytes that have been fetched for a job; 0 if the job has no row. */
  public long fetchedBytes(String job) {
    JobFigures known;
    synchronized (lock) {
      known = jobs.get(job);
    }
    return known == null ? 0 : known.counts().fetchedBytes().sum();
  }

  /** Tells whether the processes of a job live. Reads {@code /proc}. */
  public JobLife life(String job) {
    List<ProcessActivity> processes;
    synchronized (lock) {
      processes = byPid.values().stream().filter(each -> each.job.name.equals(job)).toList();
    }
    if (processes.stream().anyMatch(each -> isAlive(each))) {
      return JobLife.ALIVE;
    }
    boolean showsAll = procfs.showsAllProcesses();
    return processes.isEmpty()
            || processes.stream()
                .anyMatch(each -> mayBeHidden(each, showsAll) || isAlive(each.parent))
        ? JobLife.UNKNOWN
        : JobLife.ENDED;
  }

  /** Returns the opens since the mount. */
  public long opens() {
    return opens.sum();
  }

  /** Returns the jobs, those with the most opens first; the last row sums up all others. */
  public List<JobReport> jobs() {
    List<JobReport> reports = new ArrayList<>();
    List<JobFigures> known;
    Map<JobFigures, List<ProcessActivity>> processes = new HashMap<>();
    JobReport others;
    synchronized (lock) {
      known = List.copyOf(jobs.values());
      byPid
          .values()
          .forEach(each -> processes.computeIfAbsent(each.job, job -> new ArrayList<>()).add(each));
      others =
          new JobReport(
              JobNames.OTHERS,
              processesOfOtherJobs,
              OptionalDouble.empty(),
              false,
              otherJobs,
              othersSplit,
              List.of());
    }
    boolean showsAll = procfs.showsAllProcesses();
    known.forEach(
        job -> reports.add(report(job, processes.getOrDefault(job, List.of()), showsAll)));
    reports.removeIf(job -> !hasDone(job.counts()));
    reports.sort(Comparator.comparingLong(job -> -job.counts().opens()));
    if (hasDone(others.counts())) {
      reports.add(others);
    }
    return reports;
  }

  private JobReport report(JobFigures job, List<ProcessActivity> processes, boolean showsAll) {
    boolean mayLive =
        processes.stream().anyMatch(each -> isAlive(each) || mayBeHidden(each, showsAll));
    return new JobReport(
        job.name,
        job.processes(),
        mayLive ? OptionalDouble.empty() : OptionalDouble.of(secondsSince(job.lastActive())),
        !mayLive && processes.stream().anyMatch(each -> isAlive(each.parent)),
        job.counts(),
        job.splitSeconds(),
        job.epochs());
  }

  private double secondsSince(long nanos) {
    return Math.round(Math.max(0, nanoTime.getAsLong() - nanos) / 1e6) / 1e3;
  }

  /**
   * Tells whether a process may live that {@code /proc} never showed. One that {@code /proc} would
   * show has ended. The kernel tells no number of a process in another pid namespace, nor of what
   * it reads for no process; but only processes open files.
   */
  private static boolean mayBeHidden(ProcessActivity process, boolean showsAll) {
    return process.isHidden() && (process.pid == 0 ? process.opens.sum() > 0 : !showsAll);
  }

  private boolean isAlive(ProcessActivity process) {
    return isAlive(process.pid, process.started);
  }

  private boolean isAlive(@Nullable ProcessStat process) {
    return process != null && isAlive(process.pid(), process.started());
  }

  private boolean isAlive(int pid, long started) {
    ProcessStat now = procfs.process(pid).orElse(null);
    return now != null && now.started() == started && !now.hasEnded();
  }

  /**
   * Returns the processes that were active last, those with the most opens first; the last row sums
   * up all others.
   */
  public List<ProcessReport> processes() {
    List<Seen> all = new ArrayList<>();
    ProcessCounts others;
    synchronized (lock) {
      byPid
          .values()
          .forEach(process -> all.add(new Seen(process, counts(process), process.lastSeen)));
      others = otherProcesses;
    }
    all.removeIf(seen -> !seen.counts().hasSome());
    // a young process has few opens: it would be among the others as long as it lives
    all.sort(Comparator.comparingLong(Seen::lastSeen).reversed());
    List<Seen> last = all.subList(0, Math.min(MOST_TOLD, all.size()));
    for (Seen rest : all.subList(last.size(), all.size())) {
      others = others.plus(rest.counts());
    }
    List<ProcessReport> told = new ArrayList<>();
    last.forEach(seen -> told.add(report(seen)));
    told.sort(Comparator.comparingLong(process -> -process.counts().opens()));
    if (others.hasSome()) {
      told.add(new ProcessReport(NO_PROCESS, JobNames.OTHERS, JobNames.OTHERS, false, others));
    }
    return told;
  }

  /** Tells whether there is anything to show. */
  private static boolean hasDone(JobCounts counts) {
    return counts.opens() + counts.misses() + counts.stallNanos().sum() > 0;
  }

  /** A process, what it had done at one moment, and when it was last active. */
  private record Seen(ProcessActivity process, ProcessCounts counts, long lastSeen) {}

  private ProcessReport report(Seen seen) {
    ProcessActivity process = seen.process();
    return new ProcessReport(
        process.pid, process.job.name, process.command, !isAlive(process), seen.counts());
  }

  private static ProcessCounts counts(ProcessActivity process) {
    return new ProcessCounts(
        process.opens.sum(),
        process.items.sum(),
        process.misses.sum(),
        process.fetchedBytes.sum(),
        process.stallNanos.sum());
  }

  private List<JobFigures> jobsNow() {
    synchronized (lock) {
      return List.copyOf(jobs.values());
    }
  }

  private ProcessActivity process(int pid) {
    ProcessStat process = pid == 0 ? null : procfs.process(pid).orElse(null);
    ProcessActivity known = seen(pid, process);
    if (known == null) {
      // without the lock, because /proc may be slow
      CompletableFuture<String> job =
          process == null
              ? CompletableFuture.completedFuture(JobNames.UNKNOWN)
              : names.jobOf(process);
      ProcessStat parent = process == null ? null : names.parentOf(process).orElse(null);
      ProcessActivity added = add(pid, process, parent, job.getNow(JobNames.NONE));
      CompletableFuture<Void> unused = job.thenAccept(name -> rename(added, name));
      known = added;
    }
    return known;
  }

  /** Moves a process to its job, if the job was not known when the process was added. */
  private void rename(ProcessActivity process, String job) {
    synchronized (lock) {
      if (!process.job.name.equals(job) && byPid.get(process.pid) == process) {
        process.job = job(job);
        process.job.hasAnotherProcess();
      }
    }
  }

  private @Nullable ProcessActivity seen(int pid, @Nullable ProcessStat process) {
    synchronized (lock) {
      ProcessActivity known = byPid.get(pid);
      if (known == null || (process != null && known.started != process.started())) {
        return null;
      }
      known.lastSeen = nanoTime.getAsLong();
      return known;
    }
  }

  /** Adds a process. If another thread has added it in the meantime, returns that. */
  private ProcessActivity add(
      int pid, @Nullable ProcessStat process, @Nullable ProcessStat parent, String job) {
    synchronized (lock) {
      ProcessActivity known = seen(pid, process);
      if (known == null) {
        ProcessActivity former = byPid.get(pid);
        if (former != null) {
          forget(former); // its number is another one's now
        } else if (byPid.size() >= MOST_PROCESSES) {
          forgetProcesses();
        }
        known = new ProcessActivity(pid, process, parent, job(job));
        byPid.put(pid, known);
        known.job.hasAnotherProcess();
        known.lastSeen = nanoTime.getAsLong();
      }
      return known;
    }
  }

  private JobFigures job(String name) {
    JobFigures job = jobs.get(name);
    if (job == null) {
      if (jobs.size() >= mostJobs) {
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
    all.subList(0, MOST_PROCESSES / GOING).forEach(this::forget);
  }

  private void forget(ProcessActivity process) {
    process.forgotten = true;
    byPid.remove(process.pid);
    otherProcesses = otherProcesses.plus(counts(process));
  }

  private void forgetJobs() {
    // read once: reads and opens change it while jobs are sorted
    Map<JobFigures, Long> active = new HashMap<>();
    jobs.values().forEach(job -> active.put(job, job.lastActive()));
    List<JobFigures> going =
        active.entrySet().stream()
            .sorted(Map.Entry.comparingByValue())
            .limit(mostJobs / GOING)
            .map(Map.Entry::getKey)
            .toList();
    for (JobFigures job : going) {
      jobs.remove(job.name);
      otherJobs = otherJobs.plus(job.counts());
      othersSplit = Split.sum(othersSplit, job.splitSeconds());
      processesOfOtherJobs += job.processes();
    }
    List.copyOf(byPid.values()).stream()
        .filter(process -> !jobs.containsKey(process.job.name))
        .forEach(this::forget);
  }
}
