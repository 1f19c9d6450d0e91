package io.holdfast.fs.transit;

import io.holdfast.fs.CheckedBytes;
import io.holdfast.fs.FetchUse;
import io.holdfast.fs.FsException;
import io.holdfast.fs.OutOfMemory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The state of a fetch of an item or of a part of an item, from its start to the last use of its
 * bytes: the bytes that have arrived, the asks that wait for more, and the bytes that were
 * delivered. A fetch calls no other class: a method returns the consequences of a change to its
 * caller. Thread-safe; the monitor guards every field that is not final.
 *
 * <p>The memory is freed when the state is {@link State#RETIRED} and the last of its uses ({@link
 * #users}) has ended.
 */
final class Fetch {
  /** Bytes of a bit of {@link #delivered}. */
  private static final int PAGE = 4096;

  /** How long bytes stay for a reader that is still on its way through the item. */
  private static final long KEEP_NANOS = Duration.ofSeconds(10).toNanos();

  /**
   * How long bytes stay after all were delivered, for a reader whose pages were dropped before it
   * got to them.
   */
  private static final long LINGER_NANOS = Duration.ofSeconds(1).toNanos();

  private enum State {
    /** Bytes are arriving, or the decision is pending. */
    RUNNING,
    /** Complete, and being pinned. */
    ADMITTED,
    /** Complete, and kept until every byte has been delivered. */
    REFUSED,
    /** No longer in the table, so nobody finds it. */
    RETIRED
  }

  private final Item whole;
  private final Item item;
  private final int from;
  private final long started;
  private final boolean forPeer;

  /** When it was created, or when the first reader came to one that was fetched ahead. */
  private long begun;

  private State state = State.RUNNING;
  private final List<Ask> waiters = new ArrayList<>(1);
  private @Nullable BitSet delivered;
  private int deliveredBytes;
  private int deliveries;
  private int readsFromElsewhere;
  private boolean mayAdmit = true;
  private boolean offered;
  private boolean outdated;
  private boolean admitted;

  /** Whether its pin needs none of the bytes, so that others may have the memory before that. */
  private boolean givesWay;

  /** Whether the bytes stay for other jobs. */
  private boolean shared;

  /** Whether they stayed for other jobs, and no longer do. */
  private boolean letGo;

  private TransitMemory.@Nullable Buffer buffer;
  private boolean filling = true;
  private int attempts;
  private int arrived;
  private int users;
  private long lastUse;
  private @Nullable FetchTask turn;
  private @Nullable ReadStream ahead;
  private boolean predicted;

  /** Whether it has made way for others before a reader came. */
  private boolean postponed;

  private FetchUse use = FetchUse.NONE;
  private @Nullable CompletableFuture<@Nullable Void> settled;

  /**
   * Creates a fetch that has not begun.
   *
   * @param whole the item of the range
   * @param range the part to fetch, or the whole item
   * @param forPeer whether a peer needs the range
   */
  Fetch(Item whole, Item range, long now, boolean forPeer) {
    this.whole = whole;
    this.item = range;
    this.from = (int) (range.offset() - whole.offset());
    this.started = now;
    this.begun = now;
    this.lastUse = now;
    this.forPeer = forPeer;
  }

  /** Returns the range to fetch. */
  Item item() {
    return item;
  }

  /** Returns the item of the range. */
  Item whole() {
    return whole;
  }

  /** Returns when the fetch was created. */
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

  boolean isForPeer() {
    return forPeer;
  }

  // --- before other threads can find the fetch

  /** Sets the observer of its readers. */
  synchronized void use(FetchUse learns) {
    use = learns;
  }

  synchronized FetchUse use() {
    return use;
  }

  /** Sets the reader that it is fetched ahead for. */
  synchronized void ahead(ReadStream reader) {
    ahead = reader;
  }

  /** Notes that it is fetched because an order predicts its reader. */
  synchronized void predicted() {
    predicted = true;
  }

  /** Tells whether an order predicted its reader, who has not arrived yet. */
  synchronized boolean isPredicted() {
    return predicted && deliveries == 0 && waiters.isEmpty();
  }

  /** Returns the reader that it is fetched ahead for; null after the first read. */
  synchronized @Nullable ReadStream ahead() {
    return ahead;
  }

  /** Returns the reader that it was fetched ahead for, once: afterwards it is no longer ahead. */
  synchronized @Nullable ReadStream reached() {
    ReadStream reader = ahead;
    ahead = null;
    predicted = false;
    return reader;
  }

  /** Tells whether it was fetched ahead for a reader that has not arrived yet. */
  synchronized boolean isUnread() {
    return (ahead != null || predicted) && waiters.isEmpty();
  }

  /** Notes that it makes way for others: it may begin again later. */
  synchronized void postpone() {
    postponed = true;
  }

  /** Returns how it has ended, as a fetch ahead of its reader. */
  synchronized Transit.Ahead endAhead() {
    if (arrived == item.length()) {
      return Transit.Ahead.ARRIVED;
    }
    return postponed ? Transit.Ahead.POSTPONED : Transit.Ahead.OVER;
  }

  // --- its readers

  /** The result of joining a fetch. */
  enum Join {
    /**
     * The fetch is over, or the read begins another pass over an item that was delivered
     * completely.
     */
    REFUSED,
    /** The bytes have yet to arrive. */
    WAITS,
    /** The bytes have arrived: a use of them has begun, which ends with their loan. */
    HERE
  }

  /** Adds an ask to the fetch. */
  synchronized Join join(Ask ask, long now) {
    boolean anotherPass =
        state == State.REFUSED && ask.offset() == from && isDelivered() && !ask.goesOn();
    if (state == State.RETIRED || (anotherPass && !shared)) {
      return Join.REFUSED;
    }
    if (anotherPass) {
      delivered = null; // the kernel caches the bytes once more, and drops them once more
      deliveredBytes = 0;
    }
    if (isUnread()) {
      begun = now;
    }
    lastUse = now;
    boolean here = ask.end() - from <= arrived;
    if (!ask.reader().internal()) {
      use.read(ask.reader().thread(), !here); // first: it may fail where the heap is full
    }
    if (here) {
      users++;
    } else {
      waiters.add(ask);
    }
    return here ? Join.HERE : Join.WAITS;
  }

  /**
   * Lends the bytes of an ask, for which a use has begun.
   *
   * @throws FsException where the ask is not within this fetch; the use has ended then
   */
  Loan lend(Ask ask) throws FsException {
    if (ask.reader().elsewhere()) {
      // before the pages are cached, so that a thread that finds them cached knows of this read
      synchronized (this) {
        readsFromElsewhere++;
      }
    }
    try {
      return new FetchLoan(
          this, CheckedBytes.of(ask.item(), ask.offset(), ask.length(), item, address()));
    } catch (FsException | RuntimeException | OutOfMemoryError e) {
      release();
      throw e;
    }
  }

  /**
   * A delivery, for the listener.
   *
   * @param bytes bytes that were not delivered before
   * @param complete whether every byte has been delivered, or will not be any more
   */
  record Delivery(int bytes, boolean complete) {}

  /**
   * Records the answer to an ask; returns the delivery to report, or null while the decision is
   * pending or for an admitted item.
   */
  synchronized @Nullable Delivery delivered(Ask ask) {
    int fresh = mark(ask.offset() - from, ask.length());
    boolean lingers = state != State.RUNNING && !offered && !admitted;
    return lingers ? delivery(fresh) : null;
  }

  /** After the end of a fetch, nobody reads the rest. */
  private Delivery delivery(int bytes) {
    return new Delivery(bytes, state == State.RETIRED || isDelivered());
  }

  private @Nullable Delivery untold(boolean isUntold) {
    return isUntold && deliveredBytes > 0 ? delivery(deliveredBytes) : null;
  }

  private int mark(int offset, int length) {
    deliveries++;
    if (delivered == null && deliveredBytes == 0 && length == item.length()) {
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

  /** Tells whether every byte has been delivered. */
  synchronized boolean isDelivered() {
    return deliveredBytes >= item.length();
  }

  /** Returns the first byte that no program's read has been answered with. */
  synchronized int firstUndelivered() {
    return delivered == null
        ? deliveredBytes
        : Math.min(delivered.nextClearBit(0) * PAGE, item.length());
  }

  /** Returns how many reads from another memory cgroup have been answered. */
  synchronized int readsFromElsewhere() {
    return readsFromElsewhere;
  }

  // --- its bytes

  /** Sets the task in the queue for the origin; a reader may wait for it already. */
  synchronized void turn(FetchTask task) {
    turn = task;
    task.awaited = !isUnread();
  }

  synchronized @Nullable FetchTask turn() {
    return turn;
  }

  /** Sets the memory for the bytes; the memory stays until {@link #filled}. */
  synchronized void begin(TransitMemory.Buffer memory) {
    buffer = memory;
    users++;
  }

  synchronized boolean hasMemory() {
    return buffer != null;
  }

  /** Returns the address of the first byte, or 0 without memory. */
  synchronized long address() {
    return buffer == null ? 0 : buffer.address();
  }

  synchronized boolean isRunning() {
    return state == State.RUNNING;
  }

  /** Counts an attempt to read from the origin. */
  synchronized void attempt() {
    attempts++;
  }

  /** Returns how many attempts there were. */
  synchronized int attempts() {
    return attempts;
  }

  synchronized int arrived() {
    return arrived;
  }

  /** Tells whether every byte has arrived. */
  synchronized boolean isWhole() {
    return state != State.RETIRED && arrived == item.length();
  }

  /**
   * Records bytes that have arrived and were checked.
   *
   * @return the asks that waited for these bytes, each with a use that has begun
   */
  synchronized List<Ask> advance(int upTo) {
    arrived = upTo;
    List<Ask> served = new ArrayList<>(1);
    for (Ask waiter : waiters) {
      if (waiter.end() - from <= upTo) {
        served.add(waiter);
      }
    }
    // last: an ask that is no longer among them must have its answer, also if the heap is full
    waiters.removeIf(waiter -> waiter.end() - from <= upTo);
    users += served.size();
    return served;
  }

  /**
   * Records that no step writes to the memory any more, and ends the steps' use of it.
   *
   * @return false where that was known before
   */
  boolean filled() {
    boolean had;
    synchronized (this) {
      if (!filling) {
        return false;
      }
      filling = false;
      had = buffer != null;
    }
    if (had) {
      release();
    }
    return true;
  }

  // --- the decision

  /** Records whether this node may keep the item. */
  synchronized void mayAdmit(boolean may) {
    mayAdmit = may;
  }

  /**
   * Records that the decision begins. Deliveries are not reported until the decision is known: an
   * admitted item may be pinned, and its fetch over, before that.
   *
   * @return whether there is a decision to make
   */
  synchronized boolean beginOffer() {
    offered = state == State.RUNNING && mayAdmit && isOfWhole();
    return offered;
  }

  /**
   * The consequences of the decision.
   *
   * @param untold deliveries before the decision, to be reported
   * @param kept whether the bytes stay, and may be given up for other fetches
   */
  record Decision(@Nullable Delivery untold, boolean kept) {}

  /** Records the decision; where the heap is full, changes nothing. The caller settles it then. */
  synchronized Decision decided(boolean admits) {
    boolean untold = offered || state == State.RUNNING;
    boolean kept = state == State.RUNNING && (!admits || givesWay);
    Decision made = new Decision(untold(untold && !admits), kept);
    offered = false;
    admitted = admits && state != State.REFUSED;
    if (state == State.RUNNING) {
      state = admits ? State.ADMITTED : State.REFUSED;
    }
    return made;
  }

  /** Returns a future that completes when the decision has been made, or will not be made. */
  synchronized CompletableFuture<@Nullable Void> settled() {
    if (settled == null) {
      settled = new CompletableFuture<>();
      if (state != State.RUNNING) {
        settled.complete(null);
      }
    }
    return settled;
  }

  /** Completes the future of the decision: it has been made, or will not be made. */
  void settle() {
    CompletableFuture<@Nullable Void> known;
    synchronized (this) {
      known = settled;
    }
    if (known != null) {
      known.complete(null);
    }
  }

  /** Notes that others may have the memory, though the item is still to be pinned. */
  synchronized void giveWay() {
    givesWay = true;
  }

  /**
   * Records that an item that counted as admitted is not: the kernel has its pages for now.
   *
   * @return false where the fetch is over
   */
  synchronized boolean refuseAfterAll() {
    if (state == State.RETIRED) {
      return false;
    }
    state = State.REFUSED;
    admitted = false;
    return true;
  }

  // --- other jobs

  /** Keeps the bytes for other jobs, or does not. */
  synchronized void share(boolean keeps) {
    shared = keeps;
  }

  /** Gives the bytes up that were kept: those who still read them have little time. */
  synchronized void letGo() {
    shared = false;
    letGo = true;
  }

  /** Tells whether it is no longer in the table, or about to leave it. */
  synchronized boolean isRetired() {
    return state == State.RETIRED;
  }

  synchronized boolean isShared() {
    return shared;
  }

  /** Returns a reader that waits beside a thread; null if there is none. */
  synchronized @Nullable Reader readerBesides(int thread) {
    for (Ask waiter : waiters) {
      if (waiter.reader().thread() != thread) {
        return waiter.reader();
      }
    }
    return null;
  }

  /** Tells whether others may have the memory when nobody uses it. */
  private boolean isKept() {
    return state == State.REFUSED || (state == State.ADMITTED && givesWay);
  }

  /** Tells whether it was refused, and nobody uses it now. */
  synchronized boolean isIdle() {
    return state == State.REFUSED && users == 0;
  }

  /** Tells whether all bytes have been delivered and nobody uses them, or will. */
  synchronized boolean isSpent() {
    return isIdle() && !shared && isDelivered();
  }

  /**
   * Returns the time of the last use, or {@link Long#MAX_VALUE} where the fetch must not be given
   * up now.
   */
  synchronized long idleSince() {
    return isKept() && !shared && users == 0 ? lastUse : Long.MAX_VALUE;
  }

  /** Tells whether no further reader is expected. */
  synchronized boolean isOver(long now) {
    return isIdle()
        && !shared
        && now - lastUse > (isDelivered() || letGo ? LINGER_NANOS : KEEP_NANOS);
  }

  // --- its end

  /**
   * Tells whether the fetch takes longer than allowed, from its first reader on if there is one.
   */
  synchronized boolean isLate(long now, long longest) {
    return state == State.RUNNING && now - begun > longest;
  }

  /**
   * Tells whether its readers have time left: the first one, or one that came later and waits.
   *
   * @param longest how long the first reader has
   */
  synchronized boolean hasTime(long now, long longest) {
    if (now - begun < longest) {
      return true;
    }
    for (Ask waiter : waiters) {
      if (now - waiter.deadline() < 0) {
        return true;
      }
    }
    return false;
  }

  /** Tells whether the deadline of an ask has passed. */
  synchronized boolean hasLate(long now) {
    for (Ask waiter : waiters) {
      if (now - waiter.deadline() >= 0) {
        return true;
      }
    }
    return false;
  }

  /** Removes and returns the asks whose deadline has passed. */
  synchronized List<Ask> late(long now) {
    List<Ask> late = new ArrayList<>(waiters.size());
    Iterator<Ask> each = waiters.iterator();
    while (each.hasNext()) {
      Ask waiter = each.next();
      if (now - waiter.deadline() >= 0) {
        each.remove();
        late.add(waiter);
      }
    }
    return late;
  }

  /** Records that the file has another version. */
  synchronized void outdate() {
    outdated = true;
  }

  synchronized boolean isOutdated() {
    return outdated;
  }

  /**
   * The consequences of the end.
   *
   * @param unanswered asks that still waited and need an answer
   * @param untold deliveries to be reported
   * @param unreached the reader that it was fetched ahead for, if it has not arrived
   * @param wasKept whether the bytes might have been given up for other fetches
   */
  record End(
      List<Ask> unanswered,
      @Nullable Delivery untold,
      @Nullable ReadStream unreached,
      boolean wasKept) {
    private static final End KNOWN = new End(List.of(), null, null, false);
  }

  /** Ends the fetch; where the heap is full, changes nothing. The caller settles it then. */
  End end() {
    End end;
    TransitMemory.Buffer unused;
    synchronized (this) {
      if (state == State.RETIRED) {
        return End.KNOWN;
      }
      boolean untold = state == State.RUNNING && !offered && deliveredBytes > 0;
      end =
          new End(
              List.copyOf(waiters),
              untold ? new Delivery(deliveredBytes, true) : null,
              ahead,
              isKept());
      // from here on nothing fails: an ask that is no longer in the fetch must have its answer
      state = State.RETIRED;
      ahead = null;
      predicted = false;
      waiters.clear();
      unused = takeUnused();
    }
    free(unused);
    return end;
  }

  /**
   * Keeps the memory until {@link #release()}.
   *
   * @return the address of the first byte; or 0 where the memory is gone, and then there is nothing
   *     to release
   */
  synchronized long hold() {
    if (state == State.RETIRED || buffer == null) {
      return 0;
    }
    users++;
    return buffer.address();
  }

  /** Ends one use of the memory. */
  void release() {
    TransitMemory.Buffer unused;
    synchronized (this) {
      users--;
      unused = takeUnused();
    }
    free(unused);
  }

  private TransitMemory.@Nullable Buffer takeUnused() {
    if (users > 0 || state != State.RETIRED) {
      return null;
    }
    TransitMemory.Buffer unused = buffer;
    buffer = null;
    return unused;
  }

  private static void free(TransitMemory.@Nullable Buffer unused) {
    try {
      if (unused != null) {
        unused.free();
      }
    } catch (OutOfMemoryError e) {
      OutOfMemory.tell(e); // it is free; those who wait for memory learn of it later
    }
  }
}
