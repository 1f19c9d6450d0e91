package io.holdfast.fs.orders;

import io.holdfast.fs.ControlInodes;
import io.holdfast.fs.figures.ConvoyFigures;
import io.holdfast.fs.linux.Procfs;
import io.holdfast.fs.stats.Activity;
import io.holdfast.fs.stats.OpenBatch;
import io.holdfast.fs.transit.Item;
import io.holdfast.fs.transit.Reader;
import io.holdfast.fs.transit.SharedFetch;
import io.holdfast.fs.transit.Sharing;
import io.holdfast.policy.convoy.Convoys;
import java.time.Duration;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.IntToLongFunction;
import java.util.function.IntUnaryOperator;
import java.util.function.LongSupplier;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Keeps what one job has fetched for the jobs that read the same order a little later: {@link
 * Convoys}, told of opens, fetches, and jobs that stop or end. Bytes go from one job to another
 * only by reads that the kernel has let pass, as all bytes of transit do.
 *
 * <p>Thread-safe: the monitor guards the convoys, and is a leaf lock. No method waits; what is let
 * go, or goes on, does so on threads of transit.
 */
public final class SharedOrders implements Sharing {
  /** A job that has opened nothing for so long, and whose reads wait for nothing, has stopped. */
  private static final long IDLE_NANOS = Duration.ofSeconds(2).toNanos();

  /** The same of a job all of whose threads have ended, as workers do at the end of an epoch. */
  private static final long ENDED_NANOS = Duration.ofSeconds(1).toNanos();

  /** The same of one whose threads are stopped by a signal. */
  private static final long STOPPED_NANOS = Duration.ofMillis(250).toNanos();

  /** How long files are kept for a job whose order was announced, and that has not begun. */
  private static final long UNBEGUN_NANOS = Duration.ofSeconds(60).toNanos();

  /** The pause between looks at the jobs. */
  private static final long LOOK_NANOS = Duration.ofMillis(250).toNanos();

  /** The origin is the bottleneck if it was at work for this share of the last moments. */
  private static final double BOTTLENECK = 0.75;

  /** The weight of one tick in that share; there are fifty a second. */
  private static final double WEIGHT = 0.04;

  /** A delay takes at most this part of a reader's patience. */
  private static final int PART_OF_PATIENCE = 4;

  private static final int PART_OF_HEAP = 16;
  private static final int BYTES_OF_FILE = 32;

  private final Parts parts;
  private final Convoys<SharedFetch> convoys;
  private double busyShare;
  private long lastLook;

  /**
   * The parts of the daemon that convoys use. Immutable.
   *
   * @param budget the most bytes that are kept
   * @param patience how long a reader waits for the origin before its read fails
   * @param job returns a thread's job
   * @param inode returns the inode number of a file by its node's number; {@link
   *     ControlInodes#NO_FILE} if it has gone
   * @param inFlight returns how many fetches there are now
   */
  public record Parts(
      long budget,
      Duration patience,
      IntFunction<String> job,
      LongUnaryOperator inode,
      LongSupplier inFlight,
      Threads threads,
      LongSupplier nanoTime) {}

  /**
   * Tells about threads, by the kernel's ids of them.
   *
   * @param state returns a state's letter, as in {@code /proc/ID/stat}
   * @param lastActive returns when a thread opened or read something last; now, if it waits for a
   *     read
   */
  public record Threads(IntUnaryOperator state, IntToLongFunction lastActive) {
    /** Returns what {@code /proc} and the counters tell. */
    public static Threads of(Activity activity) {
      Procfs procfs = Procfs.host();
      return new Threads(procfs::state, activity::lastActive);
    }
  }

  /** Creates convoys of no job. */
  public SharedOrders(Parts parts) {
    this.parts = parts;
    long files = Runtime.getRuntime().maxMemory() / PART_OF_HEAP / BYTES_OF_FILE;
    this.convoys = new Convoys<>(parts.budget, files);
  }

  private long now() {
    return parts.nanoTime.getAsLong();
  }

  // --- jobs

  /** Follows a job's opens. */
  void opened(String job, int thread, OpenBatch batch) {
    synchronized (this) {
      long now = now();
      for (int i = 0; i < batch.count(); i++) {
        convoys.opened(job, thread, batch.file(i), now);
      }
    }
    act();
  }

  /** Learns of an order that was announced for a job. */
  void announced(String job, FileSequence order) {
    long name = 1;
    for (int i = 0; i < order.size(); i++) {
      name = 31 * name + order.get(i);
    }
    synchronized (this) {
      convoys.announced(job, name == 0 ? 1 : name, now());
    }
    act();
  }

  /**
   * Has delayed reads go on whose time is over, and drops jobs that have stopped. To be called
   * fifty times a second.
   */
  public void tick() {
    long inFlight = parts.inFlight.getAsLong();
    List<Convoys.Member> members = List.of();
    synchronized (this) {
      long now = now();
      convoys.expire(now);
      boolean busy = inFlight > convoys.delayed();
      if (busy || convoys.delayed() == 0) {
        busyShare += WEIGHT * ((busy ? 1 : 0) - busyShare);
      }
      if (now - lastLook >= LOOK_NANOS) {
        lastLook = now;
        members = convoys.members();
      }
    }
    act();
    for (Convoys.Member member : members) {
      if (hasStopped(member)) {
        synchronized (this) {
          if (convoys.lastOpen(member.job()) == member.lastOpen()) { // else it has gone on
            convoys.stopped(member.job(), now());
          }
        }
        act();
      }
    }
  }

  /** Looks at a job's threads in {@code /proc}, without the monitor. */
  private boolean hasStopped(Convoys.Member member) {
    long now = now();
    long idle = now - member.lastOpen();
    if (!member.begun()) {
      return idle > UNBEGUN_NANOS;
    }
    if (idle < STOPPED_NANOS) {
      return false;
    }
    boolean ended = true;
    boolean stopped = true;
    for (int thread : member.threads()) {
      char state = (char) parts.threads.state.applyAsInt(thread);
      boolean gone = state == Procfs.GONE || state == Procfs.ZOMBIE || state == 'X';
      ended &= gone;
      stopped &= gone || state == 'T' || state == 't';
      if (!gone) {
        idle = Math.min(idle, now - parts.threads.lastActive.applyAsLong(thread));
      }
    }
    return (stopped && !ended) || idle > (ended ? ENDED_NANOS : IDLE_NANOS);
  }

  // --- fetches

  @Override
  public boolean begins(SharedFetch fetch, Item range, Reader reader, boolean ahead) {
    long inode = parts.inode.applyAsLong(range.node());
    if (reader.thread() == 0 || range.length() == 0 || inode == ControlInodes.NO_FILE) {
      return true;
    }
    String job = parts.job.apply(reader.thread());
    Convoys.Verdict verdict;
    synchronized (this) {
      boolean mayWait =
          busyShare >= BOTTLENECK
              && parts.patience.toNanos() / PART_OF_PATIENCE >= Convoys.PATIENCE_NANOS;
      verdict =
          convoys.begin(fetch, job, reader.thread(), inode, range.length(), ahead, mayWait, now());
    }
    act();
    return verdict != Convoys.Verdict.WAIT;
  }

  @Override
  public void joined(SharedFetch fetch, Reader reader) {
    synchronized (this) {
      convoys.joined(fetch, reader.thread(), now());
    }
    act();
  }

  @Override
  public void delivered(SharedFetch fetch, Reader reader, int bytes) {
    if (reader.thread() == 0) {
      return;
    }
    String job = parts.job.apply(reader.thread());
    synchronized (this) {
      convoys.delivered(fetch, job, bytes, now());
    }
    act();
  }

  @Override
  public synchronized boolean keeps(SharedFetch fetch) {
    return convoys.keeps(fetch);
  }

  @Override
  public void ended(SharedFetch fetch) {
    synchronized (this) {
      convoys.ended(fetch, now());
    }
    act();
  }

  /** Does what follows, without the monitor. If a step fails, the next call does the others. */
  private void act() {
    for (SharedFetch each = nextToLetGo(); each != null; each = nextToLetGo()) {
      each.letGo();
    }
    for (SharedFetch each = nextToGoOn(); each != null; each = nextToGoOn()) {
      each.goOn();
    }
  }

  private synchronized @Nullable SharedFetch nextToLetGo() {
    return convoys.nextToLetGo();
  }

  private synchronized @Nullable SharedFetch nextToGoOn() {
    return convoys.nextToGoOn();
  }

  @Override
  public synchronized long heldBytes() {
    return convoys.heldBytes();
  }

  /** Returns a row for each convoy. */
  public synchronized List<ConvoyFigures> figures() {
    return convoys.convoys().stream()
        .map(
            convoy ->
                new ConvoyFigures(
                    convoy.jobs().get(0),
                    convoy.jobs().size(),
                    convoy.heldBytes(),
                    parts.budget,
                    convoy.delayedNanos() / 1e9))
        .toList();
  }
}
