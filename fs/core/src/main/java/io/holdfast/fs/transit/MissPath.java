package io.holdfast.fs.transit;

import io.holdfast.fs.FetchUse;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.OutOfMemory;
import io.holdfast.fs.ReadSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The way of a miss, from top to bottom. An ask joins the fetch of its item or starts one. The
 * fetch gets memory, asks the peers, and then, when it has its turn, the origin. Waiting readers
 * are answered as their bytes arrive. The complete item is offered to residency. A refused item is
 * kept for a while.
 *
 * <p>A fetch that has to wait for memory, for a peer or for its turn keeps no thread: the step at
 * which it waits runs again when it may go on. Thread-safe without a lock.
 */
final class MissPath {
  private static final Logger log = LoggerFactory.getLogger(MissPath.class);

  /** Longest wait for memory. */
  private static final long MEMORY_NANOS = Duration.ofSeconds(30).toNanos();

  private final PeerSource peers;
  private final OriginReader origin;
  private final Fetchers fetchers;
  private final FetchTable table;
  private final TransitMemory memory;

  /** For reads that cross from one fetch to the next, as much again as for the fetches. */
  private final TransitMemory joinMemory;

  private final ReadAhead readAhead;
  private final ReadPatterns patterns;
  private final FetchListener listener;
  private final Executor threads;
  private final LongSupplier nanoTime;
  private final long deadlineNanos;
  private final TransitStats stats;
  private volatile boolean closed;
  private volatile Sharing sharing = Sharing.NONE;

  /** Fetches in the table that were refused or give way; only these can be given up. */
  private final AtomicInteger kept = new AtomicInteger();

  /**
   * The parts of transit that a miss uses.
   *
   * @param threads run steps after a wait, and steps for peers
   * @param deadline longest wait of a reader
   */
  record Parts(
      PeerSource peers,
      OriginReader origin,
      Fetchers fetchers,
      FetchTable table,
      TransitMemory memory,
      ReadAhead readAhead,
      ReadPatterns patterns,
      FetchListener listener,
      Executor threads,
      LongSupplier nanoTime,
      Duration deadline,
      TransitStats stats) {}

  MissPath(Parts parts) {
    peers = parts.peers;
    origin = parts.origin;
    fetchers = parts.fetchers;
    table = parts.table;
    memory = parts.memory;
    joinMemory = new TransitMemory(parts.memory.capacity());
    readAhead = parts.readAhead;
    patterns = parts.patterns;
    listener = parts.listener;
    threads = parts.threads;
    nanoTime = parts.nanoTime;
    deadlineNanos = parts.deadline.toNanos();
    stats = parts.stats;
  }

  /** Sets what decides on bytes that jobs share. */
  void sharing(Sharing decides) {
    sharing = decides;
  }

  /** A step on the way. It takes the next step, now or later, or ends the fetch. */
  @FunctionalInterface
  private interface Step {
    void take(Fetch fetch) throws FsException;
  }

  /**
   * Takes a step. A step that fails is the last one; it frees the memory before any reader learns
   * of the failure.
   */
  private void take(Fetch fetch, Step step) {
    try {
      step.take(fetch);
    } catch (RejectedExecutionException e) {
      over(fetch);
      hasNoTurn(fetch, e);
    } catch (FsException e) {
      over(fetch);
      fail(fetch, e);
    } catch (RuntimeException | Error e) {
      over(fetch); // before anything that a full heap may break off: then expire() ends the fetch
      fail(fetch, broken(fetch, e));
    }
  }

  // --- 1. who answers

  /** Answers an ask from the fetches in the table, and starts the missing ones (single flight). */
  void serve(Item item, Ask ask, Guess guess) {
    JoinedReply joined = null;
    Fetch added = null;
    int at = ask.offset();
    try {
      while (at < ask.end()) {
        Fetch there = ask.wantsWhole() ? table.whole(item.key()) : table.at(item.key(), at);
        added = there == null ? add(item, ask, at, guess) : null;
        Fetch fetch = there == null ? added : there;
        if (fetch == null) {
          continue; // another thread was quicker
        }
        int to = Math.min(ask.end(), fetch.upTo());
        if (to < ask.end() && joined == null) {
          joined = joinedReply(ask.borrower(), ask.length());
        }
        Ask piece =
            joined == null ? ask : ask.part(at, to, joined.part(at - ask.offset(), to - at));
        if (there == null ? begin(fetch, piece) : joinThere(fetch, piece)) {
          added = null;
          earn(guess, fetch, to - at - (there == null ? fetch.upTo() - to : 0));
          at = to;
        } else if (joined != null) {
          joined.withdraw();
        }
      }
    } catch (RuntimeException | Error e) {
      if (joined != null) {
        joined.abandon(failureOf(e));
      }
      if (added != null) {
        end(added, failureOf(e)); // it may never begin, and readers would join it
      }
      throw e;
    }
    if (joined != null) {
      joined.complete();
    }
  }

  /** Returns the failure of a read that was broken off; it takes no room where the heap is full. */
  static FsException failureOf(Throwable cause) {
    return cause instanceof OutOfMemoryError
        ? OutOfMemory.FAILURE
        : new FsException(FsError.IO, cause.toString(), cause);
  }

  /** Returns a reply to be joined from parts. */
  JoinedReply joinedReply(Borrower whole, int length) {
    return new JoinedReply(whole, length, joinMemory);
  }

  /**
   * Adjusts the bytes that a random reader has earned. A whole item, which would be admitted,
   * neither costs nor earns.
   */
  private static void earn(Guess guess, Fetch fetch, int bytes) {
    ReadStream stream = guess.stream();
    if (stream != null && !guess.sequential() && !fetch.isOfWhole()) {
      stream.file().earn(bytes);
    }
  }

  /**
   * Adds a fetch of the missing bytes from an offset on; returns null where another thread was
   * quicker.
   */
  private @Nullable Fetch add(Item item, Ask ask, int at, Guess guess) {
    boolean whole = guess.whole() || isFetchedWhole(item);
    Item range = item;
    if (!whole) {
      int to = (int) Math.min(item.length(), (long) ask.end() + guess.extra());
      int end = table.gapEnd(item.key(), at, to);
      if (end == at) {
        return null;
      }
      range = item.part(at, end);
    }
    Fetch fetch = new Fetch(item, range, nanoTime.getAsLong(), ask.isForPeer());
    if (!ask.reader().internal()) {
      fetch.use(listener.use(item, range, ask.reader()));
    }
    if (!table.add(fetch, whole)) {
      return null;
    }
    if (!whole && guess.isOld()) {
      retire(fetch);
      return add(item, ask, at, Guess.NOTHING);
    }
    ReadStream stream = guess.stream();
    if (stream != null && guess.sequential()) {
      stream.file().fetched(stream, range.offset() + range.length());
    }
    return fetch;
  }

  /** Tells whether an item is fetched as a whole only. */
  boolean isFetchedWhole(Item item) {
    return item.length() <= FileStreams.PART || listener.wouldAdmit(item);
  }

  /**
   * Fetches a whole item that nobody has asked for yet. The fetch yields to those that readers wait
   * for: it is left out where there is no memory, or where too many fetches are queued.
   *
   * @param reader the reader that is expected
   * @param use observes its readers
   * @return completed when the fetch has been decided on, or has ended
   */
  CompletableFuture<Transit.Ahead> fetchAhead(Item item, Reader reader, FetchUse use) {
    Fetch fetch = new Fetch(item, item, nanoTime.getAsLong(), false);
    fetch.predicted();
    fetch.use(use);
    CompletableFuture<Transit.Ahead> ended = fetch.settled().thenApply(none -> fetch.endAhead());
    if (!table.add(fetch, true)) {
      return CompletableFuture.completedFuture(Transit.Ahead.OVER);
    }
    boolean unused = startAhead(fetch, reader);
    return ended;
  }

  /**
   * Starts a fetch ahead of its reader that was just added to the table. If a full heap breaks that
   * off, the fetch ends: it may never begin, and readers would join it.
   *
   * @return false where the item is resident; the fetch has ended then
   */
  boolean startAhead(Fetch fetch, Reader reader) {
    try {
      if (listener.serve(fetch.whole(), 0, 0, Borrower.NOBODY)) {
        retire(fetch);
        return false;
      }
      start(fetch, reader);
      return true;
    } catch (RuntimeException | Error e) {
      end(fetch, failureOf(e));
      throw e;
    }
  }

  private boolean joinThere(Fetch there, Ask ask) {
    boolean joined = there.isRunning();
    if (!join(there, ask)) {
      retire(there);
      return false;
    }
    if (joined && !ask.reader().internal()) {
      stats.coalesced.increment();
    }
    return true;
  }

  /**
   * Starts a fetch with its first ask; returns false where the fetch was abandoned meanwhile and is
   * no longer in the table.
   */
  private boolean begin(Fetch fetch, Ask ask) {
    // only now: the thread that pinned the item marked it resident before its fetch left the table
    if (listener.serve(fetch.whole(), ask.offset(), ask.length(), ask.borrower())) {
      retire(fetch);
      return true;
    }
    if (!join(fetch, ask)) {
      return false;
    }
    start(fetch, ask.reader());
    return true;
  }

  /** Answers an ask now or when its bytes have arrived; returns false where the fetch is over. */
  boolean join(Fetch fetch, Ask ask) {
    Fetch.Join joined = fetch.join(ask, nanoTime.getAsLong());
    if (joined == Fetch.Join.REFUSED) {
      return false;
    }
    noLongerAhead(fetch, fetch.reached());
    if (joined == Fetch.Join.HERE) {
      answer(fetch, ask);
    } else {
      FetchTask turn = fetch.turn();
      if (turn != null) {
        fetchers.promote(turn);
      }
      if (sharing != Sharing.NONE) {
        sharing.joined(new Handed(this, fetch), ask.reader());
      }
    }
    return true;
  }

  private boolean isForJobs(Reader reader) {
    return sharing != Sharing.NONE && !reader.internal();
  }

  private void noLongerAhead(Fetch fetch, @Nullable ReadStream reader) {
    if (reader != null) {
      readAhead.release(reader, fetch.item().length());
    }
  }

  private void answer(Fetch fetch, Ask ask) {
    try {
      ask.borrower().lent(fetch.lend(ask));
    } catch (FsException e) {
      failed(ask, e);
      return;
    } catch (RuntimeException | OutOfMemoryError e) {
      failed(ask, broken(fetch, e));
      return;
    }
    if (!ask.reader().internal()) {
      tell(fetch, fetch.delivered(ask));
      if (isForJobs(ask.reader())) {
        sharing.delivered(new Handed(this, fetch), ask.reader(), ask.length());
      }
    }
  }

  private void tell(Fetch fetch, Fetch.@Nullable Delivery delivery) {
    if (delivery != null) {
      listener.delivered(fetch.item(), delivery.bytes(), delivery.complete());
    }
  }

  /**
   * Starts a fetch that is in the table, now or, if jobs share it, later. If that is broken off,
   * the caller ends the fetch.
   *
   * @param reader the reader that it is for
   */
  private void start(Fetch fetch, Reader reader) {
    stats.inFlight.increment();
    boolean started = false;
    try {
      boolean unread = fetch.isUnread();
      if (!isForJobs(reader) || begins(fetch, reader, unread)) {
        askSources(fetch);
      } else if (unread) {
        leaveOut(fetch); // nobody has it go on: it was not delayed
      }
      started = true;
    } finally {
      if (!started && !fetch.hasMemory()) { // with memory, a step of it may write there
        over(fetch);
      }
    }
  }

  private boolean begins(Fetch fetch, Reader reader, boolean unread) {
    Handed handed = new Handed(this, fetch);
    boolean begins = sharing.begins(handed, fetch.item(), reader, unread);
    if (!begins && !unread) {
      Reader other = fetch.readerBesides(reader.thread());
      if (other != null) {
        sharing.joined(handed, other); // it came before anybody knew of the delay
      }
    }
    if (fetch.isRetired()) {
      sharing.ended(handed); // it ended before it was known there
    }
    return begins;
  }

  /** See {@link SharedFetch#goOn()}. */
  void goOn(Fetch fetch) {
    take(fetch, delayed -> threads.execute(() -> askSources(delayed)));
  }

  /**
   * Peers are asked without a turn at the origin, since no turn may be free. A fetch for a peer
   * starts on another thread than the one that answers peers.
   */
  private void askSources(Fetch fetch) {
    if (peers == PeerSource.NONE) {
      take(fetch, this::askOrigin);
    } else if (fetch.isForPeer()) {
      take(fetch, begun -> threads.execute(() -> take(begun, this::askPeers)));
    } else {
      take(fetch, this::askPeers);
    }
  }

  // --- 2. memory

  /**
   * Tells whether a fetch may go on, with memory for its bytes. If not, either the fetch is over,
   * or the step runs again when there is memory.
   */
  private boolean hasMemory(Fetch fetch, Step again) {
    if (!fetch.isRunning()) {
      over(fetch);
      return false;
    }
    if (fetch.hasMemory()) {
      return true;
    }
    TransitMemory.Buffer buffer = isWorthItsMemory(fetch) ? takeMemory(fetch) : null;
    if (buffer != null) {
      fetch.begin(buffer);
      return true;
    }
    if (fetch.isUnread()) {
      leaveOut(fetch);
    } else {
      awaitMemory(fetch, again);
    }
    return false;
  }

  private boolean isWorthItsMemory(Fetch fetch) {
    ReadStream reader = fetch.ahead();
    boolean gone = reader != null && readAhead.isGone(reader, nanoTime.getAsLong());
    return !(gone && fetch.isUnread());
  }

  private TransitMemory.@Nullable Buffer takeMemory(Fetch fetch) {
    int length = fetch.item().length();
    TransitMemory.Buffer buffer = memory.take(length);
    while (buffer == null && giveUpIdle(fetch.isUnread())) {
      buffer = memory.take(length);
    }
    return buffer;
  }

  private void awaitMemory(Fetch fetch, Step again) {
    long deadline = nanoTime.getAsLong() + Math.min(deadlineNanos / 2, MEMORY_NANOS);
    memory.whenFree(fetch.item().length(), deadline, new MemoryWait(fetch, again));
  }

  /**
   * A fetch that waits for memory. It goes on on another thread than the one that frees memory. Its
   * steps are made before it waits, because there may be no room for them afterwards.
   */
  private final class MemoryWait implements TransitMemory.Taker, Runnable {
    private final Fetch fetch;
    private final Step again;
    private final Step handOver = waiting -> threads.execute(this);
    private final Step onward = this::goOn;
    private volatile @Nullable FsException none;

    MemoryWait(Fetch fetch, Step again) {
      this.fetch = fetch;
      this.again = again;
    }

    @Override
    public void take(TransitMemory.@Nullable Buffer buffer, @Nullable FsException cause) {
      if (buffer != null) {
        fetch.begin(buffer); // first: from here on, the end of the fetch frees it
      }
      none = cause;
      MissPath.this.take(fetch, handOver);
    }

    @Override
    public void run() {
      MissPath.this.take(fetch, onward);
    }

    private void goOn(Fetch waiting) throws FsException {
      FsException cause = none;
      if (cause != null) {
        throw cause;
      }
      again.take(waiting);
    }
  }

  // --- 3. peers

  private void askPeers(Fetch fetch) {
    if (!hasMemory(fetch, this::askPeers)) {
      return;
    }
    Consumer<PeerSource.Arrival> answered = new PeerWait(fetch)::answered;
    peers.fetch(fetch.whole(), fetch.item(), fetch.isForPeer(), fetch.address(), answered);
  }

  /**
   * A fetch that waits for peers. Its memory must stay until they have answered, so nothing may
   * fail between the question and the answer: all that the answer needs is made before the
   * question.
   */
  private final class PeerWait implements Step {
    private final Fetch fetch;
    private volatile PeerSource.Arrival arrival = PeerSource.Arrival.NOTHING;

    PeerWait(Fetch fetch) {
      this.fetch = fetch;
    }

    void answered(PeerSource.Arrival arrived) {
      arrival = arrived;
      MissPath.this.take(fetch, this);
    }

    @Override
    public void take(Fetch asked) {
      goOn(asked, arrival);
    }
  }

  private void goOn(Fetch fetch, PeerSource.Arrival arrival) {
    fetch.mayAdmit(arrival.mayAdmit());
    if (!arrival.fetched()) {
      askOrigin(fetch);
      return;
    }
    stats.peerBytes.add(fetch.item().length());
    advance(fetch, fetch.item().length(), ReadSource.PEER);
    complete(fetch, ReadSource.PEER);
  }

  // --- 4. the origin

  private void askOrigin(Fetch fetch) {
    askOrigin(fetch, 0);
  }

  /** Queues a fetch for its turn at the origin, after a pause if its bytes must not be read yet. */
  private void askOrigin(Fetch fetch, long pauseNanos) {
    if (!fetch.isRunning()) {
      over(fetch);
      return;
    }
    FetchTask turn =
        new FetchTask(
            fetch.item().length(), fetch.use().job(), false, () -> take(fetch, this::readOrigin));
    fetch.turn(turn);
    origin.requireAnswers(fetch.item());
    long pause = Math.max(pauseNanos, origin.quietNanos(fetch.item()));
    if (pause > 0) {
      // made first: nobody learns of a task of the timer that fails before a step is taken
      Step onward = paused -> getTurn(paused, turn);
      Step handOver = paused -> threads.execute(() -> take(paused, onward));
      CompletableFuture.delayedExecutor(pause, TimeUnit.NANOSECONDS, Runnable::run)
          .execute(() -> take(fetch, handOver));
    } else {
      getTurn(fetch, turn);
    }
  }

  /**
   * Runs a fetch when it has its turn. A fetch that no reader waited for is left out where too many
   * wait: a reader that joins it in that moment asks again, and is waited for then.
   */
  private void getTurn(Fetch fetch, FetchTask turn) {
    if (closed) {
      throw new RejectedExecutionException("the mount is ending");
    }
    boolean awaited = turn.awaited;
    try {
      fetchers.execute(turn);
    } catch (RejectedExecutionException e) {
      if (awaited || closed) {
        throw e;
      }
      leaveOut(fetch);
    }
  }

  /**
   * Reads from the origin. A fetch without memory returns its turn, and queues again when it has
   * memory.
   */
  private void readOrigin(Fetch fetch) throws FsException {
    if (!hasMemory(fetch, this::askOrigin)) {
      return;
    }
    try {
      if (origin.read(fetch, upTo -> advance(fetch, upTo, ReadSource.ORIGIN))) {
        complete(fetch, ReadSource.ORIGIN);
      } else {
        over(fetch);
      }
    } catch (FsException e) {
      askOrigin(fetch, origin.pauseAfter(fetch, e));
    }
  }

  /** Answers the asks whose bytes have arrived; with the last byte, counts the item. */
  private void advance(Fetch fetch, int upTo, ReadSource source) {
    if (upTo == fetch.item().length()) {
      (source == ReadSource.PEER ? stats.peerItems : stats.originItems).increment();
    }
    List<Ask> served = fetch.advance(upTo);
    for (int i = 0; i < served.size(); i++) {
      Ask waiter = served.get(i);
      try {
        waiter.borrower().waitedFor(source);
        answer(fetch, waiter);
      } catch (OutOfMemoryError e) {
        OutOfMemory.tell(e); // it has its answer, and the next one needs its own
      } catch (RuntimeException e) {
        log.error("an answer failed in the daemon itself", e);
      }
    }
  }

  /** Fails an ask. Nobody else would find those behind it, so it ends in any case. */
  private static void failed(Ask ask, FsException cause) {
    try {
      ask.borrower().failed(cause);
    } catch (OutOfMemoryError e) {
      OutOfMemory.tell(e);
    } catch (RuntimeException e) {
      log.error("an answer failed in the daemon itself", e);
    }
  }

  /** Logs a failure in the daemon itself; returns it as the failure of a fetch or of an ask. */
  private static FsException broken(Fetch fetch, Throwable failure) {
    try {
      if (failure instanceof OutOfMemoryError met) {
        OutOfMemory.tell(met);
        return OutOfMemory.FAILURE;
      }
      log.error("a read failed in the daemon itself", failure);
      return new FsException(FsError.IO, fetch.item() + ": " + failure, failure);
    } catch (OutOfMemoryError e) {
      OutOfMemory.tell(e);
      return OutOfMemory.FAILURE;
    }
  }

  // --- 5. the decision

  private void complete(Fetch fetch, ReadSource source) {
    fetch.use().fetched(fetch.item().length(), source);
    ended(fetch, source, null);
    boolean admits = fetch.beginOffer() && listener.offer(new Offered(this, fetch));
    if (!admits) {
      share(fetch);
    }
    Fetch.Decision decision = fetch.decided(admits);
    if (decision.kept()) {
      kept.incrementAndGet();
    }
    tell(fetch, decision.untold());
    over(fetch);
    fetch.settle();
  }

  private void ended(Fetch fetch, ReadSource source, @Nullable FsException failure) {
    listener.ended(fetch.item(), source, nanoTime.getAsLong() - fetch.started(), failure);
  }

  /** Keeps the bytes for other jobs, if they want them. */
  private void share(Fetch fetch) {
    if (sharing == Sharing.NONE) {
      return;
    }
    fetch.share(true); // first: they may be let go at once
    if (!sharing.keeps(new Handed(this, fetch))) {
      fetch.share(false);
    }
  }

  /** See {@link Fetched#giveWay()}. */
  void giveWay(Fetch fetch) {
    if (peers == PeerSource.NONE) {
      fetch.giveWay();
    }
  }

  /** See {@link Fetched#passedOn()}. */
  void passedOn(Fetch fetch) {
    share(fetch);
    if (fetch.isShared() && fetch.refuseAfterAll()) {
      kept.incrementAndGet();
    } else {
      retire(fetch);
    }
  }

  /** See {@link SharedFetch#letGo()}. */
  void letGo(Fetch fetch) {
    fetch.letGo();
    if (fetch.isOver(nanoTime.getAsLong())) {
      threads.execute(() -> retire(fetch));
    }
  }

  /** Records that no further step works on the bytes of a fetch. */
  private void over(Fetch fetch) {
    if (fetch.filled()) {
      stats.inFlight.decrement();
    }
  }

  // --- 6. the end

  /**
   * Fails a fetch, even while a step of it runs: that step ends, and nobody sees its bytes. The
   * failure is counted before a reader learns of it. The readers learn of it even if a full heap
   * breaks off the counting.
   */
  private void fail(Fetch fetch, FsException cause) {
    boolean stale = cause.code() == FsError.STALE;
    try {
      if (stale) {
        log.info("{}", cause.getMessage());
      } else {
        count(cause);
      }
      ended(fetch, ReadSource.ORIGIN, cause);
    } finally {
      end(fetch, cause);
    }
    if (stale) {
      listener.changed(fetch.item());
    }
  }

  private void count(FsException failure) {
    stats.originErrors.increment();
    stats.errors.count(failure.code());
    if (failure.code() != FsError.ORIGIN_SILENT) { // logged once, for all fetches
      log.warn("fetch failed: {}", failure.getMessage());
    }
  }

  private void hasNoTurn(Fetch fetch, RejectedExecutionException cause) {
    if (!closed && fetch.isUnread()) {
      leaveOut(fetch);
    } else {
      fail(
          fetch,
          cause.getCause() instanceof FsException why
              ? why
              : new FsException(FsError.IO, fetch.item() + ": no thread to fetch it", cause));
    }
  }

  /** Gives up read-ahead that no step works on. A reader that has joined meanwhile asks again. */
  private void leaveOut(Fetch fetch) {
    over(fetch);
    makeWay(fetch);
  }

  /**
   * Gives up read-ahead, even while a step of it runs: that step ends, and nobody sees its bytes.
   */
  private void makeWay(Fetch fetch) {
    ReadStream stream = fetch.ahead();
    if (stream != null) {
      readAhead.missing(stream, fetch.item().offset());
    }
    fetch.postpone();
    retire(fetch);
  }

  /**
   * Gives up a fetch that takes too long. Readers that still wait ask again: they came late, and
   * have deadlines of their own. It is no failure where none has ever waited and the fetch is
   * queued for its turn, or the origin was not asked: others precede such a fetch at a busy origin.
   * An origin that was asked hangs: the fetch must not begin again, because each time would take
   * one more thread.
   */
  private void giveUp(Fetch fetch) {
    FetchTask turn = fetch.turn();
    boolean queued = turn != null && fetchers.giveUp(turn);
    if (queued) {
      over(fetch); // its step, which would do that, never runs
    }
    if (fetch.isUnread() && (queued || fetch.attempts() == 0)) {
      makeWay(fetch);
    } else {
      FsException cause = new FsException(FsError.TIMED_OUT, fetch.item() + ": given up");
      try {
        count(cause);
        ended(fetch, ReadSource.ORIGIN, cause);
      } finally {
        end(fetch, null);
      }
    }
  }

  /** Ends a fetch that nobody waits for. Asks that joined at the last moment are served again. */
  void retire(Fetch fetch) {
    if (fetch.isSpent()) {
      patterns.retiring(fetch.whole().node());
    }
    end(fetch, null);
  }

  /**
   * Ends a fetch, and then removes it from the table. A full heap may break off either; {@link
   * #expire} finds such a fetch in the table. Asks that still waited get their answer in any case,
   * because nobody else could find them.
   *
   * @param cause the failure of these asks; null where they are served again
   */
  private void end(Fetch fetch, @Nullable FsException cause) {
    Fetch.End end = fetch.end();
    try {
      if (end.wasKept()) {
        kept.decrementAndGet();
      }
      noLongerAhead(fetch, end.unreached());
      table.remove(fetch);
      fetch.settle();
      tell(fetch, end.untold());
      if (sharing != Sharing.NONE) {
        sharing.ended(new Handed(this, fetch));
      }
    } finally {
      answerAll(fetch, end.unanswered(), cause);
    }
  }

  /**
   * Answers asks that are in no fetch any more, each whatever becomes of the others. Those that are
   * served again may wait for the origin, and this thread may be the one that enforces deadlines.
   */
  private void answerAll(Fetch fetch, List<Ask> asks, @Nullable FsException cause) {
    for (int i = 0; i < asks.size(); i++) { // without an iterator: there may be no room for it
      Ask ask = asks.get(i);
      if (cause != null) {
        failed(ask, cause);
        continue;
      }
      try {
        threads.execute(() -> serveAgain(fetch, ask));
      } catch (RuntimeException | OutOfMemoryError e) {
        failed(ask, broken(fetch, e));
      }
    }
  }

  private void serveAgain(Fetch fetch, Ask ask) {
    try {
      if (closed) {
        failed(ask, new FsException(FsError.IO, fetch.item() + ": the mount is ending"));
      } else {
        serve(fetch.whole(), ask, fetch.isOfWhole() ? Guess.WHOLE : Guess.NOTHING);
      }
    } catch (RuntimeException | OutOfMemoryError e) {
      failed(ask, broken(fetch, e));
    }
  }

  /** Gives up every fetch of a file whose version has changed; waiting readers get ESTALE. */
  void abandon(long node, FsException cause) {
    table.forEach(
        fetch -> {
          if (fetch.item().node() == node) {
            fetch.outdate();
            end(fetch, cause);
          }
        });
  }

  /** See {@link Transit#expire}. */
  void expire() {
    long now = nanoTime.getAsLong();
    long longest = origin.isSilent() ? deadlineNanos : 2 * deadlineNanos;
    table.forEach(fetch -> expire(fetch, now, longest));
    makeRoom();
  }

  /** See {@link Transit#makeRoom}. */
  void makeRoom() {
    memory.expire(nanoTime.getAsLong());
    if (memory.isShort()) {
      boolean unused = giveUpIdle(false);
    }
  }

  private void expire(Fetch fetch, long now, long longest) {
    if (fetch.hasLate(now)) {
      // made first: an ask that is no longer in the fetch must have its answer
      FsException cause =
          new FsException(FsError.TIMED_OUT, fetch.item() + ": the origin did not answer in time");
      answerAll(fetch, fetch.late(now), cause);
    }
    if (fetch.isLate(now, longest)) {
      giveUp(fetch);
    } else if (fetch.isOver(now) || fetch.isRetired()) {
      retire(fetch);
    }
  }

  /** A kept fetch, or one that gives way to others, at one moment. */
  private record Idle(Fetch fetch, boolean spent, long since) {}

  /**
   * Frees memory: gives up the least recently used quarter of the kept fetches and of those that
   * give way. Takes only completely delivered ones, if there are any.
   *
   * @param spentOnly whether to take only completely delivered ones in any case
   * @return whether any fetch was given up
   */
  private boolean giveUpIdle(boolean spentOnly) {
    if (kept.get() == 0) {
      return false; // all fetches are arriving, or their pins need the bytes
    }
    List<Idle> idle = new ArrayList<>();
    table.forEach(
        fetch -> {
          Idle each = new Idle(fetch, fetch.isDelivered(), fetch.idleSince());
          if (each.since != Long.MAX_VALUE) {
            idle.add(each);
          }
        });
    if (spentOnly || idle.stream().anyMatch(Idle::spent)) {
      idle.removeIf(each -> !each.spent);
    }
    idle.sort(Comparator.comparingLong(Idle::since));
    idle.subList(0, (idle.size() + 3) / 4).forEach(each -> retire(each.fetch));
    return !idle.isEmpty();
  }

  /** Returns the bytes that would be given up for other fetches. */
  long reclaimable() {
    LongAdder bytes = new LongAdder();
    table.forEach(
        fetch -> {
          if (fetch.idleSince() != Long.MAX_VALUE) {
            bytes.add(fetch.item().length());
          }
        });
    return bytes.sum();
  }

  /** Ends all fetches; for the end of the mount. */
  void close() {
    closed = true;
    fetchers.close();
    table.forEach(this::retire);
  }
}
