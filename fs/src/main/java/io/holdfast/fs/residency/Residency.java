package io.holdfast.fs.residency;

import io.holdfast.fs.CheckedBytes;
import io.holdfast.fs.FsException;
import io.holdfast.fs.PageStore;
import io.holdfast.fs.ReadReply;
import io.holdfast.fs.linux.IsolatedThreads;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.transit.Borrower;
import io.holdfast.fs.transit.Fetched;
import io.holdfast.fs.transit.Item;
import io.holdfast.policy.CachePolicy;
import io.holdfast.policy.ItemHash;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides and enforces what stays in the page cache: items that the policy admits are pinned
 * through the own mount, everything else is dropped a little after it was read.
 *
 * <p>Thread-safe: {@link Books} has the one lock. What touches the own mount runs on isolated
 * threads; no method here waits for them.
 */
public final class Residency implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Residency.class);

  private final Pinning pinning;
  private final Lingering lingering;
  private final Books books;
  private final AdmissionControl admission;
  private final ResidentLog residentLog;
  private final Set<Resident> leaving = ConcurrentHashMap.newKeySet();

  private final AtomicLong evicted = new AtomicLong();
  private volatile boolean closed;

  /**
   * The threads that may touch the own mount.
   *
   * @param pinners those that pin
   * @param droppers those that drop; apart, so that a drop does not wait behind many pins
   */
  public record Threads(IsolatedThreads pinners, IsolatedThreads droppers) {}

  /**
   * Who may be resident.
   *
   * @param policy used under the residency's lock from now on
   * @param selection what users say of files by name; asked before the policy
   * @param log remembers who is, for the next daemon
   */
  public record Rules(CachePolicy policy, Selection selection, ResidentLog log) {}

  /**
   * What may linger.
   *
   * @param size bytes in the page cache that are not resident; 0 for none
   * @param age how long after its last byte was read
   */
  public record WindowSize(long size, Duration age) {}

  /**
   * How the own mount is used.
   *
   * @param place where it is
   * @param pages what puts bytes into its page cache
   * @param hard lock the pages of residents, rather than only map them
   * @param mappings how many residents there may be at most
   */
  public record MountUse(Path place, PageStore pages, boolean hard, long mappings) {}

  /** Figures of one moment. */
  public record Figures(
      long capacityBytes,
      long residentBytes,
      long residentItems,
      long keptBytes,
      long keptItems,
      long admittedItems,
      long refusedItems,
      long evictedItems,
      long pinFailures,
      long windowBytes,
      long droppedBytes) {}

  /** Creates a residency with nothing resident. */
  public Residency(
      Rules rules, MountUse use, Threads threads, WindowSize window, LongSupplier nanoTime) {
    this.books = new Books(rules.policy(), rules.log());
    this.residentLog = rules.log();
    admission = new AdmissionControl(books, rules.selection(), residentLog, use.mappings());
    OwnMount mount = new OwnMount(use.place());
    lingering =
        new Lingering(
            new Window(window.size(), window.age(), nanoTime),
            mount,
            threads.droppers(),
            this::isResident);
    pinning =
        new Pinning(
            mount,
            use.pages(),
            threads.pinners(),
            threads.droppers(),
            use.hard(),
            this::forgetAndDrop);
  }

  /** Tells whether an item would be admitted now. */
  public boolean wouldAdmit(Item item) {
    return !closed && admission.wouldAdmit(item);
  }

  /**
   * Tells whether an item would be admitted now, without that anything makes way for it; one that a
   * user has {@linkplain #pins() pinned} also where only others make way that are not kept.
   *
   * @param besides what is about to be admitted besides, in whole pages
   */
  public boolean hasRoom(Item item, long besides) {
    return !closed && admission.hasRoom(item, besides);
  }

  /** Returns what users have pinned by name since the mount. */
  public Pins pins() {
    return admission.pins();
  }

  /** Residents count in whole pages. */
  public static long weight(int length) {
    return (length + Linux.PAGE_SIZE - 1L) / Linux.PAGE_SIZE * Linux.PAGE_SIZE;
  }

  /**
   * Answers a read from a pinned item.
   *
   * @param offset first byte, within the item
   * @return false where the item is not pinned; the reply is untouched then
   */
  public boolean serve(Item item, int offset, int length, ReadReply reply) {
    // a soft pin's pages may be gone, and touching them would wait for the daemon itself
    Resident resident = isHard() ? books.get(item.key()) : null;
    long address = resident == null ? 0 : resident.enter();
    if (address == 0) {
      return false;
    }
    CheckedBytes bytes;
    try {
      bytes = CheckedBytes.of(item, offset, length, resident.item(), address);
    } catch (FsException e) {
      resident.leave();
      reply.failed(e);
      return true;
    }
    if (!Linux.isInMemory(bytes.address(), length)) {
      resident.leave();
      lose(resident);
      return false;
    }
    if (reply instanceof Borrower borrower) {
      borrower.lent(new ResidentLoan(resident, bytes));
      return true;
    }
    try {
      reply.data(bytes);
    } finally {
      resident.leave();
    }
    return true;
  }

  /**
   * Lets go of an item whose locked pages the kernel has dropped all the same. Touching them would
   * have the kernel ask this daemon for them, perhaps the very thread that touches them.
   */
  private void lose(Resident resident) {
    if (books.remove(resident)) {
      resident.release();
      lingering.deliveredWhole(resident.item());
      log.warn("{} was pinned, and lost pages: it is fetched again", resident.item());
    }
  }

  /** Tells whether an item is resident, or on its way to it. */
  public boolean isResident(Item item) {
    return books.contains(item.key());
  }

  /** Tells whether an item is pinned. */
  public boolean isPinned(Item item) {
    Resident resident = books.get(item.key());
    return resident != null && resident.isPinned();
  }

  /** Lets go of an item that another node holds now; unless users want it kept here. */
  public void cede(Item item) {
    Resident resident = books.get(item.key());
    if (resident != null && isLeftToPolicy(item.path().get())) {
      forgetAndDrop(resident);
    }
  }

  /**
   * Asks the policy for an item that has arrived whole, and starts to pin it where it is admitted.
   *
   * @return whether it was admitted; {@link Fetched#done()} is called later then
   */
  public boolean offer(Fetched fetched) {
    Item item = fetched.item();
    Resident before = books.get(item.key());
    if (closed || (before == null ? !admission.hasMappings() : isHard())) {
      return false;
    }
    // a resident is fetched again where a soft pin's pages were taken back
    return before == null ? ask(fetched) : beginAgain(fetched, before);
  }

  private boolean ask(Fetched fetched) {
    Resident resident = admission.admit(fetched.item(), this::giveUp);
    return resident != null && begin(fetched, resident);
  }

  /**
   * Takes over an item that a daemon before this one had resident: pins it again if it is still in
   * the page cache and the policy admits it now. Fetches nothing; one that was fetched meanwhile,
   * for a reader that did not find all of its pages, stays as it is.
   */
  public void resume(Item item) {
    Resident resident = admission.hasMappings() ? admission.admit(item, this::giveUp) : null;
    if (resident != null) {
      if (!pinning.beginAgain(resident)) {
        forget(resident);
      }
    } else if (!isResident(item)) {
      residentLog.released(item.key());
      lingering.deliveredWhole(item);
    }
  }

  private void giveUp(Resident resident) {
    evicted.incrementAndGet();
    resident.release();
    lingering.deliveredWhole(resident.item());
  }

  private boolean beginAgain(Fetched fetched, Resident before) {
    Resident resident = new Resident(fetched.item());
    if (!books.replace(before, resident)) {
      return false;
    }
    before.release();
    return begin(fetched, resident);
  }

  /**
   * Whoever lets go of a version ends its fetches first, and then its residents: one of the two
   * finds what is being admitted in that moment.
   */
  private boolean begin(Fetched fetched, Resident resident) {
    boolean begun = false;
    try {
      begun = !fetched.isOutdated() && pinning.begin(resident, fetched);
    } finally {
      if (!begun) {
        forget(resident);
      }
    }
    return begun;
  }

  /** Returns the hash by which an item is selected and placed, the same on every node. */
  public static long hash(Item item) {
    return ItemHash.of(item.path().get().bytes(), item.offset());
  }

  /** Takes a resident out of the books. */
  private void forget(Resident resident) {
    books.remove(resident);
    resident.release();
  }

  private void forgetAndDrop(Resident resident) {
    forget(resident);
    lingering.deliveredWhole(resident.item());
  }

  /**
   * Has what is resident of an item stay or not, as what is said of its name now wants it.
   *
   * @return whether it stays from now on, or no longer does
   */
  public boolean reconsider(Item item) {
    Resident resident = books.get(item.key());
    if (resident == null) {
      return false;
    }
    return switch (admission.verdict(item.path().get())) {
      case KEPT -> books.keep(item.key(), weight(item.length()));
      case ORDINARY -> books.unkeep(item.key(), hash(item));
      case EXCLUDED -> giveUpNow(resident);
    };
  }

  /**
   * Gives a resident up, and drops its pages. Waits, for a short and bounded time, while many are
   * being dropped.
   *
   * @param force also one that is to stay because of its name
   * @return whether it was resident, and is no longer
   */
  public boolean giveUp(Item item, boolean force) {
    Resident resident = books.get(item.key());
    return resident != null
        && (force || admission.verdict(item.path().get()) != Selection.Verdict.KEPT)
        && giveUpNow(resident);
  }

  private boolean giveUpNow(Resident resident) {
    boolean removed = books.remove(resident);
    if (removed) {
      letGo(resident);
    }
    return removed;
  }

  /** On a thread that may wait: what goes is not to be more at once than what lingers may be. */
  private void letGo(Resident resident) {
    lingering.awaitRoom();
    leaving.add(resident);
    resident.release();
    lingering.leave(resident.item());
  }

  /**
   * Changes the capacity. Where it shrinks below what is resident, others make way in the policy's
   * order; they are let go of one after the other, on this thread, which waits for drops for a time
   * that is bounded for each of them.
   *
   * @param capacity bytes
   * @param mostMappings how many residents there may be at most
   * @return how many were given up
   */
  public long resize(long capacity, long mostMappings) {
    admission.allowMappings(mostMappings);
    List<Resident> givenUp = books.resize(capacity);
    evicted.addAndGet(givenUp.size());
    givenUp.forEach(this::letGo);
    return givenUp.size();
  }

  /** Calls for every item that is resident, or on its way to it. */
  public void forEachResident(Consumer<Item> taker) {
    books.all().forEach(resident -> taker.accept(resident.item()));
  }

  /** Returns how many that were given up by a user's word are still being read from. */
  public long leaving() {
    leaving.removeIf(resident -> !resident.isMapped());
    return leaving.size();
  }

  /**
   * Drops pages that may be there of an item, unless it is resident; those of them that
   * applications have mapped are tried again later. Waits, for a bounded time, until that is done.
   */
  public void dropStray(Item item) {
    lingering.dropStray(item);
  }

  /** Takes note that bytes of an item that was not admitted are in the page cache now. */
  public void noteDelivered(Item item, int bytes, boolean complete) {
    lingering.delivered(item, bytes, complete);
  }

  /**
   * Waits, for a short and bounded time, while more lingers in the page cache than may; for a
   * thread that is about to bring in more.
   */
  public void awaitRoom() {
    lingering.awaitRoom();
  }

  /**
   * Lets go of every item of a file, because its version has changed. No mapping of it is left when
   * this returns, but for those that are being read at this moment.
   *
   * @return bytes that are no longer resident
   */
  public long release(long node) {
    long bytes = 0;
    for (Resident resident : books.of(node)) {
      bytes += resident.item().length();
      forget(resident);
    }
    lingering.forget(node);
    return bytes;
  }

  /** Returns how many items of a file are pinned. */
  public long pinnedItems(long node) {
    return pinned(node).count();
  }

  /** Returns how many bytes of a file are pinned. */
  public long pinnedBytes(long node) {
    return pinned(node).mapToLong(resident -> resident.item().length()).sum();
  }

  private Stream<Resident> pinned(long node) {
    return books.of(node).stream().filter(Resident::isPinned);
  }

  /** Returns the nodes that have resident items. */
  public List<Long> residentNodes() {
    return books.nodes();
  }

  /**
   * Drops what has lingered for long enough, and says what could not be pinned; to be called
   * several times a second.
   */
  public void tick() {
    lingering.tick();
    pinning.tick();
  }

  /** Tells whether a file is never resident, because of its name. */
  public boolean isExcluded(OriginPath path) {
    return admission.verdict(path) == Selection.Verdict.EXCLUDED;
  }

  /** Tells whether the policy decides about a file, rather than the user by its name. */
  public boolean isLeftToPolicy(OriginPath path) {
    return admission.verdict(path) == Selection.Verdict.ORDINARY;
  }

  /** Tells the policy what all weighs that it decides about, in whole pages. */
  public void datasetSize(long bytes) {
    books.datasetSize(bytes);
  }

  /** Returns the policy's name. */
  public String policyName() {
    return books.policyName();
  }

  /** Tells whether pages are locked, rather than only mapped. */
  public boolean isHard() {
    return pinning.isHard();
  }

  /** Returns the figures of this moment. */
  public Figures figures() {
    Books.Sums sums = books.sums();
    return new Figures(
        sums.capacity(),
        sums.bytes(),
        sums.items(),
        sums.keptBytes(),
        sums.keptItems(),
        admission.admitted(),
        admission.refused(),
        evicted.get(),
        pinning.failures(),
        lingering.bytes(),
        lingering.droppedBytes());
  }

  /** Unpins everything and admits nothing any more. */
  @Override
  public void close() {
    closed = true;
    pinning.close();
    books.all().forEach(this::forget);
    lingering.close();
  }
}
