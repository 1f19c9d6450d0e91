package io.holdfast.fs.stats;

import io.holdfast.fs.linux.Procfs;
import io.holdfast.fs.linux.Procfs.ProcessStat;
import io.holdfast.fs.linux.Procfs.ProcessorTimes;
import io.holdfast.fs.linux.Procfs.ThreadTimes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Measures how long readers live, run, and wait for a processor, by looking at {@code /proc} again
 * and again. A reader is a thread that opens or reads files. Thread-safe; the monitor guards the
 * looks, and the fields of readers that say so.
 *
 * <p><b>What counts.</b> The time of a reader from its first open or read to its last: at a look
 * that finds a new open or read, all of the time since the last such look, with the CPU time of
 * that time. So a reader that rests between two opens is counted, and one that reads no more is
 * not. A thread that was active at one look only is no reader: the main process of a training job
 * may open a file at its start. There are two more exceptions:
 *
 * <ul>
 *   <li>A thread that takes less than a part ({@link #FEWEST_PART}) of the bytes a second that the
 *       job's average reader takes is no reader. It reads an index in each pass, for example.
 *   <li>When a reader has rested for longer than {@link #REST}, or while its job paused, that time
 *       is not its own: it reads for the validation, and the job trains.
 * </ul>
 *
 * <p>What a process does between the last look and its end is not seen. The kernel tells the CPU
 * time of a process by itself, without its children's, and a process id that was used again is
 * known by the start of the process.
 *
 * <p>The time of the machine's processors is counted beside, from look to look of a job, and tells
 * whether they were short.
 *
 * <p><b>Cost.</b> Two small files of {@code /proc} for a reader, some 15 us. Only jobs that were
 * active since the last look are looked at. After a look, the next one waits {@link #PAUSE} times
 * the CPU time that the look took, so looks take at most 2 % of a processor, however many readers
 * there are. A look that had to wait for a processor is no reason to be blind for long: a short
 * epoch would have no times at all. At most {@link #MOST_READERS} readers are known.
 */
final class ReaderClock {
  /** The most readers; those that were active last. */
  static final int MOST_READERS = 8192;

  private static final int GOING = 16;
  private static final int PAUSE = 50;
  private static final long REST = JobFigures.LONG_PAUSE;

  /** A reader takes at least one part in so many of what the average reader takes in its time. */
  private static final int FEWEST_PART = 16;

  /** A thread that was first seen a moment ago has not shown yet at which rate it reads. */
  private static final long FIRST = Duration.ofSeconds(1).toNanos();

  private final Procfs procfs;
  private final LongSupplier nanoTime;
  private final int most;

  private final Set<Caller> readers = ConcurrentHashMap.newKeySet();
  private long next;
  private boolean begun;

  /** The time of the machine's processors at the last look of a job that counted. */
  private final Map<JobFigures, ProcessorTimes> processors = new WeakHashMap<>();

  /** Creates a clock without readers. */
  ReaderClock(Procfs procfs, LongSupplier nanoTime) {
    this(procfs, nanoTime, MOST_READERS);
  }

  /** Creates the same for at most so many readers. */
  ReaderClock(Procfs procfs, LongSupplier nanoTime, int most) {
    this.most = most;
    this.procfs = procfs;
    this.nanoTime = nanoTime;
  }

  /** Adds a thread that opens or reads for the first time, from now on. */
  void add(Caller reader) {
    ThreadTimes times = procfs.thread(reader.pid(), reader.thread).orElse(null);
    if (times == null) {
      return;
    }
    if (readers.size() >= most) {
      forgetOldest();
    }
    reader.cpu = times.cpuNanos();
    reader.runDelay = times.runDelayNanos();
    reader.counted = nanoTime.getAsLong();
    reader.firstSeen = reader.counted;
    reader.seenActive = reader.counted - 1; // before the open or read that it is added for
    // from here on a look may find it; without the monitor, because a look may take long
    readers.add(reader);
  }

  private void forgetOldest() {
    long now = nanoTime.getAsLong();
    Map<Caller, Long> active = new HashMap<>();
    readers.forEach(reader -> active.put(reader, reader.lastActive(now) - now));
    active.entrySet().stream()
        .sorted(Map.Entry.comparingByValue())
        .limit(most / GOING)
        .forEach(entry -> readers.remove(entry.getKey()));
  }

  /** Tells whether looks look at a reader. */
  boolean knows(Caller reader) {
    return readers.contains(reader);
  }

  /** Returns the number of readers that are known. */
  int size() {
    return readers.size();
  }

  /** Looks at the readers, unless the last one was a moment ago and took much CPU time. */
  synchronized void look() {
    if (readers.isEmpty()) {
      return;
    }
    long cpu = procfs.ownCpuNanos();
    long now = nanoTime.getAsLong();
    if (begun && now - next < 0) {
      return;
    }
    Map<ProcessActivity, List<Caller>> processes = new HashMap<>();
    for (Caller reader : readers) {
      if (reader.process().job.wasActive() || reader.isReading()) {
        processes.computeIfAbsent(reader.process(), process -> new ArrayList<>(1)).add(reader);
      }
    }
    Map<JobFigures, Sum> sums = new HashMap<>();
    processes.forEach(
        (process, threads) ->
            look(process, threads, sums.computeIfAbsent(process.job, job -> new Sum(job, now))));
    ProcessorTimes machine = sums.isEmpty() ? null : procfs.processors().orElse(null);
    sums.forEach(
        (job, sum) -> {
          ReaderTimes times = sum.times.plus(since(job, machine, sum.time));
          job.looked(now, times, sum.bytes, sum.alive);
        });
    begun = true;
    next = now + PAUSE * (procfs.ownCpuNanos() - cpu);
  }

  /**
   * Returns the time of the machine's processors since the job's last look that counted, if this
   * one counts.
   *
   * @param machine their time so far; null if the kernel did not tell
   */
  private ReaderTimes since(JobFigures job, @Nullable ProcessorTimes machine, Time time) {
    if (machine == null) {
      if (time == Time.LOST) {
        processors.remove(job); // or the next look would count the time that does not
      }
      return ReaderTimes.NOTHING;
    }
    ProcessorTimes before = processors.putIfAbsent(job, machine);
    if (before == null || time == Time.PENDING) {
      return ReaderTimes.NOTHING;
    }
    processors.put(job, machine);
    long all = machine.allNanos() - before.allNanos();
    // the kernel's figure of idle time may fall a little
    long idle = Math.max(0, Math.min(all, machine.idleNanos() - before.idleNanos()));
    return time == Time.COUNTS && all > 0
        ? new ReaderTimes(0, 0, 0, 0, all, idle, 0)
        : ReaderTimes.NOTHING;
  }

  /** The sum of a job's readers at one look. */
  private static final class Sum {
    final JobFigures job;
    final long now;
    ReaderTimes times = ReaderTimes.NOTHING;
    long bytes;
    int alive;
    Time time = Time.PENDING;

    Sum(JobFigures job, long now) {
      this.job = job;
      this.now = now;
    }
  }

  private void look(ProcessActivity process, List<Caller> threads, Sum sum) {
    ProcessStat stat = process.forgotten ? null : procfs.process(process.pid).orElse(null);
    if (stat == null || stat.hasEnded() || stat.started() != process.started) {
      threads.forEach(this::end);
      return;
    }
    Time time = Time.PENDING;
    for (Caller reader : threads) {
      ThreadTimes times = procfs.thread(process.pid, reader.thread).orElse(null);
      if (times == null) {
        end(reader);
      } else {
        Time ofReader = look(reader, times, sum);
        time = ofReader.compareTo(time) > 0 ? ofReader : time;
      }
    }
    long cpu = process.cpuUntil(stat.cpuNanos(), time != Time.PENDING);
    sum.time = time.compareTo(sum.time) > 0 ? time : sum.time;
    if (time == Time.COUNTS) {
      sum.times = sum.times.plus(new ReaderTimes(0, cpu, 0, 0, 0, 0, 0));
    }
  }

  /** Says whether the time since the last look counts. */
  private enum Time {
    /** It is not known yet: the reader has not gone on. */
    PENDING,
    /** It does not count. */
    LOST,
    /** It counts. */
    COUNTS
  }

  /** Looks at a reader that lives. */
  private static Time look(Caller reader, ThreadTimes times, Sum sum) {
    long bytes = reader.bytes();
    sum.bytes += bytes - reader.seenBytes;
    reader.seenBytes = bytes;
    boolean active = reader.lastActive(sum.now) - reader.seenActive > 0;
    boolean rested =
        sum.now - reader.seenActive > REST || sum.job.hasPausedSince(reader.seenActive);
    boolean wasActive = reader.goesOn;
    if (active) {
      reader.firstSeen += rested ? sum.now - reader.seenActive : 0;
      reader.seenActive = sum.now;
      reader.goesOn = true;
      reader.counts = wasActive && isReader(reader, sum);
    }
    sum.alive += reader.counts && (active || !rested) ? 1 : 0;
    if (!active || !wasActive) {
      return Time.PENDING;
    }
    boolean isAnother = times.cpuNanos() < reader.cpu;
    boolean counts = reader.counts && !rested && !isAnother;
    if (counts) {
      sum.times =
          sum.times.plus(
              new ReaderTimes(
                  sum.now - reader.counted,
                  0,
                  times.cpuNanos() - reader.cpu,
                  Math.max(0, times.runDelayNanos() - reader.runDelay),
                  0,
                  0,
                  0));
    }
    reader.counted = sum.now;
    reader.cpu = times.cpuNanos();
    reader.runDelay = times.runDelayNanos();
    return counts ? Time.COUNTS : Time.LOST;
  }

  /** Tells whether a thread takes as much as a reader does. */
  private static boolean isReader(Caller reader, Sum sum) {
    double own = (double) reader.seenBytes / Math.max(FIRST, sum.now - reader.firstSeen);
    return own * FEWEST_PART >= sum.job.bytesPerReaderNano();
  }

  private void end(Caller reader) {
    readers.remove(reader);
    reader.hasEnded = true;
  }
}
