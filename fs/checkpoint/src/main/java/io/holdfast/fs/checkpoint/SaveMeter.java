package io.holdfast.fs.checkpoint;

import io.holdfast.fs.linux.Linux;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.function.LongSupplier;

/**
 * Measures saves: how long a program is blocked by one, how long the store takes until it has it
 * durably, and how much of the processors the daemon takes meanwhile. A save is a row of changes
 * with no pause of more than a second. The blocked time is the time in which at least one change
 * was under way. A row in which nothing was performed, such as an fsync of what is durable, is no
 * save. All are means that follow the newest save by half. Thread-safe.
 */
public final class SaveMeter {
  private static final long PAUSE = 1_000_000_000L;
  private static final double NEWEST = 0.5;

  /** A save that has begun. Guarded by this, as all. */
  private static final class Save {
    final long began;
    final long workBegan;

    /** The last operation that was known when it began. */
    final long before;

    long blocked;

    /** The work of the daemon while the program was blocked. */
    long workBlocked;

    /** All work of the daemon, once the save is durable. */
    long workDone;

    long last;
    long lastChange;
    long durableAt = -1;

    Save(long began, long workBegan, long before) {
      this.began = began;
      this.workBegan = workBegan;
      this.before = before;
    }
  }

  private final LongSupplier nanoTime;
  private final LongSupplier workNanos;
  private final ArrayDeque<Save> saves = new ArrayDeque<>();

  /** The last operation that was told of. */
  private long known;

  /** The last one that is durable, and since when. */
  private long durable;

  private long durableSince;
  private int active;
  private long activeSince;
  private long activeWork;
  private double total;
  private double blocked;
  private double work;

  /**
   * Creates a meter.
   *
   * @param nanoTime a clock of nanoseconds
   * @param workNanos by how many nanoseconds this process has delayed programs that keep all
   *     processors busy: the processor time that it has used, over the number of processors
   */
  public SaveMeter(LongSupplier nanoTime, LongSupplier workNanos) {
    this.nanoTime = nanoTime;
    this.workNanos = workNanos;
  }

  /** Creates a meter of this process and machine. */
  public static SaveMeter ofProcess() {
    return new SaveMeter(
        System::nanoTime,
        () -> Linux.processorNanos() / Runtime.getRuntime().availableProcessors());
  }

  /**
   * Begins with a front, perhaps one that was made anew and counts operations from the first again.
   *
   * @param sequence the last operation that the store has
   */
  synchronized void restart(long sequence) {
    known = sequence;
    durable = sequence;
    durableSince = nanoTime.getAsLong();
  }

  /** A change begins. */
  synchronized void begin() {
    long now = nanoTime.getAsLong();
    if (active++ > 0) {
      return;
    }
    activeSince = now;
    activeWork = workNanos.getAsLong();
    Save current = saves.peekLast();
    if (current == null || now - current.lastChange > PAUSE) {
      current = new Save(now, activeWork, known);
      saves.add(current);
    }
    current.durableAt = -1;
  }

  /**
   * A change has ended.
   *
   * @param sequence the number of the last operation by now
   */
  synchronized void end(long sequence) {
    long now = nanoTime.getAsLong();
    Save current = saves.getLast();
    current.last = Math.max(current.last, sequence);
    current.lastChange = now;
    known = Math.max(known, sequence);
    if (--active == 0) {
      current.blocked += now - activeSince;
      current.workBlocked += workNanos.getAsLong() - activeWork;
      if (current.last <= durable) {
        isDurable(current, durableSince); // it was before the change ended, such as an fsync
      }
    }
  }

  /** All operations up to this one are durable in the store. */
  synchronized void durable(long sequence) {
    long now = nanoTime.getAsLong();
    if (sequence > durable) {
      durable = sequence;
      durableSince = now;
    }
    known = Math.max(known, sequence);
    for (Save save : saves) {
      if (save.durableAt < 0
          && save.last <= sequence
          && !(save == saves.peekLast() && active > 0)) {
        isDurable(save, now);
      }
    }
    finish(now);
  }

  private void isDurable(Save save, long since) {
    save.durableAt = since;
    save.workDone = workNanos.getAsLong() - save.workBegan;
  }

  /** Takes the saves that are over into the means. */
  private void finish(long now) {
    Iterator<Save> each = saves.iterator();
    while (each.hasNext()) {
      Save save = each.next();
      boolean over = save != saves.peekLast() || (active == 0 && now - save.lastChange > PAUSE);
      if (save.durableAt < 0 || !over) {
        return;
      }
      each.remove();
      if (save.last <= save.before) {
        continue; // nothing was performed
      }
      double took = Math.max(save.durableAt - save.began, save.blocked) / 1e9;
      double newest = total == 0 ? 1 : NEWEST;
      total += newest * (took - total);
      blocked += newest * (save.blocked / 1e9 - blocked);
      work += newest * ((save.workDone - save.workBlocked) / 1e9 - work);
    }
  }

  /**
   * Returns the advice by what was measured. A save that the store does not have yet counts for as
   * long as it is expected to take, if that is longer: a store that has become slow would else be
   * noticed only after it has taken a save.
   *
   * @param iteration seconds of an iteration; 0 if not known
   * @param bound of the overhead
   * @param rest seconds that the store is expected to need for all that it does not have
   */
  public synchronized Advice advice(double iteration, double bound, double rest) {
    long now = nanoTime.getAsLong();
    finish(now);
    double expected =
        saves.stream()
            .filter(save -> save.durableAt < 0)
            .mapToDouble(save -> (now - save.began) / 1e9 + rest)
            .findFirst()
            .orElse(0);
    return Advice.of(total == 0 ? 0 : Math.max(total, expected), blocked, work, iteration, bound);
  }

  /**
   * The times that saves take, in seconds.
   *
   * @param total until the store has a save
   * @param blocked in which its program was blocked
   * @param work by which the daemon delays programs that keep all processors busy, besides
   */
  public record Seconds(double total, double blocked, double work) {}

  /** Returns what saves take; nothing but 0 before the first one is over. */
  public synchronized Seconds seconds() {
    finish(nanoTime.getAsLong());
    return new Seconds(total, blocked, work);
  }
}
