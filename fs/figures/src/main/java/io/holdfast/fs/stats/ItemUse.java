package io.holdfast.fs.stats;

import io.holdfast.fs.FetchUse;
import io.holdfast.fs.ReadSource;
import java.util.ArrayList;
import java.util.List;

/**
 * Counts who uses the fetch of an item, or of a part of one. A process, and with it its job, has a
 * miss when it began the fetch or has to wait for it. It has one miss, however often it reads.
 * Thread-safe; the monitor guards the users.
 */
final class ItemUse implements FetchUse {
  private final Activity activity;
  private final Object item;
  private final boolean whole;
  private final boolean begins;
  private final ProcessActivity starter;
  private final boolean ahead;
  private final List<ProcessActivity> users = new ArrayList<>(1);

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
  }

  @Override
  public Object job() {
    return starter.job;
  }
}
