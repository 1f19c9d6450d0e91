package io.holdfast.fs.orders;

import io.holdfast.fs.ItemKey;
import io.holdfast.fs.residency.Swaps;
import io.holdfast.fs.transit.Item;
import java.time.Duration;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Spreads the residents over the order of the job that reads alone. While several jobs read, a
 * resident that one of them has read may be what another is about to read, so nothing is swapped: a
 * job is alone once no other has opened a file for {@link #ALONE}, with an earlier daemon or this
 * one. Thread-safe; no method waits.
 */
final class Spreading implements Swaps {
  /** A job that has opened nothing for so long is not in the middle of a pass. */
  static final Duration ALONE = Duration.ofMinutes(10);

  private final Function<String, @Nullable Order> orders;
  private final LongSupplier nanoTime;

  /** When the first job that opens a file counts as alone. */
  private volatile long firstFrom;

  /** The job that opened a file last; null before any has. */
  private volatile @Nullable Reader last;

  /**
   * A job.
   *
   * @param from when it counts as alone, if no other job has opened a file by then
   */
  private record Reader(String job, long from) {}

  /**
   * Creates a spreading for no job.
   *
   * @param orders returns the order of a job
   */
  Spreading(Function<String, @Nullable Order> orders, LongSupplier nanoTime) {
    this.orders = orders;
    this.nanoTime = nanoTime;
    this.firstFrom = nanoTime.getAsLong();
  }

  /** Notes that any job may just have opened files with an earlier daemon. */
  void goesOn() {
    firstFrom = nanoTime.getAsLong() + ALONE.toNanos();
  }

  /** Notes that a job has opened files. */
  void opened(String job) {
    Reader before = last;
    if (before == null) {
      last = new Reader(job, firstFrom);
    } else if (!before.job.equals(job)) {
      last = new Reader(job, nanoTime.getAsLong() + ALONE.toNanos());
    }
  }

  private @Nullable Order order() {
    Reader reader = last;
    return reader == null || nanoTime.getAsLong() - reader.from < 0
        ? null
        : orders.apply(reader.job);
  }

  @Override
  public boolean spreads() {
    return true;
  }

  @Override
  public void asked(Item item) {
    Order order = order();
    if (order != null) {
      order.asked(item);
    }
  }

  @Override
  public boolean wants(Item item) {
    Order order = order();
    return order != null && order.wants(item);
  }

  @Override
  public @Nullable ItemKey victim(Item item, long freePages, long slackPages) {
    Order order = order();
    return order == null ? null : order.victim(item, freePages, slackPages);
  }

  @Override
  public void swapped(Item item) {
    Order order = order();
    if (order != null) {
      order.swapped(item);
    }
  }
}
