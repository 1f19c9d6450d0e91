package io.holdfast.fs.residency;

import io.holdfast.fs.ItemKey;
import io.holdfast.fs.transit.Item;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * The transit window: which items that were not admitted have pages in the page cache, and when
 * those are to go. An item that was read whole goes after the window's age, one that was read in
 * part after a longer one, and both when the window is full, the one whose last read is longest ago
 * first.
 *
 * <p>Thread-safe; the monitor guards the entries and the count, and nothing else is called under
 * it.
 */
final class Window {
  /** How much of its size the window fills before the oldest go. */
  private static final double FILL = 0.6;

  /**
   * How much it fills before new readers wait for those that are going, so that what is on its way
   * in stays below the bound.
   */
  private static final double FULL = 0.75;

  /** How much longer than one that was read whole a partly read item may linger, and at least. */
  private static final int PARTIAL_TIMES = 5;

  private static final long PARTIAL_NANOS = Duration.ofSeconds(1).toNanos();

  /** What a window of no size still holds of items that were read in part. */
  private static final long PARTIAL_BOUND = 32 << 20;

  private static final long FIRST_RETRY_NANOS = Duration.ofMillis(50).toNanos();
  private static final int LONGEST_RETRY = 9;

  /** A reader waits for room in steps: for so long without one drop, and for so long in all. */
  private static final long WAIT_MILLIS = 5;

  private static final long LONGEST_STANDSTILL_NANOS = Duration.ofMillis(200).toNanos();
  private static final long LONGEST_WAIT_NANOS = Duration.ofSeconds(1).toNanos();

  /** A part of an item is apart from the item, also where both begin at the same byte. */
  private record Key(ItemKey item, long offset, int length) {
    static Key of(Item item) {
      return new Key(item.key(), item.offset(), item.length());
    }
  }

  /** An item with pages in the page cache. */
  static final class Entry {
    private final Item item;
    private long bytes;
    private boolean complete;
    private long lastRead;
    private int attempts;
    private boolean forgotten;
    private boolean held;
    private boolean going;

    Entry(Item item) {
      this.item = item;
    }

    Item item() {
      return item;
    }
  }

  private final long size;
  private final long ageNanos;
  private final LongSupplier nanoTime;

  /** The one first whose last read, or try to drop it, is longest ago. */
  private final LinkedHashMap<Key, Entry> entries = new LinkedHashMap<>();

  /** Those that were given out to be dropped. */
  private final Set<Entry> dropping = new HashSet<>();

  /** How many items of a file could not be dropped; without those of which all could. */
  private final Map<Long, Integer> heldItems = new HashMap<>();

  private long bytes;
  private long heldBytes;

  /** What was given out to be dropped and is not held, so that nothing else goes in its place. */
  private long goingBytes;

  private long droppedBytes;

  /** How many tries to drop something have ended. */
  private long drops;

  Window(long size, Duration age, LongSupplier nanoTime) {
    this.size = size;
    this.ageNanos = age.toNanos();
    this.nanoTime = nanoTime;
  }

  /**
   * Takes note of bytes that went to the page cache.
   *
   * @return what is to be dropped now
   */
  synchronized List<Entry> delivered(Item item, int count, boolean complete) {
    Key key = Key.of(item);
    Entry entry = entries.remove(key);
    if (entry == null) {
      entry = new Entry(item);
    }
    hold(entry, false);
    entries.put(key, entry);
    entry.bytes += count;
    entry.complete |= complete;
    entry.lastRead = nanoTime.getAsLong();
    bytes += count;
    // an application that has some of a file mapped will have this mapped, too
    boolean mapped = heldItems.containsKey(item.node());
    entry.attempts = mapped ? 1 : 0;
    hold(entry, mapped);
    if (entry.complete && (ageNanos == 0 || size == 0)) {
      entries.remove(key);
      go(entry);
      return List.of(entry);
    }
    return mayGo() - goingBytes > bound() ? oldest() : List.of();
  }

  /**
   * Takes note of an item whose pages are in the page cache and are to go at once.
   *
   * @return what is to be dropped now
   */
  synchronized Entry leaving(Item item, int count) {
    Entry entry = new Entry(item);
    entry.bytes = count;
    entry.complete = true;
    bytes += count;
    go(entry);
    return entry;
  }

  private void go(Entry entry) {
    dropping.add(entry);
    entry.going = !entry.held;
    goingBytes += entry.going ? entry.bytes : 0;
  }

  private void endGoing(Entry entry) {
    goingBytes -= entry.going ? entry.bytes : 0;
    entry.going = false;
  }

  /** What applications have mapped does not push out what is just being read. */
  synchronized long mayGo() {
    return bytes - heldBytes;
  }

  private long bound() {
    return size == 0 ? PARTIAL_BOUND : (long) (size * FILL);
  }

  private List<Entry> oldest() {
    List<Entry> out = new ArrayList<>();
    long left = mayGo() - goingBytes;
    for (boolean completeOnly : new boolean[] {true, false}) {
      Iterator<Entry> each = entries.values().iterator();
      while (left > bound() && each.hasNext()) {
        Entry entry = each.next();
        if ((entry.complete || !completeOnly) && entry.attempts == 0) {
          each.remove();
          out.add(entry);
          go(entry);
          left -= entry.bytes;
        }
      }
    }
    return out;
  }

  /** Returns what has been there for longer than its time. */
  synchronized List<Entry> aged() {
    long now = nanoTime.getAsLong();
    long shortest = Math.min(ageNanos, partialNanos());
    if (!heldItems.isEmpty()) {
      shortest = Math.min(shortest, FIRST_RETRY_NANOS);
    }
    List<Entry> out = new ArrayList<>();
    Iterator<Entry> each = entries.values().iterator();
    while (each.hasNext()) {
      Entry entry = each.next();
      if (now - entry.lastRead < shortest) {
        break; // and those behind it were read later
      }
      long time = entry.complete ? ageNanos : partialNanos();
      if (entry.attempts > 0) {
        time = FIRST_RETRY_NANOS << Math.min(entry.attempts, LONGEST_RETRY);
      }
      if (now - entry.lastRead >= time) {
        each.remove();
        out.add(entry);
        go(entry);
      }
    }
    return out;
  }

  private long partialNanos() {
    if (size == 0) {
      return PARTIAL_NANOS;
    }
    return ageNanos > Long.MAX_VALUE / PARTIAL_TIMES
        ? Long.MAX_VALUE
        : Math.max(PARTIAL_TIMES * ageNanos, PARTIAL_NANOS);
  }

  /**
   * Takes note of a drop.
   *
   * @param gone whether all pages went; if not, an application has them mapped, and they are tried
   *     again later
   */
  synchronized void dropped(Entry entry, boolean gone) {
    drops++;
    dropping.remove(entry);
    endGoing(entry);
    if (entry.forgotten) {
      return;
    }
    hold(entry, false);
    notifyAll();
    if (gone) {
      bytes -= entry.bytes;
      droppedBytes += entry.bytes;
      return;
    }
    Key key = Key.of(entry.item);
    Entry newer = entries.get(key);
    if (newer != null) {
      boolean held = newer.held;
      hold(newer, false);
      newer.bytes += entry.bytes;
      hold(newer, held);
      return;
    }
    entry.attempts++;
    entry.lastRead = nanoTime.getAsLong();
    entries.put(key, entry);
    hold(entry, true);
  }

  /** Forgets a file whose version has changed: its pages went with the kernel's entry. */
  synchronized void forget(long node) {
    entries.values().removeIf(entry -> forget(entry, node));
    dropping.removeIf(entry -> forget(entry, node));
  }

  private boolean forget(Entry entry, long node) {
    if (entry.item.node() != node) {
      return false;
    }
    entry.forgotten = true;
    endGoing(entry);
    hold(entry, false);
    bytes -= entry.bytes;
    return true;
  }

  /** What applications have mapped cannot go, and nobody waits for it. */
  private void hold(Entry entry, boolean held) {
    if (entry.held != held) {
      entry.held = held;
      heldBytes += held ? entry.bytes : -entry.bytes;
      int change = held ? 1 : -1;
      heldItems.merge(entry.item.node(), change, (a, b) -> a + b == 0 ? null : a + b);
    }
  }

  /**
   * Waits, for a bounded time, while the window is full of what is going. A drop waits for all
   * processors of a busy machine to tell what they hold, so the wait goes on while there are drops.
   */
  synchronized void awaitRoom() {
    long begin = nanoTime.getAsLong();
    long progress = begin;
    long ended = drops;
    while (size > 0 && mayGo() > size * FULL) {
      long now = nanoTime.getAsLong();
      if (ended != drops) {
        ended = drops;
        progress = now;
      }
      if (now - progress > LONGEST_STANDSTILL_NANOS || now - begin > LONGEST_WAIT_NANOS) {
        return;
      }
      try {
        wait(WAIT_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }

  /** Returns the bytes in the page cache that are not resident. */
  synchronized long bytes() {
    return bytes;
  }

  /** Returns the bytes that were dropped since the mount. */
  synchronized long droppedBytes() {
    return droppedBytes;
  }
}
