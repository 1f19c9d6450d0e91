package io.holdfast.fs.mount.kernel;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Guesses whether a thread looks at the entries that it lists, as {@code ls -l} and {@code du} do,
 * or wants names alone, as {@code find} does. The guess follows from the last directory that the
 * thread listed: it looked up an entry that had come without attributes, or it did not. If all
 * entries would come with attributes, one entry comes without, to find out. Remembers a fixed
 * number of threads and forgets by collision: a wrong guess costs time, never an answer.
 * Thread-safe without a lock.
 */
final class Listers {
  /**
   * The number of a thread in a container that the daemon does not see. There are many such
   * threads, so the directory tells them apart.
   */
  private static final int UNKNOWN = 0;

  /** Threads remembered; a power of two. */
  private static final int SLOTS = 1024;

  /** Which entries come with attributes. */
  enum Look {
    /** None: the thread wants names alone. */
    NAMES,

    /** A few: it is not known what the thread wants. */
    SOME,

    /** All. */
    ALL
  }

  /**
   * A thread's use of the last directory that it listed.
   *
   * @param look what the thread got at the beginning
   * @param habit what the thread gets with the next directory, unless it is seen to do otherwise
   * @param heldBack whether an entry came without attributes although others had them
   * @param looked whether the thread has looked up an entry that came without attributes
   */
  private record Listing(
      int thread, long directory, Look look, Look habit, boolean heldBack, boolean looked) {
    boolean is(int other, long at) {
      return thread == other && directory == at;
    }

    Look next() {
      if (looked) {
        return Look.ALL;
      }
      return heldBack ? Look.NAMES : habit;
    }
  }

  private final AtomicReferenceArray<@Nullable Listing> last = new AtomicReferenceArray<>(SLOTS);

  /** Notes that a thread begins to list a directory. */
  Look begin(long directory, int thread) {
    Listing before = at(directory, thread);
    boolean known =
        before != null
            && (thread == UNKNOWN ? before.is(thread, directory) : before.thread == thread);
    Look look = known ? before.next() : Look.SOME;
    put(new Listing(thread, directory, look, look, false, false));
    return look;
  }

  /**
   * Notes that a thread goes on to list a directory, or comes back to it from another. A thread
   * that gets all attributes because of an earlier directory gets all to the end. A thread that
   * looks at entries on the way gets all for as long as it goes on to look.
   */
  Look goOn(long directory, int thread) {
    Listing now = at(directory, thread);
    if (now == null || !now.is(thread, directory)) {
      return begin(directory, thread) == Look.ALL ? Look.ALL : Look.NAMES;
    }
    if (now.look == Look.ALL) {
      return Look.ALL;
    }
    if (!now.looked) {
      return Look.NAMES;
    }
    put(new Listing(thread, directory, now.look, Look.ALL, false, false));
    return Look.ALL;
  }

  /** Tells whether the next entry that is no directory is to come without attributes. */
  boolean holdsBack(long directory, int thread) {
    Listing now = at(directory, thread);
    return now != null && now.is(thread, directory) && !now.heldBack && !now.looked;
  }

  /** Notes that an entry came without attributes. */
  void heldBack(long directory, int thread) {
    Listing now = at(directory, thread);
    if (now != null && now.is(thread, directory)) {
      put(new Listing(thread, directory, now.look, now.habit, true, now.looked));
    }
  }

  /** Notes that a thread looks up an entry that is no directory. */
  void looked(long directory, int thread) {
    Listing now = at(directory, thread);
    if (now != null && now.is(thread, directory) && !now.looked) {
      put(new Listing(thread, directory, now.look, now.habit, now.heldBack, true));
    }
  }

  /** Notes that a thread looks at all entries of a directory that it has listed without asking. */
  void looksAtAll(long directory, int thread) {
    put(new Listing(thread, directory, Look.ALL, Look.ALL, false, true));
  }

  private @Nullable Listing at(long directory, int thread) {
    return last.get(slot(directory, thread));
  }

  private void put(Listing listing) {
    last.set(slot(listing.directory, listing.thread), listing);
  }

  private static int slot(long directory, int thread) {
    return (thread == UNKNOWN ? (int) directory : thread) & (SLOTS - 1);
  }
}
