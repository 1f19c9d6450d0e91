package io.holdfast.peer.transfer;

import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.PeerSetupException;
import io.holdfast.peer.SharedDataset;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.handler.ssl.SslHandler;
import java.net.InetSocketAddress;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.crypto.SecretKey;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import org.jspecify.annotations.Nullable;

/**
 * Answers peers: listens at one address, and bounds the resources that strangers can take.
 * Thread-safe.
 */
// a failed write closes its connection, which reports it
@SuppressWarnings("FutureReturnValueIgnored")
final class ItemServer implements AutoCloseable {
  private static final int LONGEST_LINE = 16 << 10;
  private static final int LONGEST_HEADERS = 8 << 10;
  private static final int LARGEST_READ = 16 << 10;
  private static final int BACKLOG = 1024;
  private static final int REMEMBERED_NONCES = 4096;

  private final Identity identity;
  private final ItemProvider provider;
  private final Transfer.Limits limits;
  private final Transfer.Deadlines deadlines;
  private final RejectedRequests refusals;
  private final Sent sent;
  private final Permits sends;
  private final Permits places;
  private final Set<Channel> connections = ConcurrentHashMap.newKeySet();
  private @Nullable Channel listener;

  /** Guards the two fields below; a leaf lock. */
  private final Object lock = new Object();

  private final Set<Channel> strangers = new LinkedHashSet<>();
  private final Map<String, Boolean> nonces =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
          return size() > REMEMBERED_NONCES;
        }
      };

  /** Counts the bytes that were sent. */
  interface Sent {
    void sent(NodeAddress to, int bytes);
  }

  ItemServer(
      Identity identity,
      ItemProvider provider,
      Transfer.Config config,
      RejectedRequests refusals,
      Sent sent) {
    this.identity = identity;
    this.provider = provider;
    this.limits = config.limits();
    sends = new Permits(limits.sends(), limits.ofNode().sends());
    places = new Permits(limits.connections(), limits.ofNode().connections());
    this.deadlines = config.deadlines();
    this.refusals = refusals;
    this.sent = sent;
  }

  /** Begins to listen. */
  void bind(EventLoops loops, InetSocketAddress address) throws PeerSetupException {
    ChannelFuture bound =
        new ServerBootstrap()
            .group(loops.group())
            .channel(loops.serverChannel())
            .option(ChannelOption.SO_BACKLOG, BACKLOG)
            .option(ChannelOption.SO_REUSEADDR, true)
            .childOption(ChannelOption.AUTO_READ, false)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childOption(ChannelOption.SO_KEEPALIVE, true)
            .childOption(
                ChannelOption.RECVBUF_ALLOCATOR,
                new AdaptiveRecvByteBufAllocator(512, 1024, LARGEST_READ).maxMessagesPerRead(1))
            .childHandler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    accept(channel);
                  }
                })
            .bind(address)
            .awaitUninterruptibly();
    if (!bound.isSuccess()) {
      throw cannotListen(address, bound.cause());
    }
    listener = bound.channel();
  }

  private PeerSetupException cannotListen(InetSocketAddress address, Throwable cause) {
    String message = String.valueOf(cause.getMessage());
    String listen = identity.name().toString();
    if (message.contains("already in use")) {
      return new PeerSetupException(
          "cannot listen at %s: another process uses port %d; stop it or name another port"
              .formatted(listen, address.getPort()),
          cause);
    }
    if (message.contains("assign requested address")) {
      return new PeerSetupException(
          "cannot listen at %s: that is no address of this machine; name the one that peers use"
              .formatted(listen),
          cause);
    }
    return new PeerSetupException("cannot listen at %s: %s".formatted(listen, message), cause);
  }

  /** Adds the handlers of a connection, unless there are too many connections. */
  void accept(Channel channel) {
    if (connections.size() >= limits.connections()) {
      refuse(
          RejectedRequests.TOO_MANY, channel.remoteAddress(), "more connections than are allowed");
      channel.close();
      return;
    }
    connections.add(channel);
    makeRoomFor(channel);
    channel.closeFuture().addListener(any -> forget(channel));
    ChannelPipeline pipeline = channel.pipeline();
    SSLContext tls = identity.tls();
    if (tls != null) {
      SSLEngine engine = tls.createSSLEngine();
      engine.setUseClientMode(false);
      engine.setNeedClientAuth(true);
      engine.setEnabledProtocols(Identity.protocols());
      pipeline.addLast(new SslHandler(engine));
    }
    pipeline.addLast(
        new HttpRequestDecoder(
            new HttpDecoderConfig()
                .setMaxInitialLineLength(LONGEST_LINE)
                .setMaxHeaderSize(LONGEST_HEADERS)
                .setInitialBufferSize(256)),
        new HttpResponseEncoder(),
        new ServerConnection(this));
  }

  /** Adds an unauthenticated connection, and closes the oldest one if there are too many. */
  private void makeRoomFor(Channel channel) {
    Channel oldest = null;
    synchronized (lock) {
      strangers.add(channel);
      if (strangers.size() > limits.unauthenticated()) {
        oldest = strangers.iterator().next();
        strangers.remove(oldest);
      }
    }
    if (oldest != null) {
      refuse(RejectedRequests.TOO_MANY, oldest.remoteAddress(), "more strangers than are allowed");
      oldest.close();
    }
  }

  private void forget(Channel channel) {
    connections.remove(channel);
    authenticated(channel);
  }

  void authenticated(Channel channel) {
    synchronized (lock) {
      strangers.remove(channel);
    }
  }

  /** Records a nonce; returns whether no client has used it lately. */
  boolean isFresh(String nonce) {
    synchronized (lock) {
      return nonces.put(nonce, true) == null;
    }
  }

  void refuse(String reason, Object who, String detail) {
    refusals.count(reason, who, detail);
  }

  /** Returns the permits to answer requests for items and texts. */
  Permits sends() {
    return sends;
  }

  /** Returns the permits to have an authenticated connection. */
  Permits places() {
    return places;
  }

  Transfer.Deadlines deadlines() {
    return deadlines;
  }

  void sent(NodeAddress to, int bytes) {
    sent.sent(to, bytes);
  }

  ItemProvider provider() {
    return provider;
  }

  SharedDataset dataset() {
    return identity.dataset();
  }

  NodeAddress name() {
    return identity.name();
  }

  boolean hasSecret() {
    return identity.key() != null;
  }

  SecretKey key() {
    SecretKey key = identity.key();
    if (key == null) {
      throw new IllegalStateException("no secret");
    }
    return key;
  }

  @Override
  public void close() {
    if (listener != null) {
      listener.close().awaitUninterruptibly();
    }
    connections.forEach(Channel::close);
  }
}
