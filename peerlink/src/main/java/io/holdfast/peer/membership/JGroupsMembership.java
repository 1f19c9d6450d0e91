package io.holdfast.peer.membership;

import io.holdfast.peer.ClusterNode;
import io.holdfast.peer.Credentials;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.PeerSetupException;
import io.holdfast.peer.View;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jgroups.JChannel;
import org.jgroups.Receiver;
import org.jgroups.util.ExtendedUUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Membership by JGroups over TCP. Every connection is mutual TLS, with the configured certificates,
 * with one that is derived from the cluster secret, or with both. A node of another cluster is
 * refused and counted before JGroups sees its connection. Thread-safe.
 *
 * <p>Views lose a member whose process has ended within some seconds, and a silent member within
 * about ten. When a partitioned network is whole again, the views are whole within about ten
 * seconds.
 */
public final class JGroupsMembership implements Membership {
  private static final Logger log = LoggerFactory.getLogger(JGroupsMembership.class);
  private static final Duration LONGEST_HANDSHAKE = Duration.ofSeconds(3);
  private static final String TELLER = "membership-events";
  private static final long RETRY_MILLIS = 2000;
  private static final Duration LONGEST_JOIN = Duration.ofSeconds(1);
  private static final Duration LONGEST_TELL = Duration.ofSeconds(5);

  private final ClusterNode self;
  private final List<NodeAddress> named;
  private final RejectedConnections refusals;
  private final MutualTls tls;
  private final ProvenServerSocket server;
  private final SilentHosts silent;
  private final JChannel channel;
  private final Thread joiner;
  private final ExecutorService events;
  private final List<Consumer<View>> listeners = new CopyOnWriteArrayList<>();

  /** Guards changes of the view, and so the order of events. A leaf lock. */
  private final ReentrantLock lock = new ReentrantLock();

  private final Condition changed = lock.newCondition();
  private volatile View view;

  /**
   * Whether a view has been published. The first one is, even if this node is alone in it: after it
   * has left and joined again, its listeners still know the nodes from before. Guarded by the lock.
   */
  private boolean published;

  private volatile boolean joined;
  private volatile boolean closed;

  /**
   * The configuration of a membership. Immutable.
   *
   * @param self this node
   * @param bind the address of this machine at which membership listens
   * @param discovery how peers are found
   * @param credentials authenticate this node and its peers
   * @param membershipPortOffset difference between a peer's membership port and its data-plane port
   */
  public record Config(
      ClusterNode self,
      NodeAddress bind,
      Discovery discovery,
      Credentials credentials,
      int membershipPortOffset) {}

  private JGroupsMembership(
      Config config, InetSocketAddress at, boolean every, ThreadFactory teller)
      throws PeerSetupException {
    self = config.self();
    events = Executors.newSingleThreadExecutor(teller);
    view = View.alone(self);
    named =
        config.discovery() instanceof Discovery.Addresses addresses
            ? List.copyOf(addresses.addresses())
            : List.of();
    var finder = PeerFinder.of(config.discovery(), config.membershipPortOffset(), every);
    refusals = new RejectedConnections(System::nanoTime);
    tls = MutualTls.of(config.credentials(), self.address().host(), LONGEST_HANDSHAKE);
    server = listen(config.bind(), at, tls, refusals);
    silent =
        new SilentHosts(
            () -> new ProvenSocket(tls, refusals, null), ClusterStack.CONNECT, System::nanoTime);
    boolean complete = false;
    try {
      channel = ClusterStack.channel(at, new ProvenSockets(tls, refusals, silent, server), finder);
      ExtendedUUID address = MemberAddress.of(self, System.currentTimeMillis());
      channel.setName(self.address().toString());
      channel.addAddressGenerator(() -> address);
      channel.setReceiver(
          new Receiver() {
            @Override
            public void viewAccepted(org.jgroups.View accepted) {
              publish(MemberAddress.nodes(accepted.getMembers(), self));
            }
          });
      joiner = new DaemonThreads("membership-joiner").newThread(this::connect);
      complete = true;
    } catch (Exception e) {
      throw new PeerSetupException("membership cannot be set up: " + e.getMessage(), e);
    } finally {
      if (!complete) {
        release();
      }
    }
  }

  /**
   * Listens, and begins to join; returns at once. Retries to join until it succeeds.
   *
   * @throws PeerSetupException where the settings cannot work on this machine
   */
  public static JGroupsMembership join(Config config) throws PeerSetupException {
    return join(config, true, new DaemonThreads(TELLER));
  }

  /**
   * Does as {@link #join(Config)}, for a node that has been a member before. Leaves out named peers
   * that do not resolve any more, as long as one does: they may have gone for good.
   *
   * @throws PeerSetupException where the settings do not work on this machine at present
   */
  public static JGroupsMembership joinAgain(Config config) throws PeerSetupException {
    return join(config, false, new DaemonThreads(TELLER));
  }

  /**
   * Does as {@link #join(Config)}.
   *
   * @param every whether each named peer must resolve; otherwise one of them is enough
   * @param teller makes the thread that tells views
   */
  static JGroupsMembership join(Config config, boolean every, ThreadFactory teller)
      throws PeerSetupException {
    InetSocketAddress at = config.bind().resolve();
    if (at.isUnresolved()) {
      throw new PeerSetupException(
          "this node's address %s does not resolve: check the name, or write its IP address"
              .formatted(config.bind()));
    }
    if (at.getAddress().isAnyLocalAddress()) {
      throw new PeerSetupException(
          "%s stands for all interfaces: write the one address that peers reach this node at"
              .formatted(config.bind()));
    }
    JGroupsMembership membership = new JGroupsMembership(config, at, every, teller);
    boolean joining = false;
    try {
      membership.joiner.start();
      joining = true;
    } finally {
      if (!joining) {
        membership.close();
      }
    }
    return membership;
  }

  private static ProvenServerSocket listen(
      NodeAddress name, InetSocketAddress at, MutualTls tls, RejectedConnections refusals)
      throws PeerSetupException {
    boolean listening = false;
    try {
      ProvenServerSocket server = new ProvenServerSocket(tls, refusals);
      try {
        server.setReuseAddress(true);
        server.bind(at);
        listening = true;
        return server;
      } finally {
        if (!listening) {
          server.close();
        }
      }
    } catch (BindException e) {
      throw new PeerSetupException(
          isOurs(at)
              ? "membership cannot listen at %s: another process does, or may not here (%s)"
                  .formatted(name, e.getMessage())
              : "membership cannot listen at %s: that is no address of this machine"
                  .formatted(name),
          e);
    } catch (IOException e) {
      throw new PeerSetupException(
          "membership cannot listen at %s: %s".formatted(name, e.getMessage()), e);
    } finally {
      if (!listening) {
        tls.close();
      }
    }
  }

  private static boolean isOurs(InetSocketAddress at) throws PeerSetupException {
    try {
      return at.getAddress().isLoopbackAddress()
          || NetworkInterface.getByInetAddress(at.getAddress()) != null;
    } catch (IOException e) {
      throw new PeerSetupException("this machine's addresses cannot be listed", e);
    }
  }

  private void connect() {
    while (!closed) {
      try {
        channel.connect(ClusterStack.GROUP);
        lock.lock();
        try {
          joined = true;
          changed.signalAll();
        } finally {
          lock.unlock();
        }
        return;
      } catch (Exception | OutOfMemoryError e) {
        if (!closed) {
          warn(e);
          retryLater();
        }
      }
    }
  }

  private static void warn(Throwable failure) {
    try {
      log.warn("cannot join the cluster, and tries again: {}", failure.toString());
    } catch (OutOfMemoryError e) {
      // there is no room for the line; the next attempt may have some
    }
  }

  private void retryLater() {
    try {
      Thread.sleep(RETRY_MILLIS);
    } catch (InterruptedException e) {
      log.debug("stops joining", e);
    }
  }

  private void publish(List<ClusterNode> nodes) {
    lock.lock();
    try {
      if (closed || (published && nodes.equals(view.nodes()))) {
        return;
      }
      View next = new View(view.version() + 1, self, nodes);
      // An executor without room throws. The view is as before then, and so the next call tells it.
      events.execute(() -> tell(next));
      published = true;
      view = next;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void tell(View next) {
    log.info("view {}: {} nodes", next.version(), next.nodes().size());
    for (Consumer<View> each : listeners) {
      if (closed) {
        return;
      }
      try {
        each.accept(next);
      } catch (RuntimeException e) {
        log.error("a listener failed on view {}", next.version(), e);
      }
    }
  }

  @Override
  public View view() {
    return view;
  }

  @Override
  public void listen(Consumer<View> listener) {
    listeners.add(listener);
  }

  @Override
  public boolean await(Duration longest) throws InterruptedException {
    long left = longest.toNanos();
    lock.lockInterruptibly();
    try {
      while (!closed && !isComplete()) {
        if (left <= 0) {
          return false;
        }
        left = changed.awaitNanos(left);
      }
      return !closed;
    } finally {
      lock.unlock();
    }
  }

  private boolean isComplete() {
    View now = view;
    return joined && named.stream().allMatch(each -> now.at(each).isPresent());
  }

  @Override
  public long refusals() {
    return refusals.count();
  }

  /** Returns the channel, for tests that cut it. */
  JChannel channel() {
    return channel;
  }

  @Override
  public void close() {
    lock.lock();
    try {
      if (closed) {
        return;
      }
      closed = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    joiner.interrupt();
    try {
      channel.close();
    } finally {
      release();
    }
    awaitThreads();
  }

  /** Waits for the thread that joins, and for a listener that is being told a view. */
  private void awaitThreads() {
    try {
      joiner.join(LONGEST_JOIN.toMillis());
      if (!events.awaitTermination(LONGEST_TELL.toMillis(), TimeUnit.MILLISECONDS)) {
        log.debug("a listener is still being told a view");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void release() {
    events.shutdown();
    silent.close();
    tls.close();
    try {
      server.close();
    } catch (IOException e) {
      log.debug("closing the socket that listens", e);
    }
  }
}
