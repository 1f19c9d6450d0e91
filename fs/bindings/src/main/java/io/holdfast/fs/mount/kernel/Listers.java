package io.holdfast.fs.mount.kernel;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Tells who looks at what it lists, as {@code ls -l} and {@code du} do, from who wants names alone,
 * as {@code find} does: by what a thread did with the last directory that it listed. An entry that
 * came without what it leads to was looked up after that, or was not; where all would come with it,
 * one is held back to find out. Remembers a fixed number of threads and forgets by collision: a
 * wrong guess costs time, never an answer. Thread-safe without a lock.
 */
final class Listers {
  /** A thread of a container that the daemon does not see: one of many, known by the directory. */
  private static final int UNKNOWN = 0;

  /** Threads remembered; a power of two. */
  private static final int SLOTS = 1024;

  /** What entries come with. */
  enum Look {
    /** Nothing: their names are all that is wanted. */
    NAMES,

    /** A few of them with what they lead to: it is not known who lists. */
    SOME,

    /** All of them with what they lead to. */
    ALL
  }

  /**
   * What a thread did with the last directory that it listed.
   *
   * @param look what it got at the beginning
   * @param habit what it is to get with the next one, unless it is seen to do otherwise
   * @param heldBack whether an entry was held back that others of its kind came with
   * @param looked whether it has looked up what came without
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

  /** A thread begins to list a directory. */
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
   * It goes on, or comes back to the directory from another. Who gets all because of what it did
   * before gets all to the end; who is seen to look on the way, as much as it goes on to look at.
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

  /** Tells whether the next entry that is no directory is to be held back. */
  boolean holdsBack(long directory, int thread) {
    Listing now = at(directory, thread);
    return now != null && now.is(thread, directory) && !now.heldBack && !now.looked;
  }

  /** An entry was held back. */
  void heldBack(long directory, int thread) {
    Listing now = at(directory, thread);
    if (now != null && now.is(thread, directory)) {
      put(new Listing(thread, directory, now.look, now.habit, true, now.looked));
    }
  }

  /** A thread looks up what is no directory. */
  void looked(long directory, int thread) {
    Listing now = at(directory, thread);
    if (now != null && now.is(thread, directory) && !now.looked) {
      put(new Listing(thread, directory, now.look, now.habit, now.heldBack, true));
    }
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
