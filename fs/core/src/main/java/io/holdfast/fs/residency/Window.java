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
 * The transit window: the items that were not admitted and have pages in the page cache. It tells
 * when to drop these pages. An item that was read completely is dropped after the window's age, a
 * partly read item later. When the window is full, it drops the items whose last read is longest
 * ago.
 *
 * <p>Thread-safe; the monitor guards the entries and the counts, and is a leaf lock.
 */
final class Window {
  /** Share of the size above which the window drops the oldest items. */
  private static final double FILL = 0.6;

  /**
   * Share of the size above which new readers wait for drops, so that pages on their way in stay
   * below the bound.
   */
  private static final double FULL = 0.75;

  /**
   * A partly read item stays this many times longer than a complete one, and at least {@link
   * #PARTIAL_NANOS}.
   */
  private static final int PARTIAL_TIMES = 5;

  private static final long PARTIAL_NANOS = Duration.ofSeconds(1).toNanos();

  /** Bytes of partly read items that a window of size 0 may still hold. */
  private static final long PARTIAL_BOUND = 32 << 20;

  /** The kernel drops a page that it was just copying to a program a moment later. */
  private static final long BUSY_NANOS = Duration.ofMillis(20).toNanos();

  private static final long FIRST_RETRY_NANOS = Duration.ofMillis(50).toNanos();
  private static final int LONGEST_RETRY = 9;

  /**
   * A reader waits for room in steps of this length, up to a limit without any drop and a limit in
   * all.
   */
  private static final long WAIT_MILLIS = 5;

  private static final long LONGEST_STANDSTILL_NANOS = Duration.ofMillis(200).toNanos();
  private static final long LONGEST_WAIT_NANOS = Duration.ofSeconds(1).toNanos();

  /** Tells a part of an item from the item, even where both begin at the same byte. */
  private record Key(ItemKey item, long offset, int length) {
    static Key of(Item item) {
      return new Key(item.key(), item.offset(), item.length());
    }

    // as of any record, but a few times cheaper with Java's first compiler: asked for each item
    @Override
    public boolean equals(Object other) {
      return other instanceof Key key
          && item.equals(key.item)
          && offset == key.offset
          && length == key.length;
    }

    @Override
    public int hashCode() {
      return item.hashCode() + Long.hashCode(offset);
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

    /** Whether it is held because the first attempt to drop it has failed. */
    private boolean busy;

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

  /** In the order of the last read, or of the last attempt to drop; the oldest first. */
  private final LinkedHashMap<Key, Entry> entries = new LinkedHashMap<>();

  /** Entries that are being dropped. */
  private final Set<Entry> dropping = new HashSet<>();

  /** By file, how many items could not be dropped; only files that have any. */
  private final Map<Long, Integer> heldItems = new HashMap<>();

  private long bytes;
  private long heldBytes;

  /** The part of the held bytes that the kernel drops soon, unless an application has mapped it. */
  private long busyBytes;

  /**
   * Bytes that are being dropped, so that no other entries are dropped in their place; without held
   * entries.
   */
  private long goingBytes;

  private long droppedBytes;

  /** How many attempts to drop have ended. */
  private long drops;

  Window(long size, Duration age, LongSupplier nanoTime) {
    this.size = size;
    this.ageNanos = age.toNanos();
    this.nanoTime = nanoTime;
  }

  /** Tells whether all bytes of an item are in the page cache for now. */
  synchronized boolean has(Item item) {
    Entry entry = entries.get(Key.of(item));
    return entry != null && entry.bytes >= item.length();
  }

  /**
   * Records bytes that went to the page cache.
   *
   * @return the entries to drop now
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
    // an application that has mapped a part of a file will map this part, too
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
   * Records that an item in the window is being read, though the kernel asks for none of its bytes.
   *
   * @return the entries to drop now
   */
  synchronized List<Entry> read(Item item) {
    return entries.containsKey(Key.of(item)) ? delivered(item, 0, true) : List.of();
  }

  /**
   * Records an item whose cached pages are to be dropped at once.
   *
   * @return the entry to drop now
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

  /**
   * Returns the bytes that can be dropped: pages that applications have mapped do not push out
   * pages that are being read.
   */
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

  /** Returns the entries whose time is over, to be dropped. */
  synchronized List<Entry> aged() {
    long now = nanoTime.getAsLong();
    long shortest = Math.min(ageNanos, partialNanos());
    if (!heldItems.isEmpty()) {
      shortest = Math.min(shortest, busyBytes > 0 ? BUSY_NANOS : FIRST_RETRY_NANOS);
    }
    List<Entry> out = new ArrayList<>();
    Iterator<Entry> each = entries.values().iterator();
    while (each.hasNext()) {
      Entry entry = each.next();
      if (now - entry.lastRead < shortest) {
        break; // the entries behind it were read later
      }
      long time = entry.complete ? ageNanos : partialNanos();
      if (entry.attempts > 0) {
        time =
            entry.busy ? BUSY_NANOS : FIRST_RETRY_NANOS << Math.min(entry.attempts, LONGEST_RETRY);
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
    return unreadNanos(ageNanos);
  }

  /** Returns how long the pages of an item stay that was not read completely. */
  static long unreadNanos(long ageNanos) {
    return ageNanos > Long.MAX_VALUE / PARTIAL_TIMES
        ? Long.MAX_VALUE
        : Math.max(PARTIAL_TIMES * ageNanos, PARTIAL_NANOS);
  }

  /**
   * Records the end of an attempt to drop an entry.
   *
   * @param gone whether all pages went; if not, an application has them mapped, and a later attempt
   *     follows
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
    if (entry.attempts == 1) {
      entry.busy = true;
      busyBytes += entry.bytes;
    }
  }

  /** Forgets a file whose version has changed: the kernel dropped its pages with its entry. */
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

  /**
   * Marks an entry whose pages applications have mapped. Such pages cannot be dropped, and nobody
   * waits for them, except for those that may just have been busy.
   */
  private void hold(Entry entry, boolean held) {
    if (entry.busy) {
      entry.busy = false;
      busyBytes -= entry.bytes;
    }
    if (entry.held != held) {
      entry.held = held;
      heldBytes += held ? entry.bytes : -entry.bytes;
      int change = held ? 1 : -1;
      heldItems.merge(entry.item.node(), change, (a, b) -> a + b == 0 ? null : a + b);
    }
  }

  /**
   * Waits, for a bounded time, while the window is full of pages that are being dropped. The wait
   * goes on while drops succeed: on a busy machine, a drop waits for all processors to flush their
   * batches of pages.
   */
  synchronized void awaitRoom() {
    long begin = nanoTime.getAsLong();
    long progress = begin;
    long ended = drops;
    while (size > 0 && mayGo() + busyBytes > size * FULL) {
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
