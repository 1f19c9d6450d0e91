package io.holdfast.fs.plan;

import io.holdfast.fs.figures.PlanFigures;
import io.holdfast.fs.residency.Swaps;
import io.holdfast.fs.sampler.TorchSampler;
import io.holdfast.fs.stats.JobLife;
import io.holdfast.policy.cluster.ClusterPlan;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntToLongFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Agrees with the other nodes on a plan, follows it, and ends it. The way of a plan:
 *
 * <ol>
 *   <li>Jobs of this node {@linkplain #announce announce} which ranks of which order they read, and
 *       {@linkplain #opened tell} where they are ({@link LocalRanks}).
 *   <li>When all of them begin an epoch, this node {@linkplain #offer offers} its part to its
 *       peers, and asks for theirs ({@link OfferExchange}).
 *   <li>Once all nodes of the view have offered the same order and epoch, and all ranks between
 *       them, they {@linkplain #agree agree}: each computes the same {@link ClusterPlan} from the
 *       same offers ({@link PlanMaker}), and follows it, epoch after epoch ({@link FollowedPlan}).
 *   <li>The plan {@linkplain #leave ends} when a rank is over ({@link RankJob}), when the view or
 *       an offer changes, when a job reads something else, or when too many items are elsewhere. A
 *       node that ends it takes its offer back, so the others end it too. Then items belong to
 *       their owners by rendezvous hashing again, until the nodes agree on another plan.
 * </ol>
 *
 * <p>A plan says where bytes are looked for first and what may stay. It gives nobody a byte, and
 * wrong offers cost only time and bytes.
 *
 * <p>Thread-safe: the monitor guards all fields that change, and is taken before those of {@link
 * OfferExchange} and {@link ActivePlan}. Only the thread of {@link #tick} computes, writes to the
 * log, and tells the peers, without the monitor.
 */
public final class Plans {
  private static final Logger log = LoggerFactory.getLogger(Plans.class);

  private final PlanParts parts;
  private final LocalRanks ranks;
  private final PlanBackOff backOff = new PlanBackOff();
  private final OfferExchange exchange;
  private final FollowedPlan followed;
  private final PlanThread thread;
  private volatile @Nullable PlanPeers peers;

  /** The offers of which the plan was made that is followed; null while none is. */
  private @Nullable Offers agreed;

  private @Nullable Rejection rejection;

  /** Why there is no plan; or that one is followed. */
  private String state = "no order of several ranks is announced";

  /** Why a plan has ended, as long as the log and the peers do not know; otherwise empty. */
  private String ended = "";

  /** Offers of which no plan could be made, and why: they are not compared again. */
  private record Rejection(Offers offers, String why) {}

  /** Creates plans for a node without peers yet. */
  public Plans(PlanParts parts) {
    this.parts = parts;
    ranks = new LocalRanks(now());
    exchange = new OfferExchange(parts.nanoTime());
    followed = new FollowedPlan(parts, () -> peers);
    thread = new PlanThread(parts, this::work, this::giveUp);
  }

  private long now() {
    return parts.nanoTime().getAsLong();
  }

  /** Sets the peers; before anything is announced. */
  public void peers(PlanPeers others) {
    peers = others;
  }

  /** Returns where items are by the plan. */
  public Planned planned() {
    return followed;
  }

  /** Returns which residents make way by the plan, or after it. */
  public Swaps swaps() {
    return followed;
  }

  /** Returns this node's offer for a peer; empty if there is none. */
  public String ownOffer() {
    return exchange.ownText();
  }

  /** Returns the figures. */
  public PlanFigures figures() {
    ActivePlan plan = followed.plan();
    if (plan != null) {
      return plan.figures();
    }
    synchronized (this) {
      return PlanFigures.none(state);
    }
  }

  // --- what the jobs of this node read

  /**
   * Learns what a job reads as a rank, from when its order is {@linkplain #ordered taken}. Looks at
   * all files, which takes some time.
   *
   * @param sampler the order of the next epoch, with a replica
   * @param count how many files the sampler draws from
   * @param id returns the node of each, by its place; not asked if there are too many for the heap
   * @return why the order cannot be planned; empty if it can
   */
  public String announce(String job, TorchSampler sampler, int count, IntToLongFunction id) {
    String why = RankJob.objection(sampler, count);
    if (!why.isEmpty()) {
      return why;
    }
    long[] ids = new long[count];
    Arrays.setAll(ids, id);
    PlanFiles files = PlanFiles.of(ids, parts);
    if (files == null) {
      return "the list has a file twice, one of several items, or one that the user keeps";
    }
    List<PlanFiles> others;
    synchronized (this) {
      others = ranks.files();
    }
    PlanFiles once = files.orSame(others);
    synchronized (this) {
      return ranks.await(job, sampler, once, now());
    }
  }

  /** Learns that an order of a job arrives that is not drawn from the job's last list. */
  public synchronized void forgetList(String job) {
    ranks.forgetList(job);
  }

  /**
   * Learns that an order of a job was taken in the place of its last one.
   *
   * @return a number for {@link #opened}; 0 if the order is not that of a rank
   */
  public synchronized int ordered(String job) {
    RankJob before = ranks.get(job);
    RankJob now = ranks.order(job, now());
    boolean isSame = now != null && before != null && now.isSameRankAs(before);
    if (!isSame && (now != null || before != null)) {
      leave("another order was announced");
      backOff.reset();
    } else if (isSame && !followed.isFollowed() && now.beginsAgainFrom(before)) {
      backOff.reset();
    } else if (isSame && now.epoch() > before.epoch()) {
      tellPlan(now);
    }
    return now == null ? 0 : now.number;
  }

  /**
   * Learns that a job's order has one more pass.
   *
   * @param number from {@link #ordered}
   */
  public synchronized void goesOn(String job, int number) {
    RankJob its = ranks.get(job, number);
    if (its != null) {
      its.goesOn(now());
      tellPlan(its);
    }
  }

  /**
   * Learns where a job is. Waits for nothing.
   *
   * @param number from {@link #ordered}
   */
  public synchronized void opened(String job, int number, JobPlace place) {
    RankJob its = ranks.get(job, number);
    if (its != null && its.opened(place, now())) {
      tellPlan(its);
    }
  }

  private void tellPlan(RankJob its) {
    ActivePlan plan = followed.plan();
    if (plan != null) {
      plan.opened(its.rank(), its.epoch(), its.position());
    }
  }

  /** Forgets the order of a job. */
  public synchronized void forget(String job) {
    ranks.forgetList(job);
    withdraw(job, "an order was taken back");
  }

  /** Withdraws a job that is a rank. The plan ends with it: the others would wait for its part. */
  private synchronized void withdraw(String job, String why) {
    if (ranks.remove(job)) {
      leave(why);
    }
  }

  // --- the other nodes

  /** Learns of a view: the addresses of all nodes that share the dataset, with this one first. */
  public synchronized void view(List<String> selfAndOthers) {
    if (exchange.view(selfAndOthers)) {
      followed.viewChanged();
    }
  }

  // --- the way of a plan

  /** Does what is due. Called several times a second; the work is done on the thread. */
  public void tick() {
    if (!isIdle()) {
      thread.look();
    }
  }

  private synchronized boolean isIdle() {
    ranks.forgetLate(now());
    return peers == null || (ranks.isEmpty() && followed.isSettled() && ended.isEmpty());
  }

  private synchronized void giveUp(Throwable failure) {
    leave("a failure: " + failure);
    ranks.clear(); // after that: without ranks, nothing else ends a plan
  }

  private void work() {
    tellEnd(); // one that has come since the last look
    withdrawRanksThatAreOver();
    leaveIfBroken();
    followed.findStrays(exchange.nodes());
    offer();
    PlanPeers all = peers;
    if (all != null) {
      exchange.ask(all, followed.isFollowed());
    }
    agree();
    tellEnd();
  }

  private void withdrawRanksThatAreOver() {
    Set<String> some;
    synchronized (this) {
      some = ranks.thatMayBeOver(now());
    }
    Map<String, JobLife> lives = new HashMap<>();
    some.forEach(job -> lives.put(job, parts.life().apply(job))); // reads /proc
    synchronized (this) {
      leaveIf(ranks.removeOver(lives, now()));
    }
  }

  private void leaveIfBroken() {
    ActivePlan plan = followed.plan();
    if (plan == null) {
      return;
    }
    plan.prepare(() -> plan.files().residents(parts.residents()));
    PlanOffer own = exchange.own();
    boolean isResized = own != null && own.isOfOtherCapacity(parts.residents().capacity());
    String broken = plan.broken();
    leaveIf(broken.isEmpty() && isResized ? "the capacity has changed" : broken);
  }

  /** Offers this node's part, when its ranks begin an epoch that is not planned. */
  private void offer() {
    LocalRanks.Part part;
    synchronized (this) {
      if (followed.isFollowed() || ranks.isEmpty()) {
        return;
      }
      String why = ranks.difference();
      part = why.isEmpty() ? ranks.part() : null;
      PlanOffer own = exchange.own();
      if (!why.isEmpty() || (part == null && own != null)) {
        takeBack(why.isEmpty() ? "the next epoch is waited for" : why);
      }
      boolean isOffered = part != null && own != null && own.epoch() == part.epoch();
      if (part == null || isOffered || !backOff.allows(part.epoch())) {
        return;
      }
    }
    PlanOffer offer = PlanOffer.of(part, parts);
    synchronized (this) {
      if (!followed.isFollowed() && ranks.all().contains(part.job())) {
        exchange.offer(offer);
        state = "the other nodes' offers are waited for";
      }
    }
  }

  private synchronized void takeBack(String why) {
    exchange.withdraw();
    rejection = null;
    state = why;
  }

  /** Begins a plan if all have offered the same, and ends it if they do not any more. */
  private void agree() {
    Offers now;
    RankJob job;
    synchronized (this) {
      now = exchange.offers();
      if (now == null || ranks.isEmpty()) {
        return;
      }
      if (agreed != null) {
        leaveIf(now.changeSince(agreed));
        return;
      }
      job = ranks.any();
      if (now.mine().epoch() != job.epoch()) {
        return;
      }
      if (rejection != null && now.changeSince(rejection.offers).isEmpty()) {
        state = rejection.why;
        return;
      }
    }
    PlanMaker maker = new PlanMaker(now, job);
    String why = maker.objection();
    if (why.isEmpty()) {
      begin(now, maker.make());
      return;
    }
    synchronized (this) {
      rejection = new Rejection(now, why);
      state = why;
    }
  }

  private void begin(Offers made, ActivePlan begun) {
    // also if no plan begins after all: the next daemon looks for strays in vain
    followed.mark(made.members().size());
    synchronized (this) {
      boolean isAsBefore =
          exchange.areNodesAndOwn(made)
              && !followed.isFollowed()
              && ranks.begin(made.mine().epoch());
      if (!isAsBefore) {
        return;
      }
      ranks.all().forEach(each -> begun.opened(each.rank(), each.epoch(), each.position()));
      followed.begin(begun);
      agreed = made;
      made.forgetTexts();
      state = "followed";
    }
    int world = made.mine().world();
    log.info("the order of {} ranks on {} nodes is planned", world, made.members().size());
    tellPeers();
  }

  /** Ends the plan, if there is one. The thread of {@link #tick} tells the log and the peers. */
  private synchronized void leave(String why) {
    ActivePlan plan = followed.end();
    if (plan != null) {
      backOff.ended(plan.hasFollowedAnEpoch(), ranks.epoch());
      ended = why;
    }
    agreed = null;
    takeBack(why);
  }

  private void leaveIf(String why) {
    if (!why.isEmpty()) {
      leave(why);
    }
  }

  private void tellEnd() {
    String why;
    synchronized (this) {
      why = ended;
      ended = "";
    }
    if (!why.isEmpty()) {
      log.info("the plan of the nodes ends: {}", why);
      tellPeers();
    }
  }

  private void tellPeers() {
    PlanPeers all = peers;
    if (all != null) {
      all.planChanged();
    }
  }
}
