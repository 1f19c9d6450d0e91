package io.holdfast.fs.transit;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.ReadReply;
import io.holdfast.fs.origin.Origin;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
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

  private final OriginReader origin;
  private final PeerSource peers;
  private final ItemLayout layout;
  private final TransitMemory memory;
  private final Executor fetchers;
  private final Executor prefetchers;
  private final LongSupplier nanoTime;
  private final FetchListener listener;
  private final long deadlineNanos;
  private final TransitStats stats = new TransitStats();
  private final ReadPatterns patterns = new ReadPatterns();
  private final LastItems lastItems = new LastItems();
  private final ReadAhead readAhead;
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
      Executors fetchers,
      LongSupplier nanoTime,
      Duration deadline,
      FetchListener listener) {
    this.origin = new OriginReader(sources.origin(), stats);
    this.peers = sources.peers();
    this.layout = layout;
    this.memory = new TransitMemory(capacity);
    this.readAhead = new ReadAhead(layout, capacity / 2);
    this.fetchers = fetchers.awaited();
    this.prefetchers = fetchers.ahead();
    this.nanoTime = nanoTime;
    this.deadlineNanos = deadline.toNanos();
    this.listener = listener;
  }

  /**
   * Where items come from.
   *
   * @param peers asked first
   */
  public record Sources(Origin origin, PeerSource peers) {}

  /**
   * Where fetches run.
   *
   * @param awaited those that a reader waits for
   * @param ahead those that nobody waits for yet; it may refuse them
   */
  public record Executors(Executor awaited, Executor ahead) {}

  /** Returns what has been counted. */
  public TransitStats stats() {
    return stats;
  }

  /** Returns the bytes of memory in use. */
  public long used() {
    return memory.used();
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
   */
  public void read(Content content, long offset, int length, Reader reader, ReadReply reply) {
    long now = nanoTime.getAsLong();
    Guess guess = guess(content, offset, length, reader, now);
    Item item = layout.itemAt(content, offset);
    int first = (int) (offset - item.offset());
    long deadline = now + deadlineNanos;
    if (first + length <= item.length()) {
      serve(item, new Ask(first, length, reader, goesOn(reader, item), reply, deadline), guess);
    } else {
      JoinedReply joined = new JoinedReply(reply, length);
      for (int done = 0; done < length; ) {
        Item each = layout.itemAt(content, offset + done);
        int from = (int) (offset + done - each.offset());
        int count = Math.min(length - done, each.length() - from);
        boolean goesOn = goesOn(reader, each);
        serve(each, new Ask(from, count, reader, goesOn, joined.part(done), deadline), guess);
        done += count;
      }
      joined.complete();
    }
    ReadStream stream = guess.stream();
    if (stream != null) {
      leaveBehind(item, first, length);
      fetchAhead(content, stream);
    }
  }

  /**
   * A file of one item that is read from its beginning is read whole, as are those that are small.
   */
  private Guess guess(Content content, long offset, int length, Reader reader, long now) {
    long size = content.version().size();
    boolean ofOneItem = offset == 0 && size <= layout.itemSize();
    return size <= FileStreams.PART || ofOneItem || reader.internal()
        ? Guess.WHOLE
        : patterns.read(content.node(), offset, length, reader.thread(), now);
  }

  /** The single flight: answers from the fetches that are there, and starts those that are not. */
  private void serve(Item item, Ask ask, Guess guess) {
    JoinedReply joined = null;
    int at = ask.offset();
    while (at < ask.end()) {
      Fetch there = ask.isForPeer() ? table.whole(item.id()) : table.at(item.id(), at);
      Fetch fetch = there == null ? add(item, ask, at, guess) : there;
      if (fetch == null) {
        continue; // another was quicker
      }
      int to = Math.min(ask.end(), fetch.upTo());
      if (to < ask.end() && joined == null) {
        joined = new JoinedReply(ask.reply(), ask.length());
      }
      Ask piece = joined == null ? ask : ask.part(at, to, joined.part(at - ask.offset()));
      if (there == null ? begin(fetch, piece) : join(fetch, piece)) {
        at = to;
      } else if (joined != null) {
        joined.withdraw();
      }
    }
    if (joined != null) {
      joined.complete();
    }
  }

  /** Adds a fetch of what is missing from a byte on; returns null where another was quicker. */
  private @Nullable Fetch add(Item item, Ask ask, int at, Guess guess) {
    boolean whole =
        guess.whole() || item.length() <= FileStreams.PART || listener.wouldAdmit(item);
    Item range = item;
    if (!whole) {
      int to = (int) Math.min(item.length(), (long) ask.end() + guess.extra());
      range = item.part(at, table.gapEnd(item.id(), at, to));
    }
    Fetch fetch = new Fetch(this, item, range, nanoTime.getAsLong(), ask.isForPeer());
    if (!table.add(fetch)) {
      return null;
    }
    ReadStream stream = guess.stream();
    if (stream != null) {
      long end = range.offset() + range.length();
      int extra = whole ? 0 : Math.max(0, fetch.upTo() - ask.end());
      stream.file().fetched(stream, end, extra);
    }
    return fetch;
  }

  private boolean join(Fetch there, Ask ask) {
    boolean joined = there.isRunning();
    if (!there.read(ask, nanoTime.getAsLong())) {
      retire(there);
      return false;
    }
    if (joined && !ask.reader().internal()) {
      stats.coalesced.increment();
    }
    return true;
  }

  /** Returns false where the fetch was abandoned meanwhile, and is out of the table. */
  private boolean begin(Fetch fetch, Ask ask) {
    // only now: whoever pinned the item marked it resident before its fetch left the table
    if (listener.serve(fetch.whole(), ask.offset(), ask.length(), ask.reply())) {
      retire(fetch);
      return true;
    }
    if (!fetch.read(ask, nanoTime.getAsLong())) {
      return false;
    }
    start(fetch, fetchers);
    return true;
  }

  /**
   * Lends a part of an item to a peer, as soon as it is here. The borrower is called now or later,
   * from any thread.
   *
   * @param offset first byte, within the item
   */
  public void lend(Item item, int offset, int length, Borrower borrower) {
    serve(item, forPeer(offset, length, borrower), Guess.WHOLE);
  }

  /**
   * Lends a part of an item that is whole in transit already, to a peer.
   *
   * @return false where it is not; the borrower is untouched then
   */
  public boolean lendIfHere(Item item, int offset, int length, Borrower borrower) {
    Fetch there = table.whole(item.id());
    return there != null
        && there.isWhole()
        && there.read(forPeer(offset, length, borrower), nanoTime.getAsLong());
  }

  private Ask forPeer(int offset, int length, Borrower borrower) {
    long deadline = nanoTime.getAsLong() + deadlineNanos;
    return new Ask(offset, length, Reader.PEER, true, borrower, deadline);
  }

  /**
   * Tells whether the reader is still on its way through an item: its last read was of the same
   * one, or of another of the file, since the kernel reads ahead. Only the beginning of a file
   * begins another pass. A thread that has moved on to another file needs the bytes of the one
   * before no longer.
   */
  private boolean goesOn(Reader reader, Item item) {
    long before = lastItems.exchange(reader.thread(), item.id());
    boolean goesOn = reader.internal();
    if (before == LastItems.NONE) {
      return goesOn;
    }
    if (Item.node(before) == Item.node(item.id())) {
      return goesOn || Item.extent(item.id()) != 0 || Item.extent(before) <= 1;
    }
    retireSpent(before);
    return goesOn;
  }

  /**
   * A reader that gets to the next item has no use for what it has read of the one before the last.
   */
  private void leaveBehind(Item item, int first, int length) {
    long extent = Item.extent(item.id());
    if (extent >= 2 && first < length) {
      retireSpent(item.id() - 2);
    }
  }

  private void retireSpent(long item) {
    for (Fetch left : table.of(item)) {
      if (left.isSpent()) {
        retire(left);
      }
    }
  }

  private void fetchAhead(Content content, ReadStream stream) {
    ReadAhead.Range range = readAhead.next(stream, content.version().size());
    for (long at = range.from(); at < range.to(); ) {
      long to = fetchAhead(layout.itemAt(content, at), at, range.to(), stream);
      if (to == at) {
        readAhead.missing(stream, at);
        return;
      }
      at = to;
    }
  }

  /** Returns up to where is fetched now, or was. */
  private long fetchAhead(Item item, long at, long upTo, ReadStream stream) {
    int from = (int) (at - item.offset());
    Fetch there = table.at(item.id(), from);
    if (there != null) {
      return item.offset() + there.upTo();
    }
    Item range = item;
    if (item.length() > FileStreams.PART && !listener.wouldAdmit(item)) {
      int limit = (int) Math.min(item.length(), upTo - item.offset());
      range = item.part(from, table.gapEnd(item.id(), from, limit));
    }
    if (!readAhead.reserve(stream, range.length())) {
      return at;
    }
    Fetch fetch = new Fetch(this, item, range, nanoTime.getAsLong(), false);
    fetch.ahead(stream);
    if (!table.add(fetch)) {
      fetch.end();
    } else if (listener.serve(item, 0, 0, NO_REPLY)) {
      retire(fetch);
      return item.offset() + item.length();
    } else {
      start(fetch, prefetchers);
    }
    return range.offset() + range.length();
  }

  private static final ReadReply NO_REPLY =
      new ReadReply() {
        @Override
        public void data(long address, int length) {}

        @Override
        public void failed(FsException cause) {}
      };

  private void start(Fetch fetch, Executor executor) {
    try {
      executor.execute(() -> run(fetch));
    } catch (RejectedExecutionException e) {
      if (executor == prefetchers && !closed) {
        leaveOut(fetch);
      } else {
        fail(fetch, new FsException(FsError.IO, fetch.item() + ": no thread to fetch it", e));
      }
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

  /** Gets memory and asks the peers; what they do not have is fetched from the origin then. */
  private void run(Fetch fetch) {
    stats.inFlight.increment();
    try {
      long address = acquire(fetch);
      if (address == 0) {
        stats.inFlight.decrement();
        leaveOut(fetch);
        return;
      }
      fetch.begin(address);
      peers.fetch(
          fetch.whole(),
          fetch.item(),
          fetch.isForPeer(),
          address,
          arrival -> goOn(fetch, address, arrival));
    } catch (FsException e) {
      stats.inFlight.decrement();
      fail(fetch, e);
    }
  }

  private void goOn(Fetch fetch, long address, PeerSource.Arrival arrival) {
    try {
      if (arrival.fetched()) {
        stats.peerItems.increment();
        stats.peerBytes.add(fetch.item().length());
        fetch.advance(fetch.item().length());
        decide(fetch, arrival.mayAdmit());
      } else if (origin.fetch(fetch, address)) {
        stats.originItems.increment();
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

  private void decide(Fetch fetch, boolean mayAdmit) {
    boolean whole = fetch.isOfWhole();
    fetch.decided(mayAdmit && whole && fetch.beginOffer() && listener.offer(fetch));
  }

  private void fail(Fetch fetch, FsException cause) {
    table.remove(fetch);
    fetch.end().forEach(ask -> ask.reply().failed(cause));
    if (cause.code() == FsError.STALE) {
      log.info("{}", cause.getMessage());
      listener.changed(fetch.item());
    } else {
      stats.originErrors.increment();
      log.warn("fetch failed: {}", cause.getMessage());
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
    address = memory.acquire(length, deadlineNanos / 2);
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
    table.remove(fetch);
    for (Ask ask : fetch.end()) {
      if (closed) {
        ask.reply().failed(new FsException(FsError.IO, fetch.item() + ": the mount is ending"));
      } else {
        serve(fetch.whole(), ask, fetch.isOfWhole() ? Guess.WHOLE : Guess.NOTHING);
      }
    }
  }

  /** Gives up every fetch of a file whose version has changed; those who wait get ESTALE. */
  public void abandon(long node, String path) {
    FsException cause = new FsException(FsError.STALE, path + ": changed at the origin");
    table.forEach(
        fetch -> {
          if (Item.node(fetch.item().id()) == node) {
            table.remove(fetch);
            fetch.end().forEach(ask -> ask.reply().failed(cause));
          }
        });
  }

  /**
   * Enforces the deadlines of those who wait, and lets go of what nobody has asked for in a while.
   */
  public void expire() {
    long now = nanoTime.getAsLong();
    table.forEach(
        fetch -> {
          if (fetch.expire(now, 2 * deadlineNanos)) {
            fail(fetch, new FsException(FsError.TIMED_OUT, fetch.item() + ": given up"));
          } else if (fetch.isOver(now)) {
            retire(fetch);
          }
        });
  }

  /** A kept fetch as it is at one moment. */
  private record Idle(Fetch fetch, boolean spent, long since) {}

  /**
   * Makes room: the quarter of the kept items goes that was not used for longest, those first that
   * were delivered whole.
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
          if (each.since != Long.MAX_VALUE && (each.spent || !spentOnly)) {
            idle.add(each);
          }
        });
    idle.sort(Comparator.comparing((Idle each) -> !each.spent).thenComparingLong(Idle::since));
    idle.subList(0, (idle.size() + 3) / 4).forEach(each -> retire(each.fetch));
    return !idle.isEmpty();
  }

  /** Ends all fetches; for the end of the mount. */
  public void close() {
    closed = true;
    table.forEach(this::retire);
  }
}
