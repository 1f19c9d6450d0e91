package io.holdfast.peer.transfer;

import io.holdfast.peer.Credentials;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.PeerSetupException;
import io.holdfast.peer.SharedDataset;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * This node's data plane: answers peers and sends requests to them. Thread-safe. Only {@link
 * #start} throws because of the network.
 */
// a failed write closes its connection, which reports it
@SuppressWarnings("FutureReturnValueIgnored")
public final class Transfer implements AutoCloseable {
  private static final int CLOSE_SECONDS = 5;

  private final EventLoops loops;
  private final RejectedRequests refusals = new RejectedRequests(System::nanoTime);
  private final ItemClient client;
  private final ItemServer server;

  /**
   * The configuration of a data plane.
   *
   * @param listen the address by which peers name this node; no other is bound
   * @param dataset the dataset that this node serves
   * @param credentials authenticate this node and its peers
   * @param deadlines deadlines of this node's requests
   * @param limits limits on peers and strangers
   */
  public record Config(
      NodeAddress listen,
      SharedDataset dataset,
      Credentials credentials,
      Deadlines deadlines,
      Limits limits) {}

  /**
   * The deadlines for a peer.
   *
   * @param connect for a connection, including DNS. After a quarter of it, the last known address
   *     is used
   * @param progress for the next byte of any kind; also for a head, and for each half MiB of a body
   *     or the rest of it
   * @param answer for the head of an answer, however many interim answers precede it: the asker has
   *     another source, which needs time as well. A body that keeps arriving is not bounded by this
   * @param total for all of a request, from the question to the last byte, however it goes on
   *     meanwhile; more than {@code answer}
   */
  public record Deadlines(Duration connect, Duration progress, Duration answer, Duration total) {
    /** The default deadlines. */
    public static final Deadlines DEFAULT =
        new Deadlines(
            Duration.ofSeconds(1),
            Duration.ofSeconds(2),
            Duration.ofSeconds(15),
            Duration.ofSeconds(20));

    /** Returns how long a lookup of a name takes before the last address is used. */
    Duration lookup() {
      return connect.dividedBy(4);
    }

    /**
     * Returns how long a request waits for its turn. A request that gets its turn in this time
     * leaves the peer all of {@code answer}: a peer that is well does not seem to be too slow.
     */
    Duration turn() {
      Duration left = total.minus(answer);
      return left.compareTo(progress) < 0 ? left : progress;
    }

    /**
     * Returns the time after which a refusal has kept its asker too long from the asker's own
     * origin.
     */
    Duration slowRefusal() {
      Duration part = answer.dividedBy(6);
      return part.compareTo(progress) < 0 ? part : progress;
    }

    /**
     * Returns how long this node makes an asker wait for an item that it must fetch. A node that
     * refuses within the asker's deadline has no fault.
     */
    Duration refusal() {
      return answer.multipliedBy(2).dividedBy(3);
    }
  }

  /**
   * The limits on the resources that peers and strangers may take.
   *
   * @param connections connections at once
   * @param unauthenticated connections among them that are unauthenticated
   * @param sends items that are fetched or sent for peers at once
   * @param ofNode the most of these that one node may take
   */
  public record Limits(int connections, int unauthenticated, int sends, OfNode ofNode) {
    /** The default limits. */
    public static final Limits DEFAULT = new Limits(4096, 256, 256, new OfNode(128, 64));

    /**
     * The limits on one node, by the name that it has proved. A node asks for 64 items at once at
     * most, over as many connections, and its closed ones go a little later.
     *
     * @param connections authenticated connections at once
     * @param sends items that are fetched or sent for it at once
     */
    public record OfNode(int connections, int sends) {}
  }

  private Transfer(Identity identity, Config config, ItemProvider provider, Resolver resolver) {
    loops = EventLoops.start();
    client = new ItemClient(identity, config.deadlines(), loops, refusals, resolver);
    server =
        new ItemServer(
            identity,
            provider,
            config,
            refusals,
            (to, bytes) -> client.peer(to).health().sent(bytes));
  }

  /**
   * Starts to listen for requests.
   *
   * @throws PeerSetupException where the address is unknown, taken, or not of this machine, or the
   *     certificates cannot be used
   */
  public static Transfer start(Config config, ItemProvider provider) throws PeerSetupException {
    InetSocketAddress address = config.listen().resolve();
    if (address.isUnresolved()) {
      throw new PeerSetupException(
          "cannot listen at %s: the name '%s' is not known; name an address of this machine"
              .formatted(config.listen(), config.listen().host()));
    }
    if (address.getAddress().isAnyLocalAddress()) {
      throw new PeerSetupException(
          "cannot listen at %s: peers cannot use that as an address; name the one that they use"
              .formatted(config.listen()));
    }
    return start(config, provider, address, NodeAddress::resolve);
  }

  /**
   * Listens at another address than the one that peers use.
   *
   * @param lookup looks the names of peers up
   */
  static Transfer start(
      Config config,
      ItemProvider provider,
      InetSocketAddress address,
      Function<NodeAddress, InetSocketAddress> lookup)
      throws PeerSetupException {
    Identity identity = Identity.of(config.listen(), config.dataset(), config.credentials());
    Transfer transfer = new Transfer(identity, config, provider, new Resolver(lookup));
    boolean listening = false;
    try {
      transfer.server.bind(transfer.loops, address);
      listening = true;
      return transfer;
    } finally {
      if (!listening) {
        transfer.close();
      }
    }
  }

  /**
   * Requests an item, or a part of one, from a peer.
   *
   * @param sketches the compared sketches of this node's dataset and the peer's
   * @param address native memory for the requested bytes; no byte is written there after the
   *     answer, nor where this method fails, and the content is undefined unless they were fetched
   * @param answered takes the result, once, on an event loop, so it must not wait; not called where
   *     this method fails
   */
  public void fetch(
      NodeAddress peer,
      Sketches sketches,
      ItemRequest request,
      long address,
      Consumer<TransferResult> answered) {
    client.fetch(peer, sketches, request, address, answered);
  }

  /** Tells a former owner that this node holds an item now. Best effort. */
  public void held(NodeAddress peer, Sketches sketches, ItemRequest request) {
    client.held(peer, sketches, request);
  }

  /** Requests the sketch of a peer's dataset. Never exceptional; an event loop completes it. */
  public CompletableFuture<Told> sketch(NodeAddress peer) {
    return client.sketch(peer);
  }

  /**
   * Requests a peer's offer of a plan. Never exceptional; an event loop completes it.
   *
   * @param known names the peer's last offer, which does not travel again; empty if there is none
   * @param longest the most letters that are kept of an offer, and one more
   */
  public CompletableFuture<Told> plan(NodeAddress peer, String known, int longest) {
    return client.plan(peer, known, longest);
  }

  /**
   * Sets the current peers. Other peers are forgotten: their connections are closed, and requests
   * to them end with a fault.
   */
  public void peers(Set<NodeAddress> peers) {
    client.retain(peers);
  }

  /** Returns the figures of each peer. */
  public List<PeerFigures> figures() {
    return client.figures();
  }

  /**
   * Returns how many requests to peers have failed since the start, including peers that are gone.
   */
  public long errors() {
    return client.errors().sum();
  }

  /** Returns how many requests and connections were rejected since the start, by reason. */
  public Map<String, Long> refusals() {
    return refusals.counts();
  }

  /** Ends all connections and threads; requests in flight end with a fault. */
  @Override
  public void close() {
    server.close();
    client.close();
    loops
        .group()
        .shutdownGracefully(0, CLOSE_SECONDS, TimeUnit.SECONDS)
        .awaitUninterruptibly(CLOSE_SECONDS, TimeUnit.SECONDS);
  }
}
