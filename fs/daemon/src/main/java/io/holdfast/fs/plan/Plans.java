package io.holdfast.fs.plan;

import io.holdfast.fs.ItemKey;
import io.holdfast.fs.figures.PlanFigures;
import io.holdfast.fs.residency.Swaps;
import io.holdfast.fs.sampler.TorchSampler;
import io.holdfast.fs.transit.Item;
import io.holdfast.policy.cluster.ClusterPlan;
import io.holdfast.policy.cluster.Leavers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Agrees with the other nodes on a plan, and follows it. The jobs of this node announce which ranks
 * of which order they read. When they begin an epoch, this node offers its part to its peers
 * ({@link PlanOffer}). Once all nodes of the view have offered the same order and epoch, and have
 * all ranks between them, each computes the same {@link ClusterPlan} from the same offers.
 *
 * <p>The plan ends when the view or an offer changes, when a job reads something else, or when too
 * many items are elsewhere. A node that ends it takes its offer back, so the others end it too.
 * Then items belong to their owners by rendezvous hashing again, as without a plan. Residents that
 * are not where they belong make way for those that are, and the nodes that had an item by the last
 * plan are asked for it first. All nodes offer their parts again, with what is resident then, when
 * their jobs begin the next epoch.
 *
 * <p>A plan says where bytes are looked for first and what may stay. It gives nobody a byte, and
 * wrong offers cost only time and bytes. Thread-safe; only the thread of {@link #tick} computes.
 */
public final class Plans implements Planned, Swaps {
  private static final Logger log = LoggerFactory.getLogger(Plans.class);

  /** The least time between two looks at what is due. */
  private static final long LOOK = Duration.ofMillis(100).toNanos();

  /** The pause between two questions to peers while no plan is followed. */
  private static final long SHORT_PAUSE = Duration.ofMillis(250).toNanos();

  /** The pause while one is. */
  private static final long PAUSE = Duration.ofSeconds(1).toNanos();

  /** How long a list waits for its order, which a client draws, and sends, in minutes at most. */
  private static final long LIST_PATIENCE = Duration.ofMinutes(10).toNanos();

  /** The most lists that wait, as many as there may be orders. */
  private static final int MOST_ANNOUNCED = 32;

  /** The most residents that make way for one item. */
  private static final int MOST_VICTIMS = 64;

  /** The heap that the plan of a file takes, without its copies. */
  static final int BYTES_OF_FILE = 160;

  private static final long MOST_FILES = 8 << 20;

  private static final int PART_OF_HEAP = 8;

  /** This node offers nothing for 2 to the power of so many epochs at most. */
  private static final int MOST_DOUBLINGS = 10;

  private static final int LONGEST_WAIT = 30;

  private final Parts parts;
  private final AtomicBoolean working = new AtomicBoolean();

  /** The peers that have not answered yet. */
  private final Set<String> asked = ConcurrentHashMap.newKeySet();

  /** The jobs whose order was taken. */
  private final Map<String, RankJob> jobs = new HashMap<>();

  /** The jobs whose order is about to be taken. */
  private final Map<String, Awaited> announced = new HashMap<>();

  private final Map<String, String> heard = new ConcurrentHashMap<>();
  private List<String> members = List.of();
  private boolean viewChanged;
  private @Nullable PlanOffer own;

  /** The epoch before which this node offers nothing, since it has left a plan. */
  private int notBefore;

  /** Why a plan has ended that the log does not know of; empty if it knows. */
  private String ended = "";

  /** How many plans in a row ended in their first epoch. */
  private int shortPlans;

  private final AtomicInteger lastNumber = new AtomicInteger();

  private String state = "no order of several ranks is announced";
  private long lastAsked;
  private volatile long lastWork;
  private volatile String ownText = "";
  private volatile @Nullable ActivePlan active;
  private @Nullable Key key;

  /** The offers that the last objection was made to: they are not read again. */
  private @Nullable Key rejected;

  private String objection = "";
  private final Strays strays;

  /** The files of the dataset. Thread-safe; no method waits. */
  public interface Items {
    /** Returns how many items a file has. */
    long count(long id);

    /** Returns the only item of a file; null if there is none, or the user says where it stays. */
    @Nullable Item item(long id);
  }

  /** The residents of this node. Thread-safe; no method waits. */
  public interface Residents {
    /** Returns an item's bytes as they are counted. */
    long weight(Item item);

    /** Returns the bytes that residents may take. */
    long capacity();

    /** Returns the bytes of all residents. */
    long bytes();

    /** Passes each resident. */
    void forEach(Consumer<Item> taker);

    /** Tells whether an item is resident. */
    boolean has(Item item);

    /** Releases a resident. */
    void release(Item item);
  }

  /** The other nodes. Thread-safe; no method waits. */
  public interface Peers {
    /** Returns the offer of a peer; empty if it has none. Its last one does not travel again. */
    CompletableFuture<String> offer(String peer, String last);

    /** Tells whether an item belongs to this node without a plan. */
    boolean isPlacedHere(Item item);

    /** Learns that a plan has begun or ended. */
    void planChanged();
  }

  /**
   * The parts of the daemon that plans use. Immutable.
   *
   * @param datasetBytes returns the bytes of the dataset in whole pages
   * @param thread a single thread, which computes
   * @param mark a file that tells the next daemon of the mount that a plan was followed; null if
   *     there is none
   * @param nanoTime a clock of nanoseconds
   */
  public record Parts(
      Items items,
      Residents residents,
      LongSupplier datasetBytes,
      Executor thread,
      @Nullable Path mark,
      LongSupplier nanoTime) {}

  /** A job whose order is about to be taken, and when its list was. */
  private record Awaited(RankJob job, long since) {}

  /** The nodes and offers that a plan was made of. */
  private record Key(List<String> members, Map<String, String> offers) {}

  private volatile @Nullable Peers peers;

  /** Creates plans for a node without peers yet. */
  public Plans(Parts parts) {
    this.parts = parts;
    lastAsked = parts.nanoTime().getAsLong();
    lastWork = lastAsked;
    strays = new Strays(parts.mark());
  }

  /** Sets the peers; before anything is announced. */
  public synchronized void peers(Peers others) {
    peers = others;
  }

  /** Returns the most files of a list. */
  public static int mostFiles() {
    return (int) Math.min(mostBytes() / BYTES_OF_FILE, MOST_FILES);
  }

  /** Returns the most heap that a plan takes. */
  static long mostBytes() {
    return Runtime.getRuntime().maxMemory() / PART_OF_HEAP;
  }

  // --- what the jobs of this node read

  /**
   * Learns what a job reads as a rank, from when its order is {@linkplain #ordered taken}. Looks at
   * all files, which takes some time.
   *
   * @param sampler the order of the next epoch, with a replica
   * @param ids the files from which the sampler draws, by their nodes
   * @return why the order cannot be planned; empty if it can
   */
  public String announce(String job, TorchSampler sampler, long[] ids) {
    TorchSampler.Replica replica = sampler.replica();
    if (replica == null || replica.world() < 2 || replica.world() > PlanOffer.MOST_RANKS) {
      return "it has no ranks";
    }
    if (ids.length > mostFiles() || ids.length / replica.world() < 2) {
      return "the list is too long or too short";
    }
    PlanFiles files = PlanFiles.of(ids, parts);
    if (files == null) {
      return "the list has a file twice, one of several items, or one that the user keeps";
    }
    RankJob its = new RankJob(lastNumber.incrementAndGet(), sampler, replica, shared(files));
    synchronized (this) {
      forgetLate();
      if (announced.size() >= MOST_ANNOUNCED && !announced.containsKey(job)) {
        return MOST_ANNOUNCED + " lists wait for their orders";
      }
      announced.put(job, new Awaited(its, parts.nanoTime().getAsLong()));
    }
    return "";
  }

  /** Forgets lists whose orders did not come. */
  private synchronized void forgetLate() {
    long now = parts.nanoTime().getAsLong();
    announced.values().removeIf(list -> now - list.since > LIST_PATIENCE);
  }

  /** Learns that an order of a job arrives that is not drawn from the job's last list. */
  public synchronized void forgetList(String job) {
    announced.remove(job);
  }

  /**
   * Learns that an order of a job was taken in the place of its last one.
   *
   * @return a number for {@link #opened}; 0 if the order is not that of a rank
   */
  public synchronized int ordered(String job) {
    Awaited list = announced.remove(job);
    RankJob now = list == null ? null : list.job;
    RankJob before = now == null ? jobs.remove(job) : jobs.put(job, now);
    boolean same = now != null && before != null && now.isSameRankAs(before);
    if (!same && (now != null || before != null)) {
      leave("another order was announced");
      offerAtOnce();
    } else if (same && active == null && now.beginsAgainFrom(before)) {
      offerAtOnce();
    }
    return now == null ? 0 : now.number;
  }

  /** Returns the same files of another job, so that they are in memory once. */
  private PlanFiles shared(PlanFiles files) {
    List<RankJob> others;
    synchronized (this) {
      others = List.copyOf(jobs.values());
    }
    return others.stream()
        .map(job -> job.files)
        .filter(files::hasSameFiles)
        .findFirst()
        .orElse(files);
  }

  /** Forgets the order of a job. */
  public synchronized void forget(String job) {
    announced.remove(job);
    if (jobs.remove(job) != null) {
      leave("an order was taken back");
    }
  }

  /**
   * Learns where a job is. Waits for nothing.
   *
   * @param number from {@link #ordered}
   * @param pass how many passes of this order it has read to their ends
   * @param position how many files of this pass it has opened, up to the first that it has not
   */
  public void opened(String job, int number, int pass, int position) {
    ActivePlan plan;
    int rank;
    int epoch;
    synchronized (this) {
      RankJob its = jobs.get(job);
      if (its == null || its.number != number) {
        return;
      }
      if (its.sampler.epoch() + pass < its.epoch) {
        its.again = true; // it is forgotten by a thread that may log
        return;
      }
      its.epoch = its.sampler.epoch() + pass;
      its.position = position;
      plan = active;
      rank = its.replica.rank();
      epoch = its.epoch;
    }
    if (plan != null) {
      plan.opened(rank, epoch, position);
    }
  }

  // --- the other nodes

  /** Returns this node's offer for a peer; empty if there is none. */
  public String ownOffer() {
    return ownText;
  }

  /** Learns of a view: the addresses of all nodes that share the dataset, with this one first. */
  public synchronized void view(List<String> selfAndOthers) {
    if (!members.equals(selfAndOthers)) {
      members = List.copyOf(selfAndOthers);
      heard.keySet().retainAll(members);
      viewChanged = true;
      strays.viewChanged();
    }
  }

  /** Does what is due. Called several times a second; the work is done on the thread. */
  public void tick() {
    long now = parts.nanoTime().getAsLong();
    forgetLate();
    if (isIdle() || now - lastWork < LOOK || working.getAndSet(true)) {
      return;
    }
    lastWork = now;
    try {
      parts
          .thread()
          .execute(
              () -> {
                try {
                  work();
                } catch (RuntimeException | OutOfMemoryError e) {
                  log.error("no plan can be made", e);
                  leave("a failure: " + e);
                  forgetAll();
                } finally {
                  working.set(false);
                }
              });
    } catch (RejectedExecutionException e) {
      working.set(false); // the mount is ending
    }
  }

  private synchronized void forgetAll() {
    jobs.clear();
  }

  private synchronized boolean hasOtherCapacity() {
    return own != null && own.isOfOtherCapacity(parts.residents().capacity());
  }

  private synchronized int members() {
    return members.size();
  }

  private synchronized boolean isIdle() {
    return peers == null
        || (jobs.isEmpty() && active == null && ended.isEmpty() && !strays.areAfterPlan());
  }

  /** Forgets the jobs that read an epoch again: nobody knows what comes after it. */
  private synchronized void forgetThoseThatReadAgain() {
    for (Map.Entry<String, RankJob> each : List.copyOf(jobs.entrySet())) {
      if (each.getValue().again) {
        forget(each.getKey());
        state = "the job reads an epoch again";
      }
    }
  }

  private void work() {
    tellThatItEnded();
    forgetThoseThatReadAgain();
    ActivePlan plan = active;
    if (plan != null) {
      plan.prepare(() -> residents(plan.files()));
      String broken = plan.broken();
      if (!broken.isEmpty()) {
        leave(broken);
      } else if (hasOtherCapacity()) {
        leave("the capacity has changed");
      }
    }
    Peers all = peers;
    int present = members();
    if (active == null && all != null && present > 1) {
      strays.find(parts.residents(), all::isPlacedHere);
      strays.forgetIfDrained(present);
    }
    offer();
    ask();
    follow();
    tellThatItEnded();
  }

  /** Offers this node's part, when its ranks begin an epoch that is not planned. */
  private void offer() {
    RankJob some;
    List<Integer> ranks = new ArrayList<>();
    synchronized (this) {
      if (active != null || jobs.isEmpty()) {
        return;
      }
      some = jobs.values().iterator().next();
      for (RankJob each : jobs.values()) {
        if (!each.order.equals(some.order)) {
          give("jobs of this node read several orders");
          return;
        }
        if (each.epoch != some.epoch || !each.isAtBeginning()) {
          if (own != null) {
            give("the next epoch is waited for");
          }
          return;
        }
        ranks.add(each.replica.rank());
      }
      if (some.epoch < notBefore || (own != null && own.epoch() == some.epoch)) {
        return;
      }
      ranks.sort(null);
      if (ranks.stream().distinct().count() < ranks.size()) {
        give("a rank is announced twice");
        return;
      }
    }
    PlanOffer offer = offer(some, ranks);
    synchronized (this) {
      if (active == null && jobs.containsValue(some)) {
        own = offer;
        ownText = offer.toString();
        state = "the other nodes' offers are waited for";
      }
    }
  }

  private PlanOffer offer(RankJob job, List<Integer> ranks) {
    PlanFiles files = job.files;
    BitSet residents = residents(files);
    long listed = residents.stream().mapToLong(files::weight).sum();
    long capacity = parts.residents().capacity();
    long others = Math.max(0, parts.residents().bytes() - listed);
    return new PlanOffer(
        job.order,
        job.epoch,
        job.replica.world(),
        ranks,
        files.size(),
        capacity,
        Math.max(0, capacity - others),
        Math.max(0, parts.datasetBytes().getAsLong()),
        residents);
  }

  /** Returns the places of the files that are resident. */
  private BitSet residents(PlanFiles files) {
    BitSet residents = new BitSet(files.size());
    parts
        .residents()
        .forEach(
            item -> {
              int place = files.place(item);
              if (place != PlanFiles.NONE) {
                residents.set(place);
              }
            });
    return residents;
  }

  private synchronized void give(String why) {
    heard.clear();
    own = null;
    ownText = "";
    state = why;
  }

  private void ask() {
    List<String> others;
    Peers all;
    int longest;
    synchronized (this) {
      long pause = active == null ? SHORT_PAUSE : PAUSE;
      boolean due = parts.nanoTime().getAsLong() - lastAsked >= pause;
      if (own == null || peers == null || !due) {
        return;
      }
      others = members.size() < 2 ? List.of() : members.subList(1, members.size());
      all = peers;
      longest = PlanOffer.longest(own.files());
      lastAsked = parts.nanoTime().getAsLong();
    }
    if (others.size() < ClusterPlan.MOST_NODES) {
      others.stream().filter(asked::add).forEach(peer -> ask(all, peer, longest));
    }
  }

  /**
   * Asks a peer for its offer. Where it does not answer, its last one holds, and the other peers
   * are asked on.
   *
   * @param longest the most letters of an offer of as many files as this node's
   */
  private void ask(Peers all, String peer, int longest) {
    CompletableFuture<String> answer;
    try {
      answer = all.offer(peer, heard.getOrDefault(peer, ""));
    } catch (RuntimeException e) {
      answer = CompletableFuture.failedFuture(e);
    }
    CompletableFuture<String> unused =
        answer
            .copy()
            .orTimeout(LONGEST_WAIT, TimeUnit.SECONDS)
            .whenComplete(
                (text, failure) -> {
                  if (failure == null) {
                    heard.put(peer, text.length() > longest ? "" : text);
                  }
                  asked.remove(peer);
                });
  }

  /** Begins a plan if all have offered the same, and ends it if they do not any more. */
  private void follow() {
    Key now;
    PlanOffer mine;
    RankJob job;
    synchronized (this) {
      boolean changed = viewChanged;
      viewChanged = false;
      if (changed && active != null) {
        leave("the nodes have changed");
      }
      if (own == null || jobs.isEmpty()) {
        return;
      }
      job = jobs.values().iterator().next();
      mine = own;
      Map<String, String> offers = new TreeMap<>(heard);
      offers.keySet().retainAll(members);
      offers.put(members.isEmpty() ? "" : members.get(0), ownText);
      now = new Key(members, offers);
      if (active != null && !now.equals(key)) {
        leave("the offer of a node has changed");
        return;
      }
      if (active != null || mine.epoch() != job.epoch) {
        return;
      }
      if (now.equals(rejected)) {
        state = objection;
        return;
      }
    }
    PlanMaker maker = new PlanMaker(now.members, now.offers, job, mine);
    String why = maker.objection();
    if (!why.isEmpty()) {
      synchronized (this) {
        state = why;
        rejected = now;
        objection = why;
      }
      return;
    }
    begin(now, mine, maker.make());
  }

  private void begin(Key made, PlanOffer mine, ActivePlan begun) {
    // also if no plan begins after all: the next daemon looks for strays in vain
    strays.mark(made.members.size());
    synchronized (this) {
      boolean asBefore = !viewChanged && mine.equals(own) && active == null;
      for (RankJob each : jobs.values()) {
        asBefore &= each.epoch == mine.epoch() && each.isAtBeginning();
      }
      if (!asBefore) {
        return;
      }
      jobs.values().forEach(each -> begun.opened(each.replica.rank(), each.epoch, each.position));
      strays.planned();
      active = begun;
      key = made;
      state = "followed";
    }
    log.info("the order of {} ranks on {} nodes is planned", mine.world(), made.members.size());
    changed();
  }

  /** Ends the plan, if there is one. The thread of {@link #tick} tells the log and the peers. */
  private synchronized void leave(String why) {
    ActivePlan plan = active;
    if (plan != null) {
      strays.ended(plan.former());
      backOff(plan);
      ended = why;
    }
    active = null;
    key = null;
    give(why);
  }

  private void tellThatItEnded() {
    String why;
    synchronized (this) {
      why = ended;
      ended = "";
    }
    if (!why.isEmpty()) {
      log.info("the plan of the nodes ends: {}", why);
      changed();
    }
  }

  /**
   * Has this node offer nothing until the next epoch; after plans that ended in their first epochs,
   * twice as many epochs each time. Each move between a plan and the owners costs bytes.
   */
  private void backOff(ActivePlan left) {
    int epoch = jobs.values().stream().mapToInt(job -> job.epoch).max().orElse(0);
    shortPlans = left.hasFollowedAnEpoch() ? 0 : shortPlans;
    notBefore = epoch + (1 << Math.min(shortPlans, MOST_DOUBLINGS));
    shortPlans++;
  }

  /** Has this node offer its part at once: a job reads something else, or was started again. */
  private void offerAtOnce() {
    notBefore = 0;
    shortPlans = 0;
  }

  private void changed() {
    Peers all = peers;
    if (all != null) {
      all.planChanged();
    }
  }

  // --- what is asked of the plan

  @Override
  public @Nullable PlannedItem find(Item item) {
    ActivePlan plan = active;
    int place = plan == null ? PlanFiles.NONE : plan.files().place(item);
    return plan == null || place == PlanFiles.NONE ? null : plan.find(place);
  }

  @Override
  public boolean keeps(Item item) {
    ActivePlan plan = active;
    int place = plan == null ? PlanFiles.NONE : plan.files().place(item);
    return plan != null && place != PlanFiles.NONE && plan.keeps(place);
  }

  @Override
  public String formerHolder(Item item) {
    return strays.formerHolder(item);
  }

  @Override
  public void notThere(Item item) {
    withPlace(item, ActivePlan::notThere);
  }

  @Override
  public boolean fetched(Item item) {
    ActivePlan plan = active;
    int place = plan == null ? PlanFiles.NONE : plan.files().place(item);
    if (plan == null || place == PlanFiles.NONE || !plan.isPromised(place)) {
      return false;
    }
    plan.notThere(place);
    return true;
  }

  @Override
  public void sent(Item item, String to) {
    withPlace(item, (plan, place) -> plan.sent(place, to));
  }

  /** Does something with an item of the plan. */
  @FunctionalInterface
  private interface PlaceTaker {
    void take(ActivePlan plan, int place);
  }

  private void withPlace(Item item, PlaceTaker taker) {
    ActivePlan plan = active;
    int place = plan == null ? PlanFiles.NONE : plan.files().place(item);
    if (plan != null && place != PlanFiles.NONE) {
      taker.take(plan, place);
    }
  }

  /** Returns the figures. */
  public PlanFigures figures() {
    ActivePlan plan = active;
    if (plan != null) {
      return plan.figures();
    }
    synchronized (this) {
      return PlanFigures.none(state);
    }
  }

  // --- the items that make way

  @Override
  public boolean wants(Item item) {
    ActivePlan plan = active;
    if (plan == null) {
      Peers all = peers;
      return !strays.isEmpty() && all != null && all.isPlacedHere(item);
    }
    int place = plan.files().place(item);
    return place != PlanFiles.NONE && plan.keeps(place) && plan.hasLeaver();
  }

  /** Where one item does not leave enough room, others are released with it. */
  @Override
  public @Nullable ItemKey victim(Item item, long freePages, long slackPages) {
    long free = parts.residents().capacity() - parts.residents().bytes();
    long needed = parts.residents().weight(item);
    for (int i = 0; i < MOST_VICTIMS; i++) {
      Item leaver = nextLeaver();
      if (leaver == null) {
        return null;
      }
      free += parts.residents().weight(leaver);
      if (free >= needed) {
        return leaver.key();
      }
      parts.residents().release(leaver);
    }
    return null;
  }

  private @Nullable Item nextLeaver() {
    ActivePlan plan = active;
    Peers all = peers;
    if (plan == null) {
      return all == null ? null : strays.poll(parts.residents(), all::isPlacedHere);
    }
    for (int place = plan.pollLeaver(); place != Leavers.NONE; place = plan.pollLeaver()) {
      Item item = parts.items().item(plan.files().id(place));
      if (item != null && parts.residents().has(item)) {
        return item;
      }
    }
    return null;
  }
}
