package io.holdfast.fs.stats;

import io.holdfast.fs.FetchUse;
import io.holdfast.fs.ReadSource;
import java.util.ArrayList;
import java.util.List;

/**
 * Counts who uses the fetch of an item, or of a part of one. A process, and with it its job, has a
 * miss when it began the fetch or has to wait for it. It has one miss, however often it reads. The
 * bytes are those of the job that began the fetch; other jobs that wait share them. Thread-safe;
 * the monitor guards the users and sharers, and the bytes fetched so far.
 */
final class ItemUse implements FetchUse {
  private final Activity activity;
  private final Object item;
  private final boolean whole;
  private final boolean begins;
  private final ProcessActivity starter;
  private final boolean ahead;
  private final List<ProcessActivity> users = new ArrayList<>(1);

  /** The jobs that wait for what another one has fetched. */
  private final List<JobFigures> sharers = new ArrayList<>(0);

  private Tiers fetched = Tiers.NOTHING;

  /**
   * Creates the use of a fetch that has begun.
   *
   * @param whole whether the whole item is fetched
   * @param begins whether the item's first byte is fetched
   * @param starter the process that began the fetch, or that it is fetched for
   * @param ahead whether it is fetched ahead of its reader
   */
  ItemUse(
      Activity activity,
      Object item,
      boolean whole,
      boolean begins,
      ProcessActivity starter,
      boolean ahead) {
    this.activity = activity;
    this.item = item;
    this.whole = whole;
    this.begins = begins;
    this.starter = starter;
    this.ahead = ahead;
  }

  @Override
  public void read(int thread, boolean waits) {
    ProcessActivity process = activity.caller(thread).process();
    JobFigures job = process.job;
    boolean ofJob = true;
    synchronized (this) {
      if (users.contains(process) || (!waits && (ahead || process != starter))) {
        return;
      }
      for (ProcessActivity user : users) {
        ofJob &= user.job != job;
      }
      users.add(process);
      if (ofJob && job != starter.job) {
        sharers.add(job);
        job.shared(ReadSource.ORIGIN).add(fetched.origin());
        job.shared(ReadSource.PEER).add(fetched.peer());
      }
    }
    if (ofJob && !whole && !job.isMiss(item, begins)) {
      return;
    }
    process.misses.increment();
    if (ofJob) {
      job.misses.increment();
    }
  }

  @Override
  public void fetched(int bytes, ReadSource source) {
    starter.fetchedBytes.add(bytes);
    starter.job.fetched(source).add(bytes);
    synchronized (this) {
      fetched = fetched.plus(source, bytes);
      sharers.forEach(job -> job.shared(source).add(bytes));
    }
  }

  @Override
  public Object job() {
    return starter.job;
  }
}
