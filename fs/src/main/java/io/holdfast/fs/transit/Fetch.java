package io.holdfast.fs.transit;

import io.holdfast.fs.CheckedBytes;
import io.holdfast.fs.FetchUse;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.ReadSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One item, or part of an item, between its fetch and its last use: the bytes that have arrived,
 * those who wait for more, and what has been delivered. Thread-safe.
 *
 * <p>The monitor guards every field that is not final. Replies, the listener and the memory are
 * called without it; counters are not. The memory is freed by whoever is the last of: the state
 * becoming {@link State#RETIRED}, and the uses ({@link #users}) ending.
 */
final class Fetch implements Fetched {
  /** Unit of {@link #delivered}. */
  private static final int PAGE = 4096;

  /** How long bytes are kept for a reader that is still on its way through the item. */
  private static final long KEEP_NANOS = Duration.ofSeconds(10).toNanos();

  /**
   * How long they are kept once all were delivered, for a reader whose pages were dropped before it
   * got to them.
   */
  private static final long LINGER_NANOS = Duration.ofSeconds(1).toNanos();

  private enum State {
    /** Bytes are arriving, or the decision is being made. */
    RUNNING,
    /** Whole, and on its way to being pinned. */
    ADMITTED,
    /** Whole, and kept until all of it has been delivered. */
    REFUSED,
    /** Out of the table: nobody finds it any more. */
    RETIRED
  }

  private final Transit transit;
  private final Item whole;
  private final Item item;
  private final int from;
  private final long started;
  private final boolean forPeer;
  private State state = State.RUNNING;
  private final List<Ask> waiters = new ArrayList<>(1);
  private @Nullable BitSet delivered;
  private int deliveredBytes;
  private int deliveries;
  private int readsFromElsewhere;
  private boolean offered;
  private volatile boolean outdated;
  private boolean admitted;
  private long address;
  private int arrived;
  private int users;
  private long lastUse;
  private @Nullable FetchTask turn;
  private @Nullable ReadStream ahead;
  private FetchUse use = FetchUse.NONE;

  /**
   * Creates a fetch that has not begun.
   *
   * @param whole the item that the range is a part of, or is
   * @param forPeer whether it is a peer that wants it
   */
  Fetch(Transit transit, Item whole, Item range, long now, boolean forPeer) {
    this.transit = transit;
    this.whole = whole;
    this.item = range;
    this.from = (int) (range.offset() - whole.offset());
    this.started = now;
    this.lastUse = now;
    this.forPeer = forPeer;
  }

  @Override
  public Item item() {
    return item;
  }

  Item whole() {
    return whole;
  }

  /** Returns when it was begun. */
  long started() {
    return started;
  }

  /** Returns the first byte, within the whole item. */
  int from() {
    return from;
  }

  /** Returns the byte after the last one, within the whole item. */
  int upTo() {
    return from + item.length();
  }

  boolean isOfWhole() {
    return item.length() == whole.length();
  }

  /** Takes note, before the fetch can be found, of what learns who uses it. */
  synchronized void use(FetchUse learns) {
    use = learns;
  }

  synchronized FetchUse use() {
    return use;
  }

  /** Takes note, before the fetch can be found, of whom it is fetched ahead for. */
  synchronized void ahead(ReadStream reader) {
    ahead = reader;
  }

  /** Returns whom it is fetched ahead for, until somebody reads it. */
  synchronized @Nullable ReadStream ahead() {
    return ahead;
  }

  @Override
  public synchronized long hold() {
    if (state == State.RETIRED) {
      return 0;
    }
    users++;
    return address;
  }

  @Override
  public synchronized int firstUndelivered() {
    return delivered == null
        ? deliveredBytes
        : Math.min(delivered.nextClearBit(0) * PAGE, item.length());
  }

  @Override
  public synchronized int readsFromElsewhere() {
    return readsFromElsewhere;
  }

  @Override
  public void done() {
    transit.retire(this);
  }

  /**
   * Answers a read now or when its bytes have arrived.
   *
   * @return false where this fetch is over, or where the read begins another pass over an item that
   *     was delivered whole
   */
  boolean read(Ask ask, long now) {
    boolean here;
    ReadStream reached;
    FetchTask itsTurn = null;
    synchronized (this) {
      boolean anotherPass =
          state == State.REFUSED && ask.offset() == from && isDelivered() && !ask.goesOn();
      if (state == State.RETIRED || anotherPass) {
        return false;
      }
      lastUse = now;
      here = ask.end() - from <= arrived;
      if (here) {
        users++;
      } else {
        waiters.add(ask);
        itsTurn = turn;
      }
      if (!ask.reader().internal()) {
        use.read(ask.reader().thread(), !here);
      }
      reached = ahead;
      ahead = null;
    }
    if (reached != null) {
      transit.noLongerAhead(reached, item.length());
    }
    if (itsTurn != null) {
      transit.wanted(itsTurn);
    }
    if (here) {
      answer(ask);
      release();
    }
    return true;
  }

  /** Takes note of what stands in the queue for the origin; a reader may wait for it already. */
  synchronized void turn(FetchTask task) {
    turn = task;
    task.awaited = !isUnread();
  }

  synchronized @Nullable FetchTask turn() {
    return turn;
  }

  boolean isForPeer() {
    return forPeer;
  }

  /** Tells whether every byte has arrived. */
  synchronized boolean isWhole() {
    return state != State.RETIRED && arrived == item.length();
  }

  synchronized boolean isRunning() {
    return state == State.RUNNING;
  }

  /** Keeps the memory until {@link #release()}. */
  synchronized void begin(long memory) {
    address = memory;
    users++;
  }

  synchronized int arrived() {
    return arrived;
  }

  /** Takes note of bytes that were checked, and answers those who waited for them. */
  void advance(int upTo, ReadSource source) {
    List<Ask> served = new ArrayList<>(1);
    synchronized (this) {
      arrived = upTo;
      Iterator<Ask> each = waiters.iterator();
      while (each.hasNext()) {
        Ask waiter = each.next();
        if (waiter.end() - from <= upTo) {
          each.remove();
          served.add(waiter);
        }
      }
      users += served.size();
    }
    for (Ask waiter : served) {
      waiter.reply().waitedFor(source);
      answer(waiter);
      release();
    }
  }

  private void answer(Ask ask) {
    if (ask.reader().elsewhere()) {
      // before the pages are there, so that whoever finds them there knows
      synchronized (this) {
        readsFromElsewhere++;
      }
    }
    CheckedBytes bytes;
    try {
      bytes = CheckedBytes.of(ask.item(), ask.offset(), ask.length(), item, memory());
    } catch (FsException e) {
      ask.reply().failed(e);
      return;
    }
    if (ask.reply() instanceof Borrower borrower) {
      lend(bytes, borrower);
      return;
    }
    ask.reply().data(bytes);
    if (ask.reader().internal()) {
      return;
    }
    int fresh;
    boolean lingers;
    boolean complete;
    synchronized (this) {
      fresh = mark(ask.offset() - from, ask.length());
      lingers = state != State.RUNNING && !offered && !admitted;
      // of a fetch that has ended nobody will read the rest
      complete = state == State.RETIRED || isDelivered();
    }
    if (lingers) {
      transit.delivered(this, fresh, complete);
    }
  }

  private synchronized long memory() {
    return address;
  }

  private void lend(CheckedBytes bytes, Borrower borrower) {
    synchronized (this) {
      users++;
    }
    borrower.lent(new FetchLoan(this, bytes));
  }

  private int mark(int offset, int length) {
    deliveries++;
    if (deliveries == 1 && length == item.length()) {
      deliveredBytes = length;
      return length;
    }
    if (delivered == null) {
      delivered = new BitSet((item.length() + PAGE - 1) / PAGE);
      delivered.set(0, (deliveredBytes + PAGE - 1) / PAGE);
    }
    int fresh = 0;
    int end = offset + length;
    for (int page = offset / PAGE; page * PAGE < end; page++) {
      int pageEnd = Math.min((page + 1) * PAGE, item.length());
      if (pageEnd <= end && !delivered.get(page)) {
        delivered.set(page);
        fresh += pageEnd - page * PAGE;
      }
    }
    deliveredBytes = Math.min(item.length(), deliveredBytes + fresh);
    return fresh;
  }

  private boolean isDelivered() {
    return deliveredBytes >= item.length();
  }

  /**
   * Takes note that the decision is being made. Until it is known nothing is said of what was
   * delivered: an admitted item may be pinned, and its fetch over, before that.
   *
   * @return whether there is anything to decide
   */
  synchronized boolean beginOffer() {
    offered = state == State.RUNNING;
    return offered;
  }

  /** Takes note of the decision. */
  void decided(boolean admits) {
    int bytes;
    boolean complete;
    synchronized (this) {
      boolean untold = offered || state == State.RUNNING;
      offered = false;
      admitted = admits;
      if (state == State.RUNNING) {
        state = admits ? State.ADMITTED : State.REFUSED;
        if (!admits) {
          transit.kept(true);
        }
      }
      bytes = untold && !admits ? deliveredBytes : 0;
      complete = state == State.RETIRED || isDelivered();
    }
    if (bytes > 0) {
      transit.delivered(this, bytes, complete);
    }
  }

  /** Tells whether all of it has been delivered and nobody uses it. */
  synchronized boolean isSpent() {
    return state == State.REFUSED && users == 0 && isDelivered();
  }

  /** Returns when it was last used, or {@link Long#MAX_VALUE} where it must not be given up now. */
  synchronized long idleSince() {
    return state == State.REFUSED && users == 0 ? lastUse : Long.MAX_VALUE;
  }

  /** Tells whether nobody is expected to want it any more. */
  synchronized boolean isOver(long now) {
    return state == State.REFUSED
        && users == 0
        && now - lastUse > (isDelivered() ? LINGER_NANOS : KEEP_NANOS);
  }

  /**
   * Fails the waiters whose time is over; returns whether the fetch as a whole has taken too long.
   */
  boolean expire(long now, long longest) {
    List<Ask> late = new ArrayList<>(0);
    boolean tooLong;
    synchronized (this) {
      Iterator<Ask> each = waiters.iterator();
      while (each.hasNext()) {
        Ask waiter = each.next();
        if (now - waiter.deadline() >= 0) {
          each.remove();
          late.add(waiter);
        }
      }
      tooLong = state == State.RUNNING && now - started > longest;
    }
    for (Ask waiter : late) {
      waiter
          .reply()
          .failed(new FsException(FsError.TIMED_OUT, item + ": the origin did not answer in time"));
    }
    return tooLong;
  }

  /** Tells whether it was begun ahead of a reader that has not come yet. */
  synchronized boolean isUnread() {
    return ahead != null && waiters.isEmpty();
  }

  /** Ends it because its version is gone: {@link #end}. */
  List<Ask> abandon() {
    outdated = true;
    return end();
  }

  @Override
  public boolean isOutdated() {
    return outdated;
  }

  /**
   * Ends it: nobody finds it any more.
   *
   * @return those who still waited for it; the caller owes them an answer
   */
  List<Ask> end() {
    List<Ask> unanswered;
    boolean free;
    int bytes;
    ReadStream unreached;
    synchronized (this) {
      if (state == State.RETIRED) {
        return List.of();
      }
      unreached = ahead;
      ahead = null;
      bytes = state == State.RUNNING && !offered ? deliveredBytes : 0;
      if (state == State.REFUSED) {
        transit.kept(false);
      }
      state = State.RETIRED;
      unanswered = List.copyOf(waiters);
      waiters.clear();
      free = users == 0 && address != 0;
    }
    if (unreached != null) {
      transit.noLongerAhead(unreached, item.length());
    }
    if (bytes > 0) {
      transit.delivered(this, bytes, true);
    }
    if (free) {
      free();
    }
    return unanswered;
  }

  /** Ends one use of the memory. */
  @Override
  public void release() {
    boolean free;
    synchronized (this) {
      users--;
      free = users == 0 && state == State.RETIRED && address != 0;
    }
    if (free) {
      free();
    }
  }

  private void free() {
    long memory;
    synchronized (this) {
      memory = address;
      address = 0;
    }
    if (memory != 0) {
      transit.free(memory, item.length());
    }
  }
}
