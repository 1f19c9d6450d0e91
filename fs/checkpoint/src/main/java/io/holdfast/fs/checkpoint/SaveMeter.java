package io.holdfast.fs.checkpoint;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.function.LongSupplier;

/**
 * Measures saves: how long a program is blocked by one, and how long the store takes until it has
 * it durably. A save is a row of changes with no pause of more than a second. The blocked time is
 * the time in which at least one change was under way. Both times are means that follow the newest
 * save by half. Thread-safe.
 */
public final class SaveMeter {
  private static final long PAUSE = 1_000_000_000L;
  private static final double NEWEST = 0.5;

  /** A save that has begun. Guarded by this, as all. */
  private static final class Save {
    final long began;
    long blocked;
    long last;
    long lastChange;
    long durableAt = -1;

    Save(long began) {
      this.began = began;
    }
  }

  private final LongSupplier nanoTime;
  private final ArrayDeque<Save> saves = new ArrayDeque<>();
  private int active;
  private long activeSince;
  private double total;
  private double blocked;

  /** Creates a meter by a clock of nanoseconds. */
  public SaveMeter(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /** A change begins. */
  synchronized void begin() {
    long now = nanoTime.getAsLong();
    if (active++ > 0) {
      return;
    }
    activeSince = now;
    Save current = saves.peekLast();
    if (current == null || now - current.lastChange > PAUSE) {
      current = new Save(now);
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
    current.last = sequence;
    current.lastChange = now;
    if (--active == 0) {
      current.blocked += now - activeSince;
    }
  }

  /** All operations up to this one are durable in the store. */
  synchronized void durable(long sequence) {
    long now = nanoTime.getAsLong();
    for (Save save : saves) {
      if (save.durableAt < 0
          && save.last <= sequence
          && !(save == saves.peekLast() && active > 0)) {
        save.durableAt = now;
      }
    }
    finish(now);
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
      double took = Math.max(save.durableAt - save.began, save.blocked) / 1e9;
      double waited = save.blocked / 1e9;
      total = total == 0 ? took : total + NEWEST * (took - total);
      blocked = total == took ? waited : blocked + NEWEST * (waited - blocked);
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
    return Advice.of(total == 0 ? 0 : Math.max(total, expected), blocked, iteration, bound);
  }

  /** Returns the seconds until the store has a save, and those in which the program was blocked. */
  public synchronized double[] seconds() {
    finish(nanoTime.getAsLong());
    return new double[] {total, blocked};
  }
}
