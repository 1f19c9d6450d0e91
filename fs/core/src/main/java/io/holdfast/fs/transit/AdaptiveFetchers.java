package io.holdfast.fs.transit;

import io.holdfast.fs.OutOfMemory;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives turns at an origin whose requests take long or may hang. As many fetches run at once as
 * {@link AdaptiveLimit} allows, each on a thread of its own. A fetch that waits for its turn needs
 * no thread. Thread-safe.
 *
 * <p><b>Order.</b> Fetches that a reader waits for precede read-ahead. Small fetches precede large
 * ones, because a large fetch would delay them by many times their own duration; but after four
 * small fetches have overtaken large ones, one large fetch runs. A quarter of the turns is reserved
 * for small fetches, and large fetches together leave some memory for small ones. So a small fetch
 * never waits for a large one, neither for its turn nor for its memory. Among fetches of one kind
 * each job gets the same bytes ({@link FairQueue}).
 *
 * <p><b>Hangs.</b> A fetch that was given up returns its turn, but its thread is stuck. While
 * threads are stuck, no fetch starts that would bring the running and stuck threads above {@link
 * #MOST_STUCK}.
 *
 * <p><b>Threads.</b> A fetch for which no thread can be started keeps its turn. The next thread
 * whose fetch has ended runs it, or a thread that {@link #startLeft} starts.
 */
public final class AdaptiveFetchers implements Fetchers {
  private static final Logger log = LoggerFactory.getLogger(AdaptiveFetchers.class);

  /** Most bytes of a small fetch. */
  static final int SMALL = 1 << 20;

  /** Most threads that may be stuck in the origin. */
  static final int MOST_STUCK = 64;

  /** Most queued fetches that no reader waits for. */
  static final int MOST_AHEAD = 64;

  static final int SMALL_BEFORE_LARGE = 4;
  private static final int PARTS_OF_TURNS = 4;

  private final Executor threads;
  private final long largeBytes;
  private final AdaptiveLimit limit = new AdaptiveLimit();

  /**
   * Guards all following fields and the state of the tasks. The limit's monitor is taken under it.
   */
  private final ReentrantLock lock = new ReentrantLock();

  private final FairQueue small = new FairQueue();
  private final FairQueue large = new FairQueue();
  private final FairQueue ahead = new FairQueue();

  /**
   * Tasks that have their turn and no thread yet, in the order of their turns. There is room for
   * all turns, because a deque that cannot grow loses its elements.
   */
  private final Deque<FetchTask> ready = new ArrayDeque<>(AdaptiveLimit.MOST);

  /** How many tasks have their turn. */
  private int running;

  private int stuck;
  private int runningLarge;
  private long runningLargeBytes;
  private int overtaken;
  private boolean closed;

  /**
   * Creates fetchers.
   *
   * @param threads runs each fetch on a thread of its own, and need not bound their number. It may
   *     throw OutOfMemoryError where no thread can be started
   * @param largeBytes bytes that large fetches may read at once; a single one may be larger
   */
  public AdaptiveFetchers(Executor threads, long largeBytes) {
    this.threads = threads;
    this.largeBytes = largeBytes;
  }

  @Override
  public void execute(FetchTask task) {
    lock.lock();
    try {
      if (closed) {
        throw new RejectedExecutionException("the mount is ending");
      }
      if (!task.awaited && ahead.size() >= MOST_AHEAD) {
        throw new RejectedExecutionException("too much is fetched ahead");
      }
      queue(task).add(task);
      giveTurns();
    } finally {
      lock.unlock();
    }
    start();
  }

  @Override
  public void promote(FetchTask task) {
    lock.lock();
    try {
      if (task.awaited) {
        return;
      }
      if (!ahead.contains(task)) {
        task.awaited = true;
        return;
      }
      (isLarge(task) ? large : small).add(task); // first: it stays ahead where the heap is full
      boolean unused = ahead.remove(task);
      task.awaited = true;
      giveTurns();
    } finally {
      lock.unlock();
    }
    start();
  }

  @Override
  public boolean giveUp(FetchTask task) {
    boolean left = false;
    lock.lock();
    try {
      if (task.state == FetchTask.State.WAITING) {
        left = queue(task).remove(task);
      } else if (task.state == FetchTask.State.RUNNING) {
        failed(); // before its turn is given to another task
        giveTurnBack(task);
        task.state = FetchTask.State.GIVEN_UP;
        stuck++;
      }
      giveTurns();
    } finally {
      lock.unlock();
    }
    start();
    return left;
  }

  @Override
  public void arrived(int bytes, long nanos) {
    limit.arrived(bytes, nanos, inFlight());
  }

  @Override
  public void failed() {
    limit.failed(inFlight());
  }

  @Override
  public void startLeft() {
    start();
  }

  private int inFlight() {
    return figures().inFlight();
  }

  @Override
  public Figures figures() {
    lock.lock();
    try {
      int queued = small.size() + large.size() + ahead.size() + ready.size();
      return new Figures(limit.get(), running - ready.size(), queued, stuck);
    } finally {
      lock.unlock();
    }
  }

  private FairQueue queue(FetchTask task) {
    return task.awaited ? isLarge(task) ? large : small : ahead;
  }

  private static boolean isLarge(FetchTask task) {
    return task.bytes() > SMALL;
  }

  /** Gives the next tasks their turns. */
  private void giveTurns() {
    while (running < limit.get() && (stuck == 0 || running + stuck < MOST_STUCK)) {
      FetchTask next = next();
      if (next == null) {
        break;
      }
      next.state = FetchTask.State.READY;
      running++;
      if (isLarge(next)) {
        runningLarge++;
        runningLargeBytes += next.bytes();
      }
      ready.add(next);
    }
  }

  private @Nullable FetchTask next() {
    boolean largeMay = mayRun(large.peek());
    if (largeMay && (small.isEmpty() || overtaken >= SMALL_BEFORE_LARGE)) {
      overtaken = 0;
      return large.remove();
    }
    if (!small.isEmpty()) {
      overtaken += large.isEmpty() ? 0 : 1;
      return small.remove();
    }
    FetchTask first = ahead.peek();
    boolean overtakes = first != null && isLarge(first) && !large.isEmpty();
    return mayRun(first) && !overtakes ? ahead.remove() : null;
  }

  private boolean mayRun(@Nullable FetchTask task) {
    if (task == null || !isLarge(task) || runningLarge == 0) {
      return task != null;
    }
    int turns = limit.get();
    return runningLarge < turns - turns / PARTS_OF_TURNS
        && runningLargeBytes + task.bytes() <= largeBytes;
  }

  private void giveTurnBack(FetchTask task) {
    running--;
    if (isLarge(task)) {
      runningLarge--;
      runningLargeBytes -= task.bytes();
    }
  }

  /** Starts a thread for each task that has its turn, as long as threads can be started. */
  private void start() {
    for (FetchTask task = takeReady(); task != null; task = takeReady()) {
      FetchTask first = task;
      try {
        threads.execute(() -> work(first));
      } catch (OutOfMemoryError e) {
        putBack(task);
        OutOfMemory.tell(e);
        return;
      }
    }
  }

  private @Nullable FetchTask takeReady() {
    lock.lock();
    try {
      return nextReady();
    } finally {
      lock.unlock();
    }
  }

  private @Nullable FetchTask nextReady() {
    FetchTask task = ready.poll();
    if (task != null) {
      task.state = FetchTask.State.RUNNING;
    }
    return task;
  }

  /** Has a task wait whose thread could not be started. */
  private void putBack(FetchTask task) {
    lock.lock();
    try {
      if (task.state == FetchTask.State.GIVEN_UP) { // meanwhile; no thread is stuck
        stuck--;
        task.state = FetchTask.State.WAITING;
        queue(task).add(task);
        giveTurns();
      } else {
        task.state = FetchTask.State.READY;
        ready.addFirst(task);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Runs a task, and then the next ones on the same thread. */
  private void work(FetchTask first) {
    FetchTask task = first;
    while (task != null) {
      try {
        task.run();
      } catch (OutOfMemoryError e) {
        OutOfMemory.tell(e);
      } catch (RuntimeException | Error e) {
        log.error("a fetch ended in a fault", e); // its readers have an answer
      }
      task = over(task);
      start();
    }
  }

  /** Ends a task; returns the one that its thread runs next, or null. */
  private @Nullable FetchTask over(FetchTask task) {
    lock.lock();
    try {
      if (task.state == FetchTask.State.GIVEN_UP) {
        stuck--;
      } else {
        giveTurnBack(task);
      }
      task.state = FetchTask.State.OVER;
      giveTurns();
      return nextReady();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      small.clear();
      large.clear();
      ahead.clear();
    } finally {
      lock.unlock();
    }
  }
}
