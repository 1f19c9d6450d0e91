package io.holdfast.fs.transit;

import io.holdfast.fs.FetchUse;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.ReadReply;
import io.holdfast.fs.origin.Origin;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Fetches items from peers or the origin and lends them to readers. At most one fetch of an item is
 * in flight, and all readers share it. A reader gets its answer as soon as its own bytes have
 * arrived and their version has been checked.
 *
 * <p>An item that was not admitted stays in transit until every byte has been delivered, so that a
 * program that reads a file in small steps costs one fetch. When a random reader asks for a part of
 * a large item that would not be admitted, only the part is fetched.
 *
 * <p>Thread-safe. Fetches run on the executor, which may be the reader's own thread where the
 * origin cannot hang. No method waits. {@link #expire()} must be called several times a second to
 * enforce the deadlines of waiting readers, and {@link #makeRoom()} more often.
 */
public final class Transit {
  private final MissPath path;
  private final Reads reads;
  private final FetchTable table = new FetchTable();
  private final TransitMemory memory;
  private final ReadAhead readAhead;
  private volatile Sharing sharing = Sharing.NONE;
  private volatile long forJobs;
  private final Fetchers fetchers;
  private final LongSupplier nanoTime;
  private final long deadlineNanos;
  private final TransitStats stats = new TransitStats();

  /**
   * Creates a transit.
   *
   * @param capacity bytes of native memory that it may hold; at least twice the item size
   * @param nanoTime a clock of nanoseconds
   * @param deadline longest wait of a reader
   */
  public Transit(
      Sources sources,
      ItemLayout layout,
      long capacity,
      Fetchers fetchers,
      LongSupplier nanoTime,
      Duration deadline,
      FetchListener listener) {
    this.fetchers = fetchers;
    this.nanoTime = nanoTime;
    this.deadlineNanos = deadline.toNanos();
    memory = new TransitMemory(capacity);
    readAhead = new ReadAhead(layout, capacity / 2);
    ReadPatterns patterns = new ReadPatterns();
    path =
        new MissPath(
            new MissPath.Parts(
                sources.peers(),
                new OriginReader(sources.origin(), fetchers, stats, nanoTime, deadline),
                fetchers,
                table,
                memory,
                readAhead,
                patterns,
                listener,
                sources.threads(),
                nanoTime,
                deadline,
                stats));
    reads = new Reads(path, layout, table, listener, readAhead, patterns, nanoTime);
  }

  /**
   * The sources of items.
   *
   * @param peers asked first
   * @param threads run steps of a fetch that had to wait, and fetches for peers
   */
  public record Sources(Origin origin, PeerSource peers, Executor threads) {}

  /** How a fetch ahead of its reader has ended. */
  public enum Ahead {
    /** All bytes have arrived. */
    ARRIVED,
    /** The fetch has made way for others; it may begin again a moment later. */
    POSTPONED,
    /** The item needs no fetch ahead, or its fetch has failed. */
    OVER
  }

  /** Returns the load of the origin. */
  public Fetchers.Figures fetches() {
    return fetchers.figures();
  }

  /** Returns the counters. */
  public TransitStats stats() {
    return stats;
  }

  /** Returns the bytes of memory in use. */
  public long used() {
    return memory.used();
  }

  /**
   * Returns the bytes of memory in use that are given up when other fetches need them: bytes of
   * items that were not admitted, or whose pins need them no more, and that nobody reads at the
   * moment.
   */
  public long reclaimable() {
    return path.reclaimable();
  }

  /** Returns the bytes of memory that may be in use. */
  public long capacity() {
    return memory.capacity();
  }

  /** Returns the bytes of memory that may be in use, without what is there for other jobs. */
  public long capacityForReaders() {
    return memory.capacity() - forJobs;
  }

  /** Returns the bytes of memory in use, without what is kept for other jobs. */
  public long usedForReaders() {
    return Math.max(0, memory.used() - sharing.heldBytes());
  }

  /**
   * Reads a range of a file. The reply is called now or later, from any thread.
   *
   * @param offset first byte, below the content's size
   * @param length bytes
   * @throws IndexOutOfBoundsException if the range does not end within the content
   */
  public void read(Content content, long offset, int length, Reader reader, ReadReply reply) {
    Objects.checkFromIndexSize(offset, length, Math.max(0, content.version().size()));
    reads.read(content, offset, length, reader, deadline(), Borrower.passingOn(reply));
  }

  /**
   * Lends a part of an item to a peer as soon as it has arrived. The borrower is called now or
   * later, from any thread.
   *
   * @param offset first byte, within the item
   * @throws IndexOutOfBoundsException if the range is not within the item
   */
  public void lend(Item item, int offset, int length, Borrower borrower) {
    Objects.checkFromIndexSize(offset, length, item.length());
    path.serve(item, forPeer(item, offset, length, borrower), Guess.WHOLE);
  }

  /**
   * Lends a part of an item to a peer if the whole item is already in transit.
   *
   * @return false where it is not; the borrower has not been called then
   */
  public boolean lendIfHere(Item item, int offset, int length, Borrower borrower) {
    Fetch there = table.whole(item.key());
    return there != null
        && there.isWhole()
        && path.join(there, forPeer(item, offset, length, borrower));
  }

  private Ask forPeer(Item item, int offset, int length, Borrower borrower) {
    return new Ask(item, offset, length, Reader.PEER, true, borrower, deadline());
  }

  /** Returns the deadline for a read that starts now. */
  private long deadline() {
    return nanoTime.getAsLong() + deadlineNanos;
  }

  /**
   * Fetches a whole item, unless it is resident, and offers it for admission.
   *
   * @return completed when the item has arrived and the decision has been made, or exceptionally
   *     with the {@link FsException} of the fetch
   */
  public CompletableFuture<@Nullable Void> bring(Item item) {
    Fetch there = table.whole(item.key());
    if (there != null && there.isIdle()) {
      path.retire(there); // refused a while ago, and kept for later reads
    }
    CompletableFuture<@Nullable Void> decided = new CompletableFuture<>();
    Borrower borrower =
        new Borrower() {
          @Override
          public void lent(Loan loan) {
            loan.release();
            Fetch fetch = table.whole(item.key());
            if (fetch == null) {
              decided.complete(null);
            } else {
              CompletableFuture<Void> unused =
                  fetch.settled().thenRun(() -> decided.complete(null));
            }
          }

          @Override
          public void failed(FsException cause) {
            decided.completeExceptionally(cause);
          }
        };
    int last = item.length() - 1;
    path.serve(
        item, new Ask(item, last, 1, Reader.NOBODY, true, borrower, deadline()), Guess.WHOLE);
    return decided;
  }

  /**
   * Fetches a whole item ahead of its reader, whom an order predicts, unless it is resident or
   * being fetched. The fetch yields to those that readers wait for.
   *
   * @param thread the thread that is expected to read it, or 0 if it is unknown
   * @param use observes its readers
   * @return completed when the end of the fetch is decided; an item that has arrived has been
   *     offered for admission then
   */
  public CompletableFuture<Ahead> fetchAhead(Item item, int thread, FetchUse use) {
    return path.fetchAhead(item, new Reader(thread, Reader.Kind.APPLICATION, false), use);
  }

  /**
   * Sets what decides on bytes that jobs share, before the first fetch.
   *
   * @param bytes the part of the memory that is there for them
   */
  public void sharing(Sharing decides, long bytes) {
    sharing = decides;
    forJobs = bytes;
    readAhead.capacity(capacityForReaders() / 2);
    path.sharing(decides);
  }

  /** Gives up every fetch of a file whose version has changed; waiting readers get ESTALE. */
  public void abandon(long node, String file) {
    path.abandon(node, new FsException(FsError.STALE, file + ": changed at the origin"));
  }

  /**
   * Fails reads whose deadline has passed, and gives up bytes that no reader has asked for in a
   * while.
   */
  public void expire() {
    path.expire();
  }

  /** Frees memory if there is too little for the next fetches; costs nothing if there is enough. */
  public void makeRoom() {
    path.makeRoom();
  }

  /** Starts the fetches for which no thread could be started. To be called every second. */
  public void startLeft() {
    fetchers.startLeft();
  }

  /** Ends all fetches; for the end of the mount. */
  public void close() {
    path.close();
  }
}
