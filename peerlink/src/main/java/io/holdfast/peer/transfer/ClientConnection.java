package io.holdfast.peer.transfer;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import java.net.InetSocketAddress;
import java.time.Duration;
import javax.crypto.SecretKey;
import org.jspecify.annotations.Nullable;

/**
 * The client's end of a connection: dials, authenticates, and then sends one request at a time.
 * Belongs to its peer's event loop. Any irregularity closes the connection.
 */
// a failed write closes its connection, which reports it
@SuppressWarnings("FutureReturnValueIgnored")
final class ClientConnection extends SimpleChannelInboundHandler<HttpObject> {
  private static final Duration IDLE = Duration.ofMinutes(1);

  /**
   * This part of a body, or the rest of it, must arrive within {@link
   * Transfer.Deadlines#progress()}: a peer on a lossy network may send a few bytes in time again
   * and again.
   */
  private static final int STEP = 512 << 10;

  private final Peer peer;
  private final String host;
  private final Alarm alarm;
  private State state = State.CONNECTING;
  private @Nullable Exchange exchange;
  private @Nullable Channel channel;
  private @Nullable AuthenticatedSession session;
  private String nonce = "";
  private @Nullable Sink sink;
  private boolean interim;
  private boolean keep;

  /** It has answered before, so the peer may have closed it since. */
  private boolean kept;

  /** The first byte of the answer has arrived. */
  private boolean answering;

  /** The deadline for the head of an answer, whatever interim answers arrive. */
  private long headEnd;

  /** The deadline for the head, or for the next part of the body, whatever else has arrived. */
  private long due;

  /** Bytes of the body that must have arrived by then. */
  private int step;

  private int received;

  private enum State {
    CONNECTING,
    GREETING,
    IDLE,
    ASKING,
    CLOSED
  }

  ClientConnection(Peer peer, Exchange first) {
    this.peer = peer;
    host = peer.address().toString();
    exchange = first;
    alarm = new Alarm(peer.loop(), this::ring);
  }

  private ItemClient client() {
    return peer.client();
  }

  /** Dials; sends its first request afterwards. Throws nothing: the request may have been sent. */
  void connect() {
    try {
      beginToConnect();
    } catch (RuntimeException | OutOfMemoryError e) {
      fail(e);
    }
  }

  private void fail(Throwable cause) {
    end(cause instanceof OutOfMemoryError ? null : String.valueOf(cause));
  }

  private void beginToConnect() {
    due =
        System.nanoTime()
            + client().deadlines().connect().plus(client().deadlines().progress()).toNanos();
    alarm.setAt(withinTotal(System.nanoTime() + client().deadlines().connect().toNanos()));
    peer.knownAddress().find().thenAcceptAsync(this::dial, peer.loop());
  }

  private void dial(InetSocketAddress address) {
    if (state != State.CONNECTING) {
      return;
    }
    if (address.isUnresolved()) {
      fail("the name " + peer.address().host() + " is not known");
      return;
    }
    ChannelFuture connecting =
        new Bootstrap()
            .group(peer.loop())
            .channel(client().clientChannel())
            .option(ChannelOption.TCP_NODELAY, true)
            .option(ChannelOption.SO_KEEPALIVE, true)
            .handler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    client().prepare(channel.pipeline(), peer.address(), ClientConnection.this);
                  }
                })
            .connect(address);
    channel = connecting.channel();
    connecting.addListener(
        any -> {
          if (!connecting.isSuccess()) {
            fail("no connection: " + connecting.cause().getMessage());
          }
        });
  }

  @Override
  public void channelActive(ChannelHandlerContext ctx) {
    if (state == State.CLOSED) {
      ctx.close();
      return;
    }
    awaitNext();
    if (!client().hasTls()) {
      greet();
    }
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
    if (event instanceof SslHandshakeCompletionEvent handshake) {
      if (handshake.isSuccess()) {
        greet();
      } else {
        fail("no TLS: " + handshake.cause().getMessage());
      }
    }
  }

  private void greet() {
    if (client().identity().key() == null) {
      sendFirst();
      return;
    }
    state = State.GREETING;
    nonce = AuthenticatedSession.nonce();
    FullHttpRequest hello =
        new DefaultFullHttpRequest(
            HttpVersion.HTTP_1_1, HttpMethod.GET, HttpNames.HELLO, Unpooled.EMPTY_BUFFER);
    hello.headers().set(HttpNames.NONCE, nonce);
    write(hello);
  }

  private void write(FullHttpRequest request) {
    request
        .headers()
        .set(HttpHeaderNames.HOST, host)
        .set(HttpNames.NODE, client().identity().name());
    awaitNext();
    if (channel != null) {
      channel.writeAndFlush(request);
    }
  }

  /** Waits for the next byte, or for an earlier deadline. */
  private void awaitNext() {
    long next = System.nanoTime() + client().deadlines().progress().toNanos();
    next = due - next < 0 ? due : next;
    boolean awaitsHead = state == State.ASKING && sink == null;
    alarm.setAt(withinTotal(awaitsHead && headEnd - next < 0 ? headEnd : next));
  }

  /** Returns a deadline, or the end of the time for all of the request, if that is earlier. */
  private long withinTotal(long deadline) {
    return exchange != null && end(exchange) - deadline < 0 ? end(exchange) : deadline;
  }

  private long end(Exchange asked) {
    return asked.began + client().deadlines().total().toNanos();
  }

  /** Tells whether the time for all of the request is over. */
  private boolean isOverdue() {
    return exchange != null && System.nanoTime() - end(exchange) >= 0;
  }

  /** Tells whether the peer has sent nothing but interim answers for too long. */
  private boolean isHeadOverdue() {
    return state == State.ASKING && sink == null && System.nanoTime() - headEnd >= 0;
  }

  private String noAnswer() {
    return "no answer within " + client().deadlines().answer().toMillis() + " ms";
  }

  private String noWholeAnswer() {
    return "no whole answer within " + client().deadlines().total().toMillis() + " ms";
  }

  /** Learns that awaited bytes have arrived. */
  private void putOff() {
    due = System.nanoTime() + client().deadlines().progress().toNanos();
    awaitNext();
  }

  private void sendFirst() {
    Exchange first = exchange;
    if (first == null) {
      release();
    } else {
      ask(first);
    }
  }

  /** Sends a request; the connection is free. Throws nothing: the request may have been sent. */
  void send(Exchange next) {
    exchange = next;
    try {
      putOff();
      ask(next);
    } catch (RuntimeException | OutOfMemoryError e) {
      fail(e);
    }
  }

  private void ask(Exchange next) {
    exchange = next;
    state = State.ASKING;
    answering = false;
    sink = null;
    headEnd = System.nanoTime() + client().deadlines().answer().toNanos();
    FullHttpRequest request = next.request();
    if (session != null) {
      session.sign(request);
    }
    write(request);
  }

  /** Learns that bytes have arrived. */
  void progress() {
    if (state == State.ASKING || state == State.GREETING) {
      answering = true;
      awaitNext();
    }
  }

  private void ring() {
    switch (state) {
      case IDLE -> close();
      case CONNECTING, GREETING -> fail("no connection in time");
      case ASKING -> {
        if (isHeadOverdue()) {
          fail(noAnswer());
        } else if (isOverdue()) {
          fail(noWholeAnswer());
        } else {
          fail("not enough within " + client().deadlines().progress().toMillis() + " ms");
        }
      }
      case CLOSED -> {}
    }
  }

  @Override
  protected void channelRead0(ChannelHandlerContext ctx, HttpObject message) {
    if (state == State.CLOSED) {
      return;
    }
    if (message.decoderResult().isFailure()) {
      fail("no HTTP: " + message.decoderResult().cause().getMessage());
    } else if (state == State.GREETING) {
      greeted(message);
    } else if (state == State.ASKING) {
      answer(message);
    } else {
      close();
    }
  }

  private void greeted(HttpObject message) {
    SecretKey key = client().identity().key();
    if (message instanceof HttpResponse response && key != null) {
      session =
          AuthenticatedSession.accept(
              key,
              nonce,
              client().identity().name().toString(),
              host,
              response.headers().get(HttpHeaderNames.WWW_AUTHENTICATE));
      if (session == null) {
        client().foreign(peer.address());
        fail("it does not know the cluster's secret");
        return;
      }
    }
    if (message instanceof LastHttpContent && session != null) {
      sendFirst();
    }
  }

  private void answer(HttpObject message) {
    if (isHeadOverdue()) {
      fail(noAnswer());
      return;
    }
    if (isOverdue()) {
      fail(noWholeAnswer());
      return;
    }
    String wrong = null;
    if (message instanceof HttpResponse response) {
      interim = response.status().codeClass() == HttpStatusClass.INFORMATIONAL;
      wrong = interim ? null : head(response);
      putOff();
    }
    if (wrong == null && !interim && message instanceof HttpContent content) {
      wrong = content(content);
    }
    if (wrong != null) {
      fail(wrong);
    }
  }

  private @Nullable String head(HttpResponse response) {
    if (session != null && !session.verify(response)) {
      return response.status().equals(HttpResponseStatus.UNAUTHORIZED)
          ? "it does not take this node for one of its cluster"
          : "an answer without the right proof";
    }
    keep = HttpUtil.isKeepAlive(response);
    received = 0;
    step = STEP;
    Sink next = exchange().sink(response);
    sink = next;
    if (next.residentBytes() >= 0) {
      peer.health().resident(next.residentBytes());
    }
    return next.wrong();
  }

  private @Nullable String content(HttpContent content) {
    if (sink == null) {
      return "a body without a head";
    }
    received += content.content().readableBytes();
    if (received >= step) {
      step = received + STEP;
      putOff();
    }
    sink.take(content.content());
    if (content instanceof LastHttpContent && sink.wrong() == null) {
      TransferResult outcome = sink.outcome();
      if (outcome != null) {
        done(outcome);
      }
    }
    return sink == null ? null : sink.wrong();
  }

  private void done(TransferResult outcome) {
    Exchange finished = exchange();
    exchange = null;
    sink = null;
    try {
      if (keep) {
        release();
      } else {
        close();
      }
    } finally {
      peer.finish(finished, outcome);
    }
  }

  private void release() {
    state = State.IDLE;
    kept = true;
    alarm.set(IDLE);
    peer.free(this);
  }

  private Exchange exchange() {
    if (exchange == null) {
      throw new IllegalStateException("nothing was asked");
    }
    return exchange;
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    lost("closed by the peer");
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    lost(String.valueOf(cause.getMessage()));
  }

  private void lost(String detail) {
    Exchange unanswered = exchange;
    if (state == State.ASKING && kept && !answering && unanswered != null && !unanswered.again) {
      exchange = null;
      try {
        close();
      } finally {
        peer.again(unanswered);
      }
    } else if (state != State.CLOSED) {
      fail(detail);
    }
  }

  /** Closes the connection because of a fault. */
  private void fail(String detail) {
    end(detail);
  }

  /**
   * Closes the connection.
   *
   * @param fault the fault of the peer or of the network; null where this node has no memory
   */
  private void end(@Nullable String fault) {
    if (state == State.CLOSED) {
      return;
    }
    state = State.CLOSED;
    sink = null;
    Exchange failed = exchange;
    exchange = null;
    try {
      alarm.cancel();
      if (channel != null) {
        channel.close();
      }
    } finally {
      endAt(failed, fault);
    }
  }

  private void endAt(@Nullable Exchange failed, @Nullable String fault) {
    try {
      if (failed != null && fault == null) {
        peer.noMemory(failed);
      } else if (failed != null) {
        peer.fault(failed, fault);
      }
    } finally {
      peer.gone(this);
    }
  }

  /** Closes the connection; its request ends with a fault. */
  void close() {
    fail("closed by this node");
  }
}
