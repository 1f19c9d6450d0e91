package io.holdfast.fs.peers;

import io.holdfast.fs.OutOfMemory;
import io.holdfast.fs.origin.Origin;
import io.holdfast.fs.plan.PlanPeers;
import io.holdfast.fs.plan.PlannedItem;
import io.holdfast.fs.plan.Plans;
import io.holdfast.fs.residency.Residency;
import io.holdfast.fs.transit.Item;
import io.holdfast.fs.transit.ItemLayout;
import io.holdfast.fs.transit.PeerSource;
import io.holdfast.fs.transit.Transit;
import io.holdfast.fs.tree.Tree;
import io.holdfast.fs.units.Human;
import io.holdfast.peer.ClusterNode;
import io.holdfast.peer.ClusterSecret;
import io.holdfast.peer.Credentials;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.PeerSetupException;
import io.holdfast.peer.View;
import io.holdfast.peer.membership.Discovery;
import io.holdfast.peer.membership.JGroupsMembership;
import io.holdfast.peer.membership.Membership;
import io.holdfast.peer.transfer.Transfer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;
import java.util.function.DoubleConsumer;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This node's link to its peers: membership, transfer, and their connection to the mount. Built in
 * two steps, since transit needs the source before there is anything to serve. Thread-safe.
 */
public final class PeerLink implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(PeerLink.class);

  /** Membership listens on the next port. */
  private static final int MEMBERSHIP_PORT_OFFSET = 1;

  /** The answer of one peer must begin within this part of the time that a read may take. */
  private static final int ANSWER_SHARE = 4;

  /** All bytes of one peer must be here within this part of that time. */
  private static final int TOTAL_SHARE = 3;

  private static final Duration LONGEST_ANSWER = Duration.ofMinutes(1);

  private static final Duration LONGEST_TOTAL = Duration.ofSeconds(80);

  private static final Duration START_PAUSE = Duration.ofSeconds(2);

  private final PeerSettings settings;
  private final Credentials credentials;
  private final Cluster cluster;
  private final Residency residency;
  private final FormerOwners formerOwners;
  private final Agreement agreement;
  private final AgreedAsking asking;
  private final Threads threads;
  private final DoubleConsumer shareChanged;
  private final Plans plans;
  private volatile @Nullable Transfer transfer;
  private volatile @Nullable Membership membership;
  private volatile boolean closed;

  /**
   * Prepares the link, without contact to peers yet.
   *
   * @param capacityBytes bytes that this node's residents may take
   * @param shareChanged learns the share of all items that this node owns, whenever it changes
   * @throws PeerSetupException where the secret cannot be used
   */
  public PeerLink(
      PeerSettings settings,
      long capacityBytes,
      Local local,
      Threads threads,
      DoubleConsumer shareChanged)
      throws PeerSetupException {
    this.settings = settings;
    Path secret = settings.secretFile();
    credentials =
        new Credentials(secret == null ? null : ClusterSecret.read(secret), settings.tls());
    cluster = new Cluster(new ClusterNode(settings.listen(), settings.dataset(), capacityBytes));
    this.residency = local.residency;
    this.threads = threads;
    this.shareChanged = shareChanged;
    agreement =
        new Agreement(
            settings.dataset().id(),
            settings.listen(),
            new Agreement.Parts(
                new OwnSketch(new SketchMaker(local.origin, System::nanoTime), System::nanoTime),
                threads.sketching(),
                System::nanoTime,
                shorter(Agreement.LONGEST_WAIT, settings.sourceTimeout().dividedBy(ANSWER_SHARE))),
            peer -> AgreedAsking.sketch(transfer, peer),
            this::agreementChanged);
    asking = new AgreedAsking(agreement, () -> transfer);
    formerOwners = new FormerOwners(residency, asking::held);
    plans = local.plans;
    plans.peers(
        new PlanPeers() {
          @Override
          public CompletableFuture<Answer> offer(String peer, String known, int longest) {
            return cluster
                .at(peer)
                .map(address -> asking.plan(address, known, longest))
                .orElse(CompletableFuture.completedFuture(Answer.NONE));
          }

          @Override
          public boolean isPlacedHere(Item item) {
            Cluster.Place place = cluster.place(item);
            return place.isOwn() || place.isNext() || !residency.isLeftToPolicy(item);
          }

          @Override
          public void planChanged() {
            formerOwners.viewChanged();
          }
        });
  }

  /**
   * The threads of the link.
   *
   * @param asking run fetches, before a peer is asked and after it has answered
   * @param names look names up for peers, and may wait for the origin
   * @param sketching compares datasets, and may wait for the origin; a single thread
   */
  public record Threads(Executor asking, Executor names, Executor sketching) {}

  /**
   * This node's data.
   *
   * @param origin the origin of the dataset
   * @param residency the residents
   * @param plans what the nodes do whose orders are known
   */
  public record Local(Origin origin, Residency residency, Plans plans) {}

  /** Joins the cluster: for the first time, or again. */
  private interface Joining {
    Membership join(JGroupsMembership.Config config) throws PeerSetupException;
  }

  /** Returns the source that transit asks before the origin. */
  public PeerSource source() {
    return new ClusterSource(
        settings.dataset(),
        cluster,
        residency,
        asking,
        formerOwners,
        plans.planned(),
        threads.asking());
  }

  /** Tells whether this node may keep an item. */
  public boolean mayAdmit(Item item) {
    PlannedItem planned = plans.planned().find(item);
    boolean keeps = planned == null ? cluster.isOwn(item) : planned.keeps();
    return keeps || !residency.isLeftToPolicy(item.path().get());
  }

  /**
   * Starts to answer peers and to look for them.
   *
   * @throws PeerSetupException where that is impossible, with one line
   */
  public void start(Tree tree, ItemLayout layout, Transit transit) throws PeerSetupException {
    start(tree, layout, transit, JGroupsMembership::join);
  }

  private synchronized void start(Tree tree, ItemLayout layout, Transit transit, Joining way)
      throws PeerSetupException {
    if (closed || membership != null) {
      return;
    }
    PeerService service =
        new PeerService(
            cluster, tree, layout, transit, residency, plans.planned(), threads.names());
    Transfer serving =
        Transfer.start(
            new Transfer.Config(
                settings.listen(),
                settings.dataset(),
                credentials,
                deadlines(settings.sourceTimeout()),
                Transfer.Limits.DEFAULT),
            new AgreedService(agreement, service, plans::ownOffer));
    transfer = serving; // before joining: a peer that has joined may ask, and is asked in turn
    Membership joining;
    try {
      joining = way.join(config());
    } catch (PeerSetupException | RuntimeException | Error e) {
      transfer = null;
      serving.close();
      throw e;
    }
    membership = joining;
    joining.listen(this::update);
    update(joining.view());
  }

  /**
   * Returns the deadlines for peers. Two nodes may be asked for an item, one after the other, and
   * the origin needs time afterwards, before the reader's own deadline. So neither of them has more
   * than a third of it, whatever it sends.
   *
   * @param sourceTimeout how long a read waits
   */
  static Transfer.Deadlines deadlines(Duration sourceTimeout) {
    Transfer.Deadlines usual = Transfer.Deadlines.DEFAULT;
    Duration answer = sourceTimeout.dividedBy(ANSWER_SHARE);
    return new Transfer.Deadlines(
        usual.connect(),
        shorter(usual.progress(), answer),
        shorter(LONGEST_ANSWER, answer),
        shorter(LONGEST_TOTAL, sourceTimeout.dividedBy(TOTAL_SHARE)));
  }

  private static Duration shorter(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
  }

  /**
   * Retries {@link #start} until it succeeds, for a mount that is already in use. Meanwhile all
   * items come from the origin.
   */
  public void keepStarting(Tree tree, ItemLayout layout, Transit transit) {
    while (!closed) {
      try {
        if (hasStarted(tree, layout, transit)) {
          return;
        }
      } catch (OutOfMemoryError e) {
        OutOfMemory.tell(e);
      }
      LockSupport.parkNanos(START_PAUSE.toNanos());
    }
  }

  private boolean hasStarted(Tree tree, ItemLayout layout, Transit transit) {
    try {
      start(tree, layout, transit, JGroupsMembership::joinAgain);
      return true;
    } catch (PeerSetupException | RuntimeException e) {
      log.error("no peers yet, trying again: {}", e.getMessage());
      return false;
    }
  }

  private JGroupsMembership.Config config() {
    return new JGroupsMembership.Config(
        cluster.view().self(),
        settings.listen().at(settings.listen().port() + MEMBERSHIP_PORT_OFFSET),
        settings.discovery(),
        credentials,
        MEMBERSHIP_PORT_OFFSET);
  }

  /**
   * Announces another capacity of this node. A member's capacity is a part of its name, so this
   * node leaves the cluster and joins again; meanwhile it keeps the nodes that it knows. May wait
   * for seconds. Of calls that wait for one another, the last one announces what holds then.
   *
   * @param capacity bytes that this node's residents may take now
   */
  public synchronized void capacityChanged(LongSupplier capacity) {
    long bytes = capacity.getAsLong();
    if (bytes == cluster.view().self().capacityBytes()) {
      return; // a call that came first has announced it
    }
    Membership before = membership;
    if (before != null) {
      before.close(); // so that it delivers no more views
    }
    cluster.resized(new ClusterNode(settings.listen(), settings.dataset(), bytes));
    if (before == null) {
      return; // start() will join with the new capacity
    }
    Membership now = joinAgain();
    if (now != null) {
      membership = now;
      now.listen(this::update);
      if (now.view().version() > 0) {
        update(now.view()); // it came before this node listened
      }
    }
  }

  /** Joins as soon as that is possible; returns null if this link is closed before. */
  private @Nullable Membership joinAgain() {
    while (!closed) {
      try {
        Membership joined = joinOrTell();
        if (joined != null) {
          return joined;
        }
      } catch (OutOfMemoryError e) {
        OutOfMemory.tell(e);
      }
      LockSupport.parkNanos(START_PAUSE.toNanos());
    }
    return null;
  }

  private @Nullable Membership joinOrTell() {
    try {
      return JGroupsMembership.joinAgain(config());
    } catch (PeerSetupException | RuntimeException e) {
      log.error("cannot join again, and tries on: {}", e.getMessage());
      return null;
    }
  }

  /**
   * Takes a view. Also called with the first view, which may be older than the one that the
   * listener got.
   */
  private void update(View view) {
    synchronized (cluster) {
      if (cluster.update(view)) {
        taken(view);
      }
    }
  }

  private void taken(View view) {
    formerOwners.viewChanged();
    Set<NodeAddress> others =
        view.sharing().stream()
            .map(ClusterNode::address)
            .filter(address -> !address.equals(settings.listen()))
            .collect(Collectors.toSet());
    Transfer running = transfer;
    if (running != null) {
      running.peers(others);
      agreement.peers(others);
    }
    cluster.leaveOut(agreement.others());
    shareChanged.accept(cluster.share(view.self()));
    planned();
    log.info(
        "view {}: {} nodes, {} of them with {}",
        view.version(),
        view.nodes().size(),
        others.size() + 1,
        settings.dataset());
    view.nodes().stream()
        .filter(node -> node.dataset().id().equals(settings.dataset().id()))
        .filter(node -> !node.dataset().equals(settings.dataset()))
        .forEach(
            node ->
                log.warn(
                    "{} has {}: it shares nothing with this node, which has {}",
                    node.address(),
                    node.dataset(),
                    settings.dataset()));
  }

  /**
   * Waits for the configured peers.
   *
   * @return a line for the user
   */
  public String await(Duration longest) {
    Membership joining = membership;
    boolean complete = false;
    try {
      complete = joining != null && joining.await(longest);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    // not the cluster's view, which another thread may be about to update
    View newest = joining == null ? cluster.view() : joining.view();
    int there = newest.nodes().size();
    awaitComparisons(newest);
    if (settings.discovery() instanceof Discovery.Addresses named && !complete) {
      return "%d of the nodes are there, %s were named: going on, the others may join later"
          .formatted(there, named);
    }
    return Human.count(there, "node") + (there == 1 ? " is there" : " are there");
  }

  /** Waits for the first comparisons, so that readers need not. */
  private void awaitComparisons(View with) {
    CompletableFuture<?>[] verdicts =
        with.sharing().stream()
            .map(ClusterNode::address)
            .filter(address -> !address.equals(settings.listen()))
            .map(agreement::with)
            .toArray(CompletableFuture<?>[]::new);
    CompletableFuture.allOf(verdicts).join(); // each completes in a bounded time
  }

  private void agreementChanged() {
    synchronized (cluster) {
      if (cluster.leaveOut(agreement.others())) {
        formerOwners.viewChanged();
        shareChanged.accept(cluster.share(cluster.view().self()));
        planned();
      }
    }
  }

  /** Tells the plan which nodes there are, with this one first. */
  private void planned() {
    List<String> members = new ArrayList<>();
    members.add(settings.listen().toString());
    cluster.sharing().stream()
        .map(node -> node.address().toString())
        .filter(address -> !members.contains(address))
        .forEach(members::add);
    plans.view(members);
  }

  /** Does what is due; called several times a second. */
  public void tick() {
    plans.tick();
    formerOwners.tick();
    agreement.tick();
  }

  /** Returns the current figures. */
  public PeersReport report() {
    Transfer running = transfer;
    Membership joined = membership;
    if (running == null || joined == null) {
      return new PeersReport(settings, cluster, residency, PeersReport.Counts.NONE, agreement);
    }
    Map<String, Long> refusals = new TreeMap<>(running.refusals());
    if (joined.refusals() > 0) {
      refusals.put("membership", joined.refusals());
    }
    return new PeersReport(
        settings,
        cluster,
        residency,
        new PeersReport.Counts(running.figures(), running.errors(), refusals),
        agreement);
  }

  /** Leaves the cluster. */
  @Override
  public void close() {
    closed = true;
    closeParts();
  }

  private synchronized void closeParts() {
    if (membership != null) {
      membership.close();
    }
    if (transfer != null) {
      transfer.close();
    }
  }
}
