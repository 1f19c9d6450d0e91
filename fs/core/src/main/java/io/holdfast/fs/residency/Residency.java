package io.holdfast.fs.residency;

import io.holdfast.fs.CheckedBytes;
import io.holdfast.fs.FsException;
import io.holdfast.fs.PageStore;
import io.holdfast.fs.linux.IsolatedThreads;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.origin.OriginPath;
import io.holdfast.fs.transit.Borrower;
import io.holdfast.fs.transit.Fetched;
import io.holdfast.fs.transit.Item;
import io.holdfast.fs.transit.Loan;
import io.holdfast.policy.CachePolicy;
import io.holdfast.policy.ItemHash;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.function.IntToLongFunction;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides and enforces what stays in the page cache. It pins items that the policy admits, through
 * the own mount. It drops all other pages a little after they were read.
 *
 * <p>Thread-safe: {@link ResidentSet} has the only lock. Isolated threads touch the own mount. Only
 * methods that say so wait for them, for a bounded time.
 */
public final class Residency implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Residency.class);

  /**
   * How many evicted residents a tick releases that a full heap has left: each may wait a little.
   */
  private static final int MOST_LEFT = 16;

  private final Pinning pinning;
  private final PageDropper pageDropper;
  private final PagesAhead pagesAhead;
  private final boolean hasWindow;
  private final ResidentSet residentSet;
  private final AdmissionControl admission;
  private final ResidentLog residentLog;

  /** Residents that were released while they were being read from. */
  private final Set<Resident> leaving = ConcurrentHashMap.newKeySet();

  /** Made once, because there may be no room for it when it is needed. */
  private final Consumer<Resident> letGo = this::letGo;

  private final AtomicLong evicted = new AtomicLong();
  private final AtomicLong swapped = new AtomicLong();
  private volatile Swaps swaps = Swaps.NONE;

  /** Whether items may be admitted: from the time that the mount is there until the end. */
  private volatile boolean admits;

  /**
   * The threads that may touch the own mount.
   *
   * @param pinners pin
   * @param droppers drop; separate, so that a drop does not wait behind many pins
   */
  public record Threads(IsolatedThreads pinners, IsolatedThreads droppers) {}

  /**
   * The rules of admission.
   *
   * @param policy used under the residency's lock from now on
   * @param selection the user's rules for files by name; they precede the policy
   * @param log records the residents for the next daemon
   */
  public record Rules(CachePolicy policy, Selection selection, ResidentLog log) {}

  /**
   * The bounds of the window: pages that are cached but not resident.
   *
   * @param size bytes; 0 for none
   * @param age how long after its last read an item's pages may stay
   */
  public record WindowSize(long size, Duration age) {
    /**
     * Returns how long pages stay that no reader has found yet; a full window drops them sooner.
     */
    public Duration unreadAge() {
      return Duration.ofNanos(Window.unreadNanos(age.toNanos()));
    }
  }

  /**
   * The use of the own mount.
   *
   * @param root opens the mount's root: returns a descriptor, or a negative errno
   * @param pages puts bytes into the mount's page cache
   * @param hard whether to lock the pages of residents, rather than only map them
   * @param mappings most residents
   * @param nodeOf returns the node of an open file; 0 where the mount does not tell
   */
  public record MountUse(
      IntSupplier root, PageStore pages, boolean hard, long mappings, IntToLongFunction nodeOf) {}

  /** The figures of one moment. */
  public record Figures(
      long capacityBytes,
      long residentBytes,
      long residentItems,
      long keptBytes,
      long keptItems,
      long admittedItems,
      long refusedItems,
      long evictedItems,
      long swappedItems,
      long pinFailures,
      long pinBacklogBytes,
      long windowBytes,
      long droppedBytes) {}

  /** Creates a residency with no residents. It admits nothing before it is {@link #mounted}. */
  public Residency(
      Rules rules, MountUse use, Threads threads, WindowSize window, LongSupplier nanoTime) {
    this.residentSet = new ResidentSet(rules.policy(), rules.log());
    this.residentLog = rules.log();
    admission = new AdmissionControl(residentSet, rules.selection(), residentLog, use.mappings());
    OwnMount mount = new OwnMount(use.root(), use.nodeOf());
    pageDropper =
        new PageDropper(
            new Window(window.size(), window.age(), nanoTime),
            mount,
            threads.droppers(),
            this::isResident);
    hasWindow = window.size() > 0;
    pagesAhead = new PagesAhead(mount, use.pages(), threads.droppers(), pageDropper);
    pinning = new Pinning(mount, use.pages(), threads.pinners(), use.hard(), this::forgetAndDrop);
  }

  /**
   * Starts to admit, since the own mount is there now. Peers ask for items earlier: a thread that
   * pinned one then would open the directory below the mount, and keep it open.
   */
  public void mounted() {
    admits = true;
  }

  /** Tells whether an item would be admitted now. */
  public boolean wouldAdmit(Item item) {
    return admits && admission.wouldAdmit(item);
  }

  /**
   * Tells whether an item would be admitted now without an eviction. For an item that a user has
   * {@linkplain #pins() pinned}, residents that are not kept may be evicted.
   *
   * @param besides whole pages of items that are about to be admitted
   */
  public boolean hasRoom(Item item, long besides) {
    return admits && admission.hasRoom(item, besides);
  }

  /** Sets what chooses the residents that make way for others. */
  public void swaps(Swaps chosen) {
    swaps = chosen;
  }

  /** Tells whether the residents are spread over orders that repeat. */
  public boolean maySwap() {
    return swaps.spreads();
  }

  /**
   * Tells whether an item that a program reads is to become resident once it has been fetched, in
   * the place of another one. Changes nothing.
   */
  public boolean wouldSwap(Item item) {
    return admits && swaps.wants(item);
  }

  /**
   * Notes that a program asks for a part of an item that is not resident. For a whole item, {@link
   * #offer} notes that.
   */
  public void noteAsked(Item item) {
    swaps.asked(item);
  }

  /** Returns the names that users have pinned since the mount. */
  public Pins pins() {
    return admission.pins();
  }

  /** Returns the bytes of an item in whole pages, as residents are counted. */
  public static long weight(int length) {
    return (length + Linux.PAGE_SIZE - 1L) / Linux.PAGE_SIZE * Linux.PAGE_SIZE;
  }

  /**
   * Answers a read from a pinned item.
   *
   * @param offset first byte, within the item
   * @return false where the item is not pinned; the borrower has not been called then
   */
  public boolean serve(Item item, int offset, int length, Borrower borrower) {
    // a soft pin's pages may be gone, and touching them would wait for the daemon itself
    Resident resident = isHard() ? residentSet.get(item.key()) : null;
    long address = resident == null ? 0 : resident.enter();
    if (address == 0) {
      return false;
    }
    Loan loan = null;
    try {
      CheckedBytes bytes = CheckedBytes.of(item, offset, length, resident.item(), address);
      if (Linux.isInMemory(bytes.address(), length)) {
        loan = new ResidentLoan(resident, bytes);
      }
    } catch (FsException e) {
      borrower.failed(e);
      return true;
    } finally {
      if (loan == null) {
        resident.leave();
      }
    }
    if (loan == null) {
      lose(resident);
      return false;
    }
    borrower.lent(loan);
    return true;
  }

  /**
   * Releases an item whose locked pages the kernel has dropped all the same. Touching these pages
   * would make the kernel request them from this daemon, perhaps from the very thread that touches
   * them.
   */
  private void lose(Resident resident) {
    if (residentSet.remove(resident)) {
      resident.release();
      pageDropper.deliveredWhole(resident.item());
      log.warn("{} was pinned, and lost pages: it is fetched again", resident.item());
    }
  }

  /** Tells whether an item is resident or being pinned. */
  public boolean isResident(Item item) {
    return residentSet.contains(item.key());
  }

  /** Tells whether all of an item that is not resident is in the page cache for now. */
  public boolean isInWindow(Item item) {
    return pageDropper.has(item);
  }

  /** Tells whether an item is pinned. */
  public boolean isPinned(Item item) {
    Resident resident = residentSet.get(item.key());
    return resident != null && resident.isPinned();
  }

  /** Releases an item that another node holds now, unless users want it kept here. */
  public void cede(Item item) {
    Resident resident = residentSet.get(item.key());
    if (resident != null && isLeftToPolicy(item.path().get())) {
      forgetAndDrop(resident);
    }
  }

  /**
   * Offers an item that has arrived completely to the policy, and begins to pin it if it is
   * admitted. Where there is no room, the item takes the place of a resident if {@link Swaps} say
   * so. An item that an order predicts evicts nothing else: its pages go to the kernel ahead of its
   * reader.
   *
   * @return whether the item was admitted, or its pages go to the kernel; {@link Fetched#done()} or
   *     {@link Fetched#passedOn()} is called later then
   */
  public boolean offer(Fetched fetched) {
    Item item = fetched.item();
    Resident before = residentSet.get(item.key());
    if (before == null && !fetched.isPredicted()) {
      swaps.asked(item);
    }
    if (admits && before == null && swaps.wants(item) && !hasRoom(item, 0)) {
      Resident resident = swap(item);
      if (resident != null) {
        return begin(fetched, resident);
      }
    }
    if (admits && before == null && fetched.isPredicted() && !hasRoom(item, 0)) {
      return hasWindow && pagesAhead.begin(fetched);
    }
    if (!admits || (before == null ? !admission.hasMappings() : isHard())) {
      return false;
    }
    // a resident is fetched again after the kernel reclaimed a soft pin's pages
    return before == null ? ask(fetched) : beginAgain(fetched, before);
  }

  private @Nullable Resident swap(Item item) {
    Resident resident = admission.swap(item, swaps, this::giveUp);
    if (resident != null) {
      swapped.incrementAndGet();
      swaps.swapped(item);
    }
    return resident;
  }

  private boolean ask(Fetched fetched) {
    Resident resident = admission.admit(fetched.item(), this::giveUp);
    return resident != null && begin(fetched, resident);
  }

  /**
   * Takes over a resident of the previous daemon: pins the item again if its pages are still cached
   * and the policy admits it now. Fetches nothing. An item that is already resident again, because
   * a reader missed some of its pages, stays as it is.
   */
  public void resume(Item item) {
    Resident resident = admission.hasMappings() ? admission.admit(item, this::giveUp) : null;
    if (resident != null) {
      if (!pinning.beginAgain(resident)) {
        forget(resident);
      }
    } else if (!isResident(item)) {
      residentLog.notTakenOver(item.key());
      pageDropper.deliveredWhole(item);
    }
  }

  private void giveUp(Resident resident) {
    evicted.incrementAndGet();
    resident.release();
    pageDropper.deliveredWhole(resident.item());
  }

  private boolean beginAgain(Fetched fetched, Resident before) {
    Resident resident = new Resident(fetched.item());
    if (!residentSet.replace(before, resident)) {
      return false;
    }
    before.release();
    return begin(fetched, resident);
  }

  /**
   * Begins to pin, unless the version is outdated. A thread that releases a version ends its
   * fetches first and its residents second, so one of the two steps finds an item that is just
   * being admitted.
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

  /** Removes a resident without dropping its pages. */
  private void forget(Resident resident) {
    residentSet.remove(resident);
    resident.release();
  }

  private void forgetAndDrop(Resident resident) {
    forget(resident);
    pageDropper.deliveredWhole(resident.item());
  }

  /**
   * Applies the current rules for an item's name to a resident item.
   *
   * @return whether the item is kept from now on, or no longer is
   */
  public boolean reconsider(Item item) {
    Resident resident = residentSet.get(item.key());
    if (resident == null) {
      return false;
    }
    return switch (admission.verdict(item.path().get())) {
      case KEPT -> residentSet.keep(item.key(), weight(item.length()));
      case ORDINARY -> residentSet.unkeep(item.key(), hash(item));
      case EXCLUDED -> giveUpNow(resident);
    };
  }

  /**
   * Releases a resident and drops its pages. Waits, for a short and bounded time, while many pages
   * are being dropped.
   *
   * @param force whether to release an item that its name protects as well
   * @return whether the item was resident and no longer is
   */
  public boolean giveUp(Item item, boolean force) {
    Resident resident = residentSet.get(item.key());
    return resident != null
        && (force || admission.verdict(item.path().get()) != Selection.Verdict.KEPT)
        && giveUpNow(resident);
  }

  private boolean giveUpNow(Resident resident) {
    boolean removed = residentSet.remove(resident);
    if (removed) {
      letGo(resident);
    }
    return removed;
  }

  /**
   * Releases a resident on a thread that may wait: the pages that are being dropped must not exceed
   * the window.
   */
  private void letGo(Resident resident) {
    try {
      pageDropper.awaitRoom();
    } finally {
      resident.release();
    }
    if (resident.isMapped()) {
      leaving.add(resident);
    }
    pageDropper.leave(resident.item());
  }

  /**
   * Changes the capacity. If it falls below the resident bytes, evicts residents in the policy's
   * order. Releases them one after the other on this thread, with a bounded wait for drops at each.
   *
   * @param capacity bytes
   * @param mostMappings most residents
   * @return how many residents were evicted
   */
  public long resize(long capacity, long mostMappings) {
    admission.allowMappings(mostMappings);
    List<Resident> givenUp = new ArrayList<>();
    try {
      residentSet.resize(capacity, givenUp);
    } finally {
      letGo(givenUp);
    }
    return givenUp.size();
  }

  private void giveUpLeft() {
    List<Resident> givenUp = new ArrayList<>(0);
    try {
      residentSet.catchUp(givenUp, MOST_LEFT);
    } finally {
      letGo(givenUp);
    }
  }

  private void letGo(List<Resident> givenUp) {
    evicted.addAndGet(givenUp.size());
    AdmissionControl.pass(givenUp, letGo);
  }

  /** Passes every item that is resident or being pinned. */
  public void forEachResident(Consumer<Item> taker) {
    residentSet.all().forEach(resident -> taker.accept(resident.item()));
  }

  /** Returns how many residents that a user released are still being read from. */
  public long leaving() {
    forgetUnmapped();
    return leaving.size();
  }

  private void forgetUnmapped() {
    leaving.removeIf(resident -> !resident.isMapped());
  }

  /**
   * Drops an item's pages that may be cached, unless the item is resident. Pages that applications
   * have mapped are retried later. Waits for the drop, for a bounded time.
   */
  public void dropStray(Item item) {
    pageDropper.dropStray(item);
  }

  /** Records that bytes of an item that was not admitted are in the page cache now. */
  public void noteDelivered(Item item, int bytes, boolean complete) {
    pageDropper.delivered(item, bytes, complete);
  }

  /** Records that an application has begun to read an item whose pages it may have found. */
  public void noteRead(Item item) {
    pageDropper.read(item);
  }

  /**
   * Waits, for a short and bounded time, while more non-resident pages are cached than the window
   * allows. For a thread that is about to bring in more.
   */
  public void awaitRoom() {
    pageDropper.awaitRoom();
  }

  /**
   * Releases every resident of a file whose version has changed. On return no mapping of the file
   * is left, except mappings that are being read at this moment.
   *
   * @return bytes that are no longer resident
   */
  public long release(long node) {
    long bytes = 0;
    for (Resident resident : residentSet.of(node)) {
      bytes += resident.item().length();
      forget(resident);
    }
    pageDropper.forget(node);
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
    return residentSet.of(node).stream().filter(Resident::isPinned);
  }

  /** Returns the nodes that have residents. */
  public List<Long> residentNodes() {
    return residentSet.nodes();
  }

  /**
   * Drops pages whose time in the window is over, forgets residents that nobody reads any more,
   * logs failures to pin, and releases evicted residents that a full heap has left. Called several
   * times a second.
   */
  public void tick() {
    giveUpLeft();
    forgetUnmapped();
    pageDropper.tick();
    pinning.tick();
  }

  /**
   * Learns how much memory could be had without taking from others; nothing until the first call.
   * Pins come behind the readers as far as that allows.
   */
  public void available(long bytes) {
    pinning.available(bytes);
  }

  /** Tells whether a file's name excludes it from residency. */
  public boolean isExcluded(OriginPath path) {
    return admission.verdict(path) == Selection.Verdict.EXCLUDED;
  }

  /** Tells whether the policy decides about a file, rather than a user's rule for its name. */
  public boolean isLeftToPolicy(OriginPath path) {
    return admission.verdict(path) == Selection.Verdict.ORDINARY;
  }

  /** Tells whether the policy decides about an item, rather than a user's rule for its name. */
  public boolean isLeftToPolicy(Item item) {
    return admission.isLeftToPolicy(item);
  }

  /** Tells the policy the size of the dataset, in whole pages. */
  public void datasetSize(long bytes) {
    residentSet.datasetSize(bytes);
  }

  /** Returns the policy's name. */
  public String policyName() {
    return residentSet.policyName();
  }

  /** Tells whether pages are locked, rather than only mapped. */
  public boolean isHard() {
    return pinning.isHard();
  }

  /** Returns the current figures. */
  public Figures figures() {
    ResidentSet.Sums sums = residentSet.sums();
    return new Figures(
        sums.capacity(),
        sums.bytes(),
        sums.items(),
        sums.keptBytes(),
        sums.keptItems(),
        admission.admitted(),
        admission.refused(),
        evicted.get(),
        swapped.get(),
        pinning.failures(),
        pinning.backlogBytes(),
        pageDropper.bytes(),
        pageDropper.droppedBytes());
  }

  /** Unpins everything and stops admitting. */
  @Override
  public void close() {
    admits = false;
    pinning.close();
    residentSet.all().forEach(this::forget);
    pageDropper.close();
  }
}
