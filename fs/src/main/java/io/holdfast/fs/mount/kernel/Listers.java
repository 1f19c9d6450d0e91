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
  /** Threads remembered; a power of two. */
  private static final int SLOTS = 1024;

  /** What entries that are no directories come with. */
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
   * @param heldBack whether an entry was held back that others of its kind came with
   * @param looked whether it has looked up what came without
   */
  private record Listing(int thread, long directory, Look look, boolean heldBack, boolean looked) {
    boolean is(int other, long at) {
      return thread == other && directory == at;
    }

    Look next() {
      if (looked) {
        return Look.ALL;
      }
      return heldBack ? Look.NAMES : look;
    }
  }

  private final AtomicReferenceArray<@Nullable Listing> last = new AtomicReferenceArray<>(SLOTS);

  /** A thread begins to list a directory. */
  Look begin(int thread, long directory) {
    Listing before = last.get(slot(thread));
    Look look = before == null || before.thread != thread ? Look.SOME : before.next();
    last.set(slot(thread), new Listing(thread, directory, look, false, false));
    return look;
  }

  /** It goes on, or comes back to it from another. */
  Look goOn(int thread, long directory) {
    Listing now = last.get(slot(thread));
    if (now == null || !now.is(thread, directory)) {
      return begin(thread, directory);
    }
    return now.looked || now.look == Look.ALL ? Look.ALL : Look.NAMES;
  }

  /** Tells whether the next entry that is no directory is to be held back. */
  boolean holdsBack(int thread, long directory) {
    Listing now = last.get(slot(thread));
    return now != null && now.is(thread, directory) && !now.heldBack && !now.looked;
  }

  /** An entry was held back. */
  void heldBack(int thread, long directory) {
    Listing now = last.get(slot(thread));
    if (now != null && now.is(thread, directory)) {
      last.set(slot(thread), new Listing(thread, directory, now.look, true, now.looked));
    }
  }

  /** A thread looks up what is no directory. */
  void looked(int thread, long directory) {
    Listing now = last.get(slot(thread));
    if (now != null && now.is(thread, directory) && !now.looked) {
      last.set(slot(thread), new Listing(thread, directory, now.look, now.heldBack, true));
    }
  }

  private static int slot(int thread) {
    return thread & (SLOTS - 1);
  }
}
