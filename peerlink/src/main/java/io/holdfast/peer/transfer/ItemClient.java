package io.holdfast.peer.transfer;

import io.holdfast.peer.NodeAddress;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequestEncoder;
import io.netty.handler.codec.http.HttpResponseDecoder;
import io.netty.handler.ssl.SslHandler;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;

/** Sends requests to peers. Thread-safe. */
// a failed write closes its connection, which reports it
@SuppressWarnings("FutureReturnValueIgnored")
final class ItemClient implements AutoCloseable {
  private static final int LONGEST_LINE = 1 << 10;
  private static final int LONGEST_HEADERS = 8 << 10;
  private static final int LARGEST_PIECE = 1 << 20;

  private final Identity identity;
  private final Transfer.Deadlines deadlines;
  private final EventLoops loops;
  private final RejectedRequests refusals;
  private final Resolver resolver;
  private final Map<NodeAddress, Peer> peers = new ConcurrentHashMap<>();
  private final LongAdder errors = new LongAdder();
  private volatile boolean closed;

  ItemClient(
      Identity identity,
      Transfer.Deadlines deadlines,
      EventLoops loops,
      RejectedRequests refusals,
      Resolver resolver) {
    this.identity = identity;
    this.deadlines = deadlines;
    this.loops = loops;
    this.refusals = refusals;
    this.resolver = resolver;
  }

  void fetch(
      NodeAddress address,
      Sketches sketches,
      ItemRequest request,
      long memory,
      Consumer<TransferResult> answered) {
    ItemExchange exchange = new ItemExchange(HttpMethod.GET, sketches, request, memory);
    exchange.outcome.thenAccept(answered); // before the question: afterwards nothing may fail
    ask(address, exchange);
  }

  void held(NodeAddress address, Sketches sketches, ItemRequest request) {
    ask(address, new ItemExchange(HttpMethod.DELETE, sketches, request, 0));
  }

  CompletableFuture<Told> sketch(NodeAddress address) {
    return ask(address, TextExchange.sketch(identity.dataset()));
  }

  CompletableFuture<Told> plan(NodeAddress address, String known, int longest) {
    return ask(address, TextExchange.plan(identity.dataset(), known, longest));
  }

  private CompletableFuture<Told> ask(NodeAddress address, TextExchange exchange) {
    CompletableFuture<Told> told = exchange.told();
    ask(address, (Exchange) exchange);
    return told;
  }

  /** Asks a peer, or fails before. The outcome tells what fails afterwards. */
  private void ask(NodeAddress address, Exchange exchange) {
    if (closed) {
      exchange.fail("this node is closing");
    } else {
      peer(address).ask(exchange);
      if (closed) {
        forget(address);
      }
    }
  }

  /** Returns a peer, created at the first call. */
  Peer peer(NodeAddress address) {
    return peers.computeIfAbsent(address, any -> new Peer(address, this, loops.group().next()));
  }

  void retain(Set<NodeAddress> addresses) {
    for (NodeAddress each : List.copyOf(peers.keySet())) {
      if (!addresses.contains(each)) {
        forget(each);
      }
    }
    addresses.forEach(this::peer);
  }

  private void forget(NodeAddress address) {
    Peer peer = peers.remove(address);
    if (peer != null) {
      peer.close();
    }
  }

  List<PeerFigures> figures() {
    return peers.values().stream()
        .sorted((one, other) -> one.address().compareTo(other.address()))
        .map(each -> each.health().figures())
        .toList();
  }

  /** Returns the count of the faults of all peers, including forgotten ones. */
  LongAdder errors() {
    return errors;
  }

  Identity identity() {
    return identity;
  }

  Transfer.Deadlines deadlines() {
    return deadlines;
  }

  boolean hasTls() {
    return identity.tls() != null;
  }

  Class<? extends Channel> clientChannel() {
    return loops.clientChannel();
  }

  /** Records that a peer could not prove that it knows the cluster's secret. */
  void foreign(NodeAddress peer) {
    refusals.count(
        RejectedRequests.FOREIGN_CLUSTER, peer, "it does not know this cluster's secret");
  }

  Resolver resolver() {
    return resolver;
  }

  /** Adds the handlers of a connection. */
  void prepare(ChannelPipeline pipeline, NodeAddress address, ClientConnection connection) {
    SSLContext tls = identity.tls();
    if (tls != null) {
      SSLEngine engine = tls.createSSLEngine(address.host(), address.port());
      engine.setUseClientMode(true);
      SSLParameters parameters = engine.getSSLParameters();
      parameters.setEndpointIdentificationAlgorithm("HTTPS");
      parameters.setProtocols(Identity.protocols());
      engine.setSSLParameters(parameters);
      pipeline.addLast(new SslHandler(engine));
    }
    pipeline.addLast(
        new Progress(connection),
        new HttpResponseDecoder(
            new HttpDecoderConfig()
                .setMaxInitialLineLength(LONGEST_LINE)
                .setMaxHeaderSize(LONGEST_HEADERS)
                .setMaxChunkSize(LARGEST_PIECE)),
        new HttpRequestEncoder(),
        connection);
  }

  /** Tells a connection of each byte that arrives. */
  private static final class Progress extends ChannelInboundHandlerAdapter {
    private final ClientConnection connection;

    Progress(ClientConnection connection) {
      this.connection = connection;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
      connection.progress();
      ctx.fireChannelRead(message);
    }
  }

  @Override
  public void close() {
    closed = true;
    List.copyOf(peers.keySet()).forEach(this::forget);
    resolver.close();
  }
}
