package io.holdfast.fs.transit;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.ReadReply;
import io.holdfast.fs.ReadSource;
import io.holdfast.fs.origin.Origin;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings items from peers, or else from the origin, to those who read them. One fetch per item is
 * under way at a time and every reader shares it; a reader is answered as soon as its own bytes
 * have arrived and were checked to be of the version it reads.
 *
 * <p>What was refused stays here until each byte has been delivered, so that a program which reads
 * a file in small steps costs one fetch. A part of a large item that would not be admitted is
 * fetched alone when a random reader asks for it.
 *
 * <p>Thread-safe. Fetches run on the executor, which may be the reader's own thread where the
 * origin cannot hang. Nothing here waits without a bound; {@link #expire()} must be called several
 * times a second to enforce the deadlines of those who wait.
 */
public final class Transit {
  private static final Logger log = LoggerFactory.getLogger(Transit.class);

  /** How long memory is waited for, on a thread that others need. */
  private static final long MEMORY_NANOS = Duration.ofSeconds(30).toNanos();

  private final OriginReader origin;
  private final PeerSource peers;
  private final TransitMemory memory;
  private final Executor asking;
  private final Fetchers fetchers;
  private final LongSupplier nanoTime;
  private final FetchListener listener;
  private final long deadlineNanos;
  private final TransitStats stats = new TransitStats();
  private final ReadAhead readAhead;
  private final Reads reads;
  private volatile boolean closed;

  /** Fetches in the table that were refused: those that can be given up. */
  private final AtomicInteger kept = new AtomicInteger();

  private final FetchTable table = new FetchTable();

  /**
   * Creates a transit.
   *
   * @param capacity bytes of native memory that it may hold; at least twice the item size
   * @param nanoTime a clock of nanoseconds
   * @param deadline how long a reader waits at most
   */
  public Transit(
      Sources sources,
      ItemLayout layout,
      long capacity,
      Fetchers fetchers,
      LongSupplier nanoTime,
      Duration deadline,
      FetchListener listener) {
    this.peers = sources.peers();
    this.asking = sources.asking();
    this.fetchers = fetchers;
    this.origin = new OriginReader(sources.origin(), fetchers, stats, nanoTime, deadline);
    this.memory = new TransitMemory(capacity);
    this.readAhead = new ReadAhead(layout, capacity / 2);
    this.nanoTime = nanoTime;
    this.deadlineNanos = deadline.toNanos();
    this.listener = listener;
    this.reads = new Reads(this, layout, table, listener, readAhead);
  }

  /**
   * Where items come from.
   *
   * @param peers asked first
   * @param asking runs what waits for memory before it asks them, and what fetches for them
   */
  public record Sources(Origin origin, PeerSource peers, Executor asking) {
    /** The origin alone. */
    public Sources(Origin origin) {
      this(origin, PeerSource.NONE, Runnable::run);
    }
  }

  /** Returns how many fetches the origin gets, and how many wait. */
  public Fetchers.Figures fetches() {
    return fetchers.figures();
  }

  /** Returns what has been counted. */
  public TransitStats stats() {
    return stats;
  }

  /** Returns the bytes of memory in use. */
  public long used() {
    return memory.used();
  }

  /**
   * Returns the bytes of memory in use that are given up as soon as others need them: of items that
   * were not admitted, and that nobody reads at the moment.
   */
  public long reclaimable() {
    LongAdder bytes = new LongAdder();
    table.forEach(
        fetch -> {
          if (fetch.idleSince() != Long.MAX_VALUE) {
            bytes.add(fetch.item().length());
          }
        });
    return bytes.sum();
  }

  /** Returns the bytes of memory that may be in use. */
  public long capacity() {
    return memory.capacity();
  }

  /**
   * Reads a range of a file. The reply is called now or later, from any thread.
   *
   * @param offset first byte, below the content's size
   * @param length bytes, which end within the content
   * @throws IndexOutOfBoundsException if they do not
   */
  public void read(Content content, long offset, int length, Reader reader, ReadReply reply) {
    Objects.checkFromIndexSize(offset, length, Math.max(0, content.version().size()));
    reads.read(content, offset, length, reader, reply);
  }

  /**
   * Lends a part of an item to a peer, as soon as it is here. The borrower is called now or later,
   * from any thread.
   *
   * @param offset first byte, within the item
   * @throws IndexOutOfBoundsException if they are not all of the item
   */
  public void lend(Item item, int offset, int length, Borrower borrower) {
    Objects.checkFromIndexSize(offset, length, item.length());
    reads.serve(item, forPeer(item, offset, length, borrower), Guess.WHOLE);
  }

  /**
   * Fetches an item whole, unless it is resident, and has it decided on.
   *
   * @param reply called now or later, from any thread, when all of it is here; the decision may be
   *     made after that, while it {@linkplain #isArriving is arriving} still
   */
  public void bring(Item item, ReadReply reply) {
    Fetch there = table.whole(item.key());
    if (there != null && there.idleSince() != Long.MAX_VALUE) {
      retire(there); // refused a while ago, and kept for who may read it again
    }
    int last = item.length() - 1;
    reads.serve(item, new Ask(item, last, 1, Reader.NOBODY, true, reply, deadline()), Guess.WHOLE);
  }

  /** Tells whether an item is being fetched whole, or the decision on it being made. */
  public boolean isArriving(Item item) {
    Fetch there = table.whole(item.key());
    return there != null && there.isRunning();
  }

  /**
   * Lends a part of an item that is whole in transit already, to a peer.
   *
   * @return false where it is not; the borrower is untouched then
   */
  public boolean lendIfHere(Item item, int offset, int length, Borrower borrower) {
    Fetch there = table.whole(item.key());
    return there != null
        && there.isWhole()
        && there.read(forPeer(item, offset, length, borrower), nanoTime.getAsLong());
  }

  /** Returns the time, as the clock of nanoseconds tells it. */
  long now() {
    return nanoTime.getAsLong();
  }

  /** Returns when who asks now must have an answer. */
  long deadline() {
    return nanoTime.getAsLong() + deadlineNanos;
  }

  private Ask forPeer(Item item, int offset, int length, Borrower borrower) {
    return new Ask(item, offset, length, Reader.PEER, true, borrower, deadline());
  }

  /**
   * Begins a fetch that is in the table. Peers are asked without a turn at the origin, which may
   * have none to give.
   */
  void start(Fetch fetch) {
    stats.inFlight.increment();
    try {
      if (peers == PeerSource.NONE) {
        atOrigin(fetch, () -> begin(fetch), () -> {});
      } else {
        askPeers(fetch);
      }
    } catch (RejectedExecutionException e) {
      stats.inFlight.decrement();
      refused(fetch, e);
    }
  }

  /**
   * On this thread, but where memory has to be waited for, and where a peer asks: what answers
   * peers is not to wait for the origin.
   */
  private void askPeers(Fetch fetch) {
    long address = fetch.isForPeer() ? 0 : memory.acquire(fetch.item().length(), 0);
    if (address == 0) {
      asking.execute(() -> begin(fetch));
    } else {
      begin(fetch, address);
    }
  }

  /**
   * Has a fetch ask the origin when its bytes may be read, and it has its turn.
   *
   * @param instead run where it gets none after it has waited
   */
  private void atOrigin(Fetch fetch, Runnable rest, Runnable instead) {
    FetchTask task = new FetchTask(fetch.item().length(), false, rest);
    fetch.turn(task);
    origin.requireAnswers(fetch.item());
    long quiet = origin.quietNanos(fetch.item());
    if (quiet > 0) {
      // the thread of a reader is needed for others
      CompletableFuture.delayedExecutor(quiet, TimeUnit.NANOSECONDS)
          .execute(() -> whenQuiet(fetch, task, instead));
    } else {
      fetchers.execute(task);
    }
  }

  private void whenQuiet(Fetch fetch, FetchTask task, Runnable instead) {
    try {
      if (closed) {
        throw new RejectedExecutionException("the mount is ending");
      }
      fetchers.execute(task);
    } catch (RejectedExecutionException e) {
      stats.inFlight.decrement();
      refused(fetch, e);
      instead.run();
    }
  }

  private void refused(Fetch fetch, RejectedExecutionException cause) {
    FetchTask task = fetch.turn();
    if (closed || task == null || task.awaited) {
      fail(
          fetch,
          cause.getCause() instanceof FsException why
              ? why
              : new FsException(FsError.IO, fetch.item() + ": no thread to fetch it", cause));
    } else {
      leaveOut(fetch);
    }
  }

  /** What was to be fetched ahead is not; a reader that has come for it meanwhile asks again. */
  private void leaveOut(Fetch fetch) {
    ReadStream stream = fetch.ahead();
    if (stream != null) {
      readAhead.missing(stream, fetch.item().offset());
    }
    retire(fetch);
  }

  /** A reader waits for a fetch that was begun ahead. */
  void wanted(FetchTask task) {
    fetchers.promote(task);
  }

  /** Gets memory and asks the peers; what they do not have is fetched from the origin then. */
  private void begin(Fetch fetch) {
    if (!fetch.isRunning()) {
      stats.inFlight.decrement(); // given up before it had its turn
      return;
    }
    try {
      long address = acquire(fetch);
      if (address == 0) {
        stats.inFlight.decrement();
        leaveOut(fetch);
        return;
      }
      begin(fetch, address);
    } catch (FsException e) {
      stats.inFlight.decrement();
      fail(fetch, e);
    }
  }

  private void begin(Fetch fetch, long address) {
    fetch.begin(address);
    peers.fetch(
        fetch.whole(),
        fetch.item(),
        fetch.isForPeer(),
        address,
        arrival -> goOn(fetch, address, arrival));
  }

  private void goOn(Fetch fetch, long address, PeerSource.Arrival arrival) {
    if (arrival.fetched() || peers == PeerSource.NONE) {
      complete(fetch, address, arrival);
    } else {
      try {
        atOrigin(fetch, () -> complete(fetch, address, arrival), fetch::release);
      } catch (RejectedExecutionException e) {
        stats.inFlight.decrement();
        refused(fetch, e);
        fetch.release();
      }
    }
  }

  private void complete(Fetch fetch, long address, PeerSource.Arrival arrival) {
    try {
      if (arrival.fetched()) {
        stats.peerItems.increment();
        stats.peerBytes.add(fetch.item().length());
        fetch.use().fetched(fetch.item().length());
        fetch.advance(fetch.item().length(), ReadSource.PEER);
        ended(fetch, ReadSource.PEER, null);
        decide(fetch, arrival.mayAdmit());
      } else if (origin.fetch(fetch, address)) {
        stats.originItems.increment();
        fetch.use().fetched(fetch.item().length());
        ended(fetch, ReadSource.ORIGIN, null);
        decide(fetch, arrival.mayAdmit());
      }
    } catch (FsException e) {
      fail(fetch, e);
    } catch (RuntimeException | Error e) {
      fail(fetch, new FsException(FsError.IO, fetch.item() + ": " + e, e));
      throw e;
    } finally {
      stats.inFlight.decrement();
      fetch.release();
    }
  }

  private void ended(Fetch fetch, ReadSource source, @Nullable FsException failure) {
    listener.ended(fetch.item(), source, nanoTime.getAsLong() - fetch.started(), failure);
  }

  private void decide(Fetch fetch, boolean mayAdmit) {
    boolean whole = fetch.isOfWhole();
    fetch.decided(mayAdmit && whole && fetch.beginOffer() && listener.offer(fetch));
  }

  private void fail(Fetch fetch, FsException cause) {
    table.remove(fetch);
    fetch.end().forEach(ask -> ask.reply().failed(cause));
    ended(fetch, ReadSource.ORIGIN, cause);
    if (cause.code() == FsError.STALE) {
      log.info("{}", cause.getMessage());
      listener.changed(fetch.item());
    } else {
      stats.originErrors.increment();
      stats.errors.count(cause.code());
      if (cause.code() != FsError.ORIGIN_SILENT) { // of which there is a line
        log.warn("fetch failed: {}", cause.getMessage());
      }
    }
  }

  /** Returns 0 where nobody waits for it, and it is not worth what it would take from others. */
  private long acquire(Fetch fetch) throws FsException {
    int length = fetch.item().length();
    ReadStream stream = fetch.ahead();
    boolean gone = stream != null && readAhead.isGone(stream, nanoTime.getAsLong());
    if (gone && fetch.isUnread()) {
      return 0;
    }
    long address = memory.acquire(length, 0);
    while (address == 0 && giveUpIdle(fetch.isUnread())) {
      address = memory.acquire(length, 0);
    }
    if (address != 0 || fetch.isUnread()) {
      return address;
    }
    address = memory.acquire(length, Math.min(deadlineNanos / 2, MEMORY_NANOS));
    if (address == 0) {
      throw new FsException(
          FsError.NO_MEMORY,
          "transit memory full: " + memory.used() + " of " + memory.capacity() + " bytes in use");
    }
    return address;
  }

  void noLongerAhead(ReadStream stream, int length) {
    readAhead.release(stream, length);
  }

  void delivered(Fetch fetch, int bytes, boolean complete) {
    listener.delivered(fetch.item(), bytes, complete);
  }

  /** Takes note that a refused fetch is kept for who may still read it, or no longer. */
  void kept(boolean begins) {
    kept.addAndGet(begins ? 1 : -1);
  }

  void free(long address, int length) {
    memory.release(address, length);
  }

  /** Takes a fetch out of the table; who joined it in the last moment asks again. */
  void retire(Fetch fetch) {
    if (fetch.isSpent()) {
      reads.retiring(fetch.whole());
    }
    table.remove(fetch);
    for (Ask ask : fetch.end()) {
      if (closed) {
        ask.reply().failed(new FsException(FsError.IO, fetch.item() + ": the mount is ending"));
      } else {
        reads.serve(fetch.whole(), ask, fetch.isOfWhole() ? Guess.WHOLE : Guess.NOTHING);
      }
    }
  }

  /** Gives up every fetch of a file whose version has changed; those who wait get ESTALE. */
  public void abandon(long node, String path) {
    FsException cause = new FsException(FsError.STALE, path + ": changed at the origin");
    table.forEach(
        fetch -> {
          if (fetch.item().node() == node) {
            table.remove(fetch);
            fetch.abandon().forEach(ask -> ask.reply().failed(cause));
          }
        });
  }

  /**
   * Enforces the deadlines of those who wait, and lets go of what nobody has asked for in a while.
   */
  public void expire() {
    long now = nanoTime.getAsLong();
    long longest = origin.isSilent() ? deadlineNanos : 2 * deadlineNanos;
    table.forEach(
        fetch -> {
          if (fetch.expire(now, longest)) {
            fail(fetch, new FsException(FsError.TIMED_OUT, fetch.item() + ": given up"));
            giveUp(fetch);
          } else if (fetch.isOver(now)) {
            retire(fetch);
          }
        });
  }

  private void giveUp(Fetch fetch) {
    FetchTask task = fetch.turn();
    if (task != null) {
      fetchers.giveUp(task);
    }
  }

  /** A kept fetch as it is at one moment. */
  private record Idle(Fetch fetch, boolean spent, long since) {}

  /**
   * Makes room: of the kept items that were delivered whole, or else of all, the quarter goes that
   * was not used for longest.
   *
   * @param spentOnly whether what has not been delivered whole stays
   * @return whether there were any
   */
  private boolean giveUpIdle(boolean spentOnly) {
    if (kept.get() == 0) {
      return false; // all is on its way to being pinned, or still arriving
    }
    List<Idle> idle = new ArrayList<>();
    table.forEach(
        fetch -> {
          Idle each = new Idle(fetch, fetch.isSpent(), fetch.idleSince());
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

  /** Ends all fetches; for the end of the mount. */
  public void close() {
    closed = true;
    fetchers.close();
    table.forEach(this::retire);
  }
}
