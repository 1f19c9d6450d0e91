package io.holdfast.fs.mount.kernel;

import java.time.Duration;
import java.util.Iterator;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The listings that the kernel keeps. A program that lists from these sends no message, and so gets
 * no attributes: if it then looks at the entries, as {@code find -size} after {@code find} does, it
 * sends a LOOKUP for each. Such a program is seen by its LOOKUPs in a directory that it has not
 * listed here; the kernel is then told to drop all listings, so that the program's next directory
 * comes with attributes. A wrong guess costs that somebody lists once more. Thread-safe.
 */
final class KeptListings {
  /**
   * After so many LOOKUPs in one directory in a row a thread is believed to look at all entries.
   */
  private static final int MANY = 16;

  /** The most directories that are remembered: of more, the kernel keeps the listings. */
  private static final int MOST = 1 << 16;

  /** Threads remembered; a power of two. They are forgotten by collision. */
  private static final int SLOTS = 1024;

  /** The least time between two drops: a job that opens files at random may look like a lister. */
  private static final long PAUSE_NANOS = Duration.ofSeconds(1).toNanos();

  private final LongConsumer drop;
  private final LongSupplier nanoTime;
  private final Set<Long> kept = ConcurrentHashMap.newKeySet();
  private final AtomicReferenceArray<@Nullable Looker> lookers = new AtomicReferenceArray<>(SLOTS);
  private final AtomicLong lastDrop;

  /** A thread that looks at entries of a directory. */
  private record Looker(int thread, long directory, int lookups) {}

  /**
   * Creates it for a mount that has listed nothing.
   *
   * @param drop has the kernel drop the listing of a directory; must not block
   */
  KeptListings(LongConsumer drop, LongSupplier nanoTime) {
    this.drop = drop;
    this.nanoTime = nanoTime;
    this.lastDrop = new AtomicLong(nanoTime.getAsLong() - PAUSE_NANOS);
  }

  /** Notes that the kernel gets entries of a directory, and may keep them. */
  void listed(long directory, int thread) {
    lookers.set(slot(thread), null);
    if (kept.size() < MOST) {
      kept.add(directory);
    }
  }

  /** Notes that the kernel has forgotten a file or directory, and so keeps no listing of it. */
  void forgotten(long node) {
    kept.remove(node);
  }

  /**
   * Notes that a thread has looked up an entry that is no directory.
   *
   * @return whether the thread looks at what it lists, and all listings were dropped for that
   */
  boolean looked(long directory, int thread) {
    Looker before = lookers.get(slot(thread));
    boolean goesOn = before != null && before.thread == thread && before.directory == directory;
    if (!goesOn && !kept.contains(directory)) {
      return false;
    }
    int lookups = goesOn ? before.lookups + 1 : 1;
    lookers.set(slot(thread), new Looker(thread, directory, lookups));
    return lookups == MANY && dropAll();
  }

  private boolean dropAll() {
    long now = nanoTime.getAsLong();
    long last = lastDrop.get();
    if (now - last < PAUSE_NANOS || !lastDrop.compareAndSet(last, now)) {
      return false;
    }
    for (Iterator<Long> each = kept.iterator(); each.hasNext(); ) {
      long directory = each.next();
      each.remove();
      drop.accept(directory);
    }
    return true;
  }

  private static int slot(int thread) {
    return thread & (SLOTS - 1);
  }
}
