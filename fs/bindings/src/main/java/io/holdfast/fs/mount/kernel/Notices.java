package io.holdfast.fs.mount.kernel;

import io.holdfast.fs.linux.IsolatedThreads;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Gives the kernel notices about directories. The kernel takes one only when nobody uses the
 * directory, and a program may use it for as long as it likes: it lists the directory into memory
 * that nobody fills, or a lookup there waits for a slow store. So the notices about one directory
 * follow each other on one thread at a time, and those about others go on other threads.
 *
 * <p>A notice is never lost: the kernel gets it once the directory is free. So that the notices of
 * a directory do not pile up, two about one name are one while they wait. A user may change ever
 * new names of a directory and keep it in use: from {@link #MOST} waiting notices on, each caller
 * waits.
 *
 * <p>Thread-safe; the monitor guards the directories and their notices.
 */
final class Notices {
  /** The notices of one directory that may wait without their callers. */
  static final int MOST = 10_000;

  private final IsolatedThreads threads;
  private final Duration longest;
  private final Map<Long, Waiting> waiting = new HashMap<>();

  /** A notice, and its end. */
  private record Notice(Runnable send, CompletableFuture<Boolean> taken) {}

  /** The notices about a directory that no thread sends yet. */
  private static final class Waiting {
    final Map<ByteBuffer, Notice> notices = new LinkedHashMap<>();

    /** Whether somebody has waited in vain for one of them, or for the one that is being sent. */
    boolean inVain;
  }

  /**
   * Creates it without notices.
   *
   * @param threads send the notices; stay with the caller
   * @param longest how long a caller waits for the kernel
   */
  Notices(IsolatedThreads threads, Duration longest) {
    this.threads = threads;
    this.longest = longest;
  }

  /**
   * Gives a notice, and waits until the kernel has taken it, for a bounded time. Does not wait
   * where somebody has waited in vain for a notice about the directory, and it is still there,
   * unless there are many.
   *
   * @param name the name that the notice is about; empty if it is about the listing
   * @return whether the wait was in vain
   */
  boolean giveAndWait(long directory, byte[] name, Runnable send) {
    CompletableFuture<Boolean> taken = give(directory, name, send);
    if (needNotWait(directory)) {
      return false;
    }
    try {
      boolean unused = taken.get(longest.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      return noteInVain(directory, taken);
    } catch (ExecutionException e) {
      throw new IllegalStateException(e); // a notice never completes exceptionally
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return false;
  }

  /** Gives a notice, and waits for nothing. After the end of the mount, gives none. */
  synchronized CompletableFuture<Boolean> give(long directory, byte[] name, Runnable send) {
    Waiting there = waiting.get(directory);
    Notice notice = new Notice(send, new CompletableFuture<>());
    if (there == null) {
      there = new Waiting();
      try {
        threads.execute(() -> sendAll(directory));
      } catch (RejectedExecutionException e) {
        boolean unused = notice.taken.complete(true); // the mount is gone
        return notice.taken;
      }
      waiting.put(directory, there);
    }
    Notice same = there.notices.putIfAbsent(ByteBuffer.wrap(name), notice);
    return same == null ? notice.taken : same.taken;
  }

  private void sendAll(long directory) {
    for (Notice next = next(directory); next != null; next = next(directory)) {
      try {
        next.send.run();
      } catch (Throwable e) { // one that leaves here would leave the next ones unsent
        threads.failed(e);
      } finally {
        boolean unused = next.taken.complete(true);
      }
    }
  }

  private synchronized @Nullable Notice next(long directory) {
    Waiting there = waiting.get(directory);
    Iterator<Notice> notices = there == null ? null : there.notices.values().iterator();
    if (notices == null || !notices.hasNext()) {
      waiting.remove(directory);
      return null;
    }
    Notice next = notices.next();
    notices.remove();
    return next;
  }

  private synchronized boolean needNotWait(long directory) {
    Waiting there = waiting.get(directory);
    return there != null && there.inVain && there.notices.size() <= MOST;
  }

  private synchronized boolean noteInVain(long directory, CompletableFuture<Boolean> taken) {
    Waiting there = waiting.get(directory);
    boolean inVain = there != null && !taken.isDone();
    if (inVain) {
      there.inVain = true;
    }
    return inVain;
  }

  /**
   * Returns a directory whose notices the kernel lacks, and somebody has waited for one of them.
   */
  OptionalLong inVain(LongPredicate directories) {
    return allInVain().stream().mapToLong(Long::longValue).filter(directories).findAny();
  }

  /** Returns them apart, so that no caller's predicate runs under the monitor. */
  private synchronized List<Long> allInVain() {
    List<Long> all = new ArrayList<>();
    waiting.forEach(
        (directory, there) -> {
          if (there.inVain) {
            all.add(directory);
          }
        });
    return all;
  }
}
