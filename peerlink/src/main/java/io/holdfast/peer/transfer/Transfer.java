package io.holdfast.peer.transfer;

import io.holdfast.peer.Credentials;
import io.holdfast.peer.Dataset;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.PeerSetupException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * This node's data plane: answers peers and asks them. Thread-safe. Nothing but {@link #start}
 * throws for what the network does.
 */
// a write that fails ends its connection, and that is heard of
@SuppressWarnings("FutureReturnValueIgnored")
public final class Transfer implements AutoCloseable {
  private static final int CLOSE_SECONDS = 5;

  private final EventLoops loops;
  private final Refusals refusals = new Refusals(System::nanoTime);
  private final ItemClient client;
  private final ItemServer server;

  /**
   * What a data plane is made from.
   *
   * @param listen the address that peers name this node with; no other is bound
   * @param dataset what is served
   * @param credentials how nodes prove that they are of the cluster
   * @param deadlines of this node's requests
   * @param limits of what peers and strangers may take
   */
  public record Config(
      NodeAddress listen,
      Dataset dataset,
      Credentials credentials,
      Deadlines deadlines,
      Limits limits) {}

  /**
   * How long this node waits for a peer.
   *
   * @param connect for a connection, the name's look-up included
   * @param progress for the next byte, whatever it belongs to; and for a head, and each half MiB of
   *     a body or what is left of it
   */
  public record Deadlines(Duration connect, Duration progress) {
    /** What is waited where nothing else is said. */
    public static final Deadlines DEFAULT =
        new Deadlines(Duration.ofSeconds(1), Duration.ofSeconds(2));
  }

  /**
   * What peers and strangers may take of this node.
   *
   * @param connections at once
   * @param unauthenticated connections among these whose other side proved nothing yet
   * @param sends items that are being fetched or sent for peers at once
   */
  public record Limits(int connections, int unauthenticated, int sends) {
    /** What is allowed where nothing else is said. */
    public static final Limits DEFAULT = new Limits(4096, 256, 256);
  }

  private Transfer(Identity identity, Config config, ItemProvider provider) {
    loops = EventLoops.start();
    client = new ItemClient(identity, config.deadlines(), loops, refusals);
    server =
        new ItemServer(
            identity,
            provider,
            config.limits(),
            refusals,
            (to, bytes) -> client.peer(to).health().sent(bytes));
  }

  /**
   * Starts to answer, and to be able to ask.
   *
   * @throws PeerSetupException where the address is unknown, no address of this machine or taken,
   *     or the certificates cannot be used
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
    return start(config, provider, address);
  }

  /** Listens at another address than the one that peers use. */
  static Transfer start(Config config, ItemProvider provider, InetSocketAddress address)
      throws PeerSetupException {
    Identity identity = Identity.of(config.listen(), config.dataset(), config.credentials());
    Transfer transfer = new Transfer(identity, config, provider);
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
   * Asks a peer for an item or a part of one.
   *
   * @param sketches of this node's dataset and that peer's, as they were compared
   * @param address of native memory that has room for the bytes wanted; nothing is written there
   *     once the future is complete, and it may hold anything unless they were fetched
   * @return the outcome, never exceptional. It is completed by an event loop, so what depends on it
   *     must not wait.
   */
  public CompletableFuture<Outcome> fetch(
      NodeAddress peer, Sketches sketches, ItemRequest request, long address) {
    return client.fetch(peer, sketches, request, address);
  }

  /** Tells a former owner that this node holds an item now. Best effort. */
  public void held(NodeAddress peer, Sketches sketches, ItemRequest request) {
    client.held(peer, sketches, request);
  }

  /** Asks a peer for the sketch of its dataset. Never exceptional; completed by an event loop. */
  public CompletableFuture<Told> sketch(NodeAddress peer) {
    return client.sketch(peer);
  }

  /**
   * Learns which peers there are now. Others are forgotten: their connections are closed, and what
   * was asked of them ends with a fault.
   */
  public void peers(Set<NodeAddress> peers) {
    client.retain(peers);
  }

  /** Returns what is known of each peer. */
  public List<PeerFigures> figures() {
    return client.figures();
  }

  /** Returns how often asking a peer failed since the start, also of those that are gone. */
  public long errors() {
    return client.errors().sum();
  }

  /** Returns how often something was refused since the start, by reason. */
  public Map<String, Long> refusals() {
    return refusals.counts();
  }

  /** Ends all connections and threads; what is under way ends with a fault. */
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
