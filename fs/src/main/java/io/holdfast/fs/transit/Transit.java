package io.holdfast.fs.transit;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.ReadReply;
import io.holdfast.fs.origin.Origin;
import io.holdfast.fs.origin.Origin.Part;
import io.holdfast.fs.origin.OriginFile;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
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

  /**
   * What a random reader of a part that is not admitted gets at least: its read, rounded up to
   * this.
   */
  static final int PART = 256 << 10;

  /** How much is read from the origin before those who wait for it are answered. */
  private static final int STEP = 1 << 20;

  private static final int ATTEMPTS = 3;
  private static final long RETRY_NANOS = Duration.ofMillis(20).toNanos();

  private final Origin origin;
  private final PeerSource peers;
  private final ItemLayout layout;
  private final TransitMemory memory;
  private final Executor asking;
  private final Fetchers fetchers;
  private final LongSupplier nanoTime;
  private final FetchListener listener;
  private final long deadlineNanos;
  private final TransitStats stats = new TransitStats();
  private final ReadPatterns patterns = new ReadPatterns();
  private final LastItems lastItems = new LastItems();
  private volatile boolean closed;

  /** Fetches in the table that were refused: those that can be given up. */
  private final AtomicInteger kept = new AtomicInteger();

  private final ConcurrentHashMap<FetchKey, Fetch> table = new ConcurrentHashMap<>();

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
    this.origin = sources.origin();
    this.peers = sources.peers();
    this.asking = sources.asking();
    this.layout = layout;
    this.memory = new TransitMemory(capacity);
    this.fetchers = fetchers;
    this.nanoTime = nanoTime;
    this.deadlineNanos = deadline.toNanos();
    this.listener = listener;
  }

  /**
   * Where items come from.
   *
   * @param peers asked first
   * @param asking runs what asks them; it never waits for the origin
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
    boolean sequential = patterns.isSequential(content.node(), offset, length);
    Item item = layout.itemAt(content, offset);
    long end = offset + length;
    if (end <= item.offset() + item.length()) {
      readItem(item, (int) (offset - item.offset()), length, sequential, reader, reply);
    } else {
      JoinedReply joined = new JoinedReply(reply, length, 2);
      int first = (int) (item.offset() + item.length() - offset);
      Item next = layout.itemAt(content, offset + first);
      readItem(item, item.length() - first, first, sequential, reader, joined.part(0));
      readItem(next, 0, length - first, sequential, reader, joined.part(first));
    }
    if (sequential && !reader.internal() && offset - item.offset() >= STEP) {
      fetchAhead(content, item.offset() + item.length());
    }
  }

  private void readItem(
      Item item, int offset, int length, boolean sequential, Reader reader, ReadReply reply) {
    boolean small = item.length() <= PART;
    FetchKey whole = new FetchKey(item.id(), FetchKey.WHOLE);
    if (small || sequential || table.containsKey(whole) || listener.wouldAdmit(item)) {
      readShared(whole, item, item, ask(whole, offset, length, reader, reply));
      return;
    }
    int part = offset / PART;
    int from = part * PART;
    int to = Math.min(from + PART, item.length());
    if (offset + length <= to) {
      FetchKey key = new FetchKey(item.id(), part);
      Item range = item.part(from, to);
      readShared(key, item, range, ask(key, offset - from, length, reader, reply));
    } else {
      JoinedReply joined = new JoinedReply(reply, length, 2);
      int first = to - offset;
      readItem(item, offset, first, false, reader, joined.part(0));
      readItem(item, to, length - first, false, reader, joined.part(first));
    }
  }

  /**
   * Lends a part of an item to a peer, as soon as it is here. The borrower is called now or later,
   * from any thread.
   *
   * @param offset first byte, within the item
   */
  public void lend(Item item, int offset, int length, Borrower borrower) {
    FetchKey whole = new FetchKey(item.id(), FetchKey.WHOLE);
    readShared(whole, item, item, ask(whole, offset, length, Reader.PEER, borrower));
  }

  /**
   * Lends a part of an item that is whole in transit already, to a peer.
   *
   * @return false where it is not; the borrower is untouched then
   */
  public boolean lendIfHere(Item item, int offset, int length, Borrower borrower) {
    FetchKey whole = new FetchKey(item.id(), FetchKey.WHOLE);
    Fetch there = table.get(whole);
    return there != null
        && there.isWhole()
        && there.read(ask(whole, offset, length, Reader.PEER, borrower), nanoTime.getAsLong());
  }

  private Ask ask(FetchKey key, int offset, int length, Reader reader, ReadReply reply) {
    boolean goesOn = reader.internal() || goesOn(reader, key);
    return new Ask(offset, length, reader, goesOn, reply, nanoTime.getAsLong() + deadlineNanos);
  }

  /** The single flight: joins the fetch that is there, or starts it. */
  private void readShared(FetchKey key, Item item, Item range, Ask ask) {
    while (true) {
      long now = nanoTime.getAsLong();
      Fetch there = table.get(key);
      if (there != null) {
        boolean joined = there.isRunning();
        if (there.read(ask, now)) {
          if (joined && !ask.reader().internal()) {
            stats.coalesced.increment();
          }
          return;
        }
        retire(there);
        continue;
      }
      Fetch fetch = new Fetch(this, key, item, range, now, ask.isForPeer());
      if (table.putIfAbsent(key, fetch) != null) {
        continue;
      }
      // only now: whoever pinned the item marked it resident before its fetch left the table
      int inItem = ask.offset() + (int) (range.offset() - item.offset());
      if (listener.serve(item, inItem, ask.length(), ask.reply())) {
        retire(fetch);
        return;
      }
      if (fetch.read(ask, now)) {
        start(fetch);
        return;
      }
      // abandoned meanwhile, and out of the table
    }
  }

  /**
   * Tells whether the reader is still on its way through an item: its last read was of the same
   * one, or of another of the file, since the kernel reads ahead. Only the beginning of a file
   * begins another pass. A thread that has moved on to another file needs the bytes of the one
   * before no longer.
   */
  private boolean goesOn(Reader reader, FetchKey key) {
    FetchKey before = lastItems.exchange(reader.thread(), key);
    if (before == null) {
      return false;
    }
    if (Item.node(before.item()) == Item.node(key.item())) {
      boolean first = Item.extent(key.item()) == 0;
      return !first || Item.extent(before.item()) <= 1;
    }
    Fetch left = table.get(before);
    if (left != null && left.isSpent()) {
      retire(left);
    }
    return false;
  }

  private void fetchAhead(Content content, long offset) {
    if (offset >= content.version().size() || memory.used() > memory.capacity() / 2) {
      return;
    }
    Item item = layout.itemAt(content, offset);
    FetchKey key = new FetchKey(item.id(), FetchKey.WHOLE);
    if (table.containsKey(key)) {
      return;
    }
    Fetch fetch = new Fetch(this, key, item, item, nanoTime.getAsLong(), false);
    if (table.putIfAbsent(key, fetch) == null) {
      if (listener.serve(item, 0, 0, NO_REPLY)) {
        retire(fetch);
      } else {
        start(fetch);
      }
    }
  }

  private static final ReadReply NO_REPLY =
      new ReadReply() {
        @Override
        public void data(long address, int length) {}

        @Override
        public void failed(FsException cause) {}
      };

  /** Peers are asked without a turn at the origin, which may have none to give. */
  private void start(Fetch fetch) {
    stats.inFlight.increment();
    try {
      if (peers == PeerSource.NONE) {
        atOrigin(fetch, () -> begin(fetch));
      } else {
        asking.execute(() -> begin(fetch));
      }
    } catch (RejectedExecutionException e) {
      stats.inFlight.decrement();
      refused(fetch, e);
    }
  }

  private void atOrigin(Fetch fetch, Runnable rest) {
    FetchTask task = new FetchTask(fetch.item().length(), false, rest);
    fetch.turn(task);
    fetchers.execute(task);
  }

  private void refused(Fetch fetch, RejectedExecutionException cause) {
    FetchTask task = fetch.turn();
    if (closed || task == null || task.awaited) {
      fail(fetch, new FsException(FsError.IO, fetch.item() + ": no thread to fetch it", cause));
    } else {
      retire(fetch);
    }
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
      long address = acquire(fetch.item().length());
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
    if (arrival.fetched() || peers == PeerSource.NONE) {
      complete(fetch, address, arrival);
    } else {
      try {
        atOrigin(fetch, () -> complete(fetch, address, arrival));
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
        fetch.advance(fetch.item().length());
        decide(fetch, arrival.mayAdmit());
      } else if (fetchWithRetries(fetch, address)) {
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
    boolean whole = fetch.key().part() == FetchKey.WHOLE;
    fetch.decided(mayAdmit && whole && fetch.beginOffer() && listener.offer(fetch));
  }

  private void fail(Fetch fetch, FsException cause) {
    table.remove(fetch.key(), fetch);
    fetch.end().forEach(ask -> ask.reply().failed(cause));
    if (cause.code() == FsError.STALE) {
      log.info("{}", cause.getMessage());
      listener.changed(fetch.item());
    } else {
      stats.originErrors.increment();
      log.warn("fetch failed: {}", cause.getMessage());
    }
  }

  private long acquire(int length) throws FsException {
    long address = memory.acquire(length, 0);
    while (address == 0 && giveUpIdle()) {
      address = memory.acquire(length, 0);
    }
    if (address == 0) {
      address = memory.acquire(length, deadlineNanos / 2);
    }
    if (address == 0) {
      throw new FsException(
          FsError.NO_MEMORY,
          "transit memory full: " + memory.used() + " of " + memory.capacity() + " bytes in use");
    }
    return address;
  }

  /** Returns whether all of it is there; not where the fetch was given up meanwhile. */
  private boolean fetchWithRetries(Fetch fetch, long address) throws FsException {
    for (int attempt = 1; ; attempt++) {
      long start = nanoTime.getAsLong();
      int before = fetch.arrived();
      try {
        boolean whole = fetchOnce(fetch, address);
        arrived(fetch.arrived() - before, nanoTime.getAsLong() - start);
        return whole;
      } catch (FsException e) {
        boolean passing = e.code() == FsError.IO || e.code() == FsError.TIMED_OUT;
        if (passing) {
          fetchers.failed();
        }
        if (!passing || attempt == ATTEMPTS) {
          throw e;
        }
        stats.originRetries.increment();
        LockSupport.parkNanos(RETRY_NANOS * attempt);
      }
    }
  }

  private void arrived(int bytes, long nanos) {
    if (bytes > 0) {
      stats.originMicros.recordValue(TimeUnit.NANOSECONDS.toMicros(nanos));
      fetchers.arrived(bytes, nanos);
    }
  }

  /**
   * Reads what is missing; each step is checked to be of the expected version before anybody gets
   * to see it.
   */
  private boolean fetchOnce(Fetch fetch, long address) throws FsException {
    Item item = fetch.item();
    try (OriginFile file = open(item)) {
      int done = fetch.arrived();
      while (done < item.length() && fetch.isRunning()) {
        int step = Math.min(STEP, item.length() - done);
        int count = file.read(item.offset() + done, address + done, step);
        checkVersion(file, item);
        if (count < step) {
          throw stale(item);
        }
        stats.originBytes.add(count);
        done += count;
        fetch.advance(done);
      }
      file.discard(item.offset(), item.length());
      return done == item.length();
    }
  }

  private OriginFile open(Item item) throws FsException {
    try {
      return origin.open(item.path().get(), new Part(item.version(), item.offset(), item.length()));
    } catch (FsException e) {
      boolean gone =
          switch (e.code()) {
            case NOT_FOUND, NOT_DIRECTORY, IS_DIRECTORY, SYMLINK -> true;
            default -> false;
          };
      throw gone ? stale(item) : e;
    }
  }

  private static void checkVersion(OriginFile file, Item item) throws FsException {
    if (!file.version().equals(item.version())) {
      throw stale(item);
    }
  }

  private static FsException stale(Item item) {
    return new FsException(FsError.STALE, item.path().get() + ": changed at the origin");
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
    table.remove(fetch.key(), fetch);
    for (Ask ask : fetch.end()) {
      if (closed) {
        ask.reply().failed(new FsException(FsError.IO, fetch.item() + ": the mount is ending"));
      } else {
        readShared(fetch.key(), fetch.whole(), fetch.item(), ask);
      }
    }
  }

  /** Gives up every fetch of a file whose version has changed; those who wait get ESTALE. */
  public void abandon(long node, String path) {
    FsException cause = new FsException(FsError.STALE, path + ": changed at the origin");
    for (Fetch fetch : table.values()) {
      if (Item.node(fetch.item().id()) == node) {
        table.remove(fetch.key(), fetch);
        fetch.end().forEach(ask -> ask.reply().failed(cause));
      }
    }
  }

  /**
   * Enforces the deadlines of those who wait, and lets go of what nobody has asked for in a while.
   */
  public void expire() {
    long now = nanoTime.getAsLong();
    for (Fetch fetch : table.values()) {
      if (fetch.expire(now, 2 * deadlineNanos)) {
        fail(fetch, new FsException(FsError.TIMED_OUT, fetch.item() + ": given up"));
        FetchTask task = fetch.turn();
        if (task != null) {
          fetchers.giveUp(task);
        }
      } else if (fetch.isOver(now)) {
        retire(fetch);
      }
    }
  }

  /**
   * Makes room: the quarter of the kept items that was not used for longest goes.
   *
   * @return whether there were any
   */
  private boolean giveUpIdle() {
    if (kept.get() == 0) {
      return false; // all is on its way to being pinned, or still arriving
    }
    List<Fetch> idle;
    try (Stream<Fetch> all = table.values().stream()) {
      idle =
          all.filter(fetch -> fetch.idleSince() != Long.MAX_VALUE)
              .sorted(Comparator.comparingLong(Fetch::idleSince))
              .toList();
    }
    idle.subList(0, (idle.size() + 3) / 4).forEach(this::retire);
    return !idle.isEmpty();
  }

  /** Ends all fetches; for the end of the mount. */
  public void close() {
    closed = true;
    fetchers.close();
    for (Fetch fetch : table.values()) {
      retire(fetch);
    }
  }
}
