package io.holdfast.peer.transfer;

import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.TlsContext;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The server's end of a connection: authenticates the other side, and answers one request at a
 * time; further requests are not read before. Belongs to one event loop.
 */
// a failed write closes its connection, which reports it
@SuppressWarnings("FutureReturnValueIgnored")
final class ServerConnection extends ChannelInboundHandlerAdapter {
  private static final Duration AUTHENTICATE = Duration.ofSeconds(5);
  private static final Duration IDLE = Duration.ofMinutes(2);

  private final ItemServer server;
  private @Nullable ChannelHandlerContext context;
  private @Nullable Alarm alarm;
  private @Nullable AuthenticatedSession session;
  private @Nullable NodeAddress peer;

  /** The node that has a permit for this connection; null before the first authentic request. */
  private @Nullable NodeAddress placed;

  private boolean greeted;
  private boolean authenticated;
  private boolean closed;
  private @Nullable HttpRequest request;
  private @Nullable ItemAnswer answer;

  /** A request is being answered, and no other is taken. */
  private boolean answering;

  /** Messages that were read together with an earlier request; at most those of one read. */
  private final Queue<Object> pending = new ArrayDeque<>();

  ServerConnection(ItemServer server) {
    this.server = server;
  }

  @Override
  public void channelActive(ChannelHandlerContext ctx) {
    context = ctx;
    alarm = new Alarm(ctx.channel().eventLoop(), this::timeout);
    alarm.set(AUTHENTICATE);
    ctx.read();
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
    if (event instanceof SslHandshakeCompletionEvent handshake) {
      if (!handshake.isSuccess()) {
        refuse(RejectedRequests.TLS, String.valueOf(handshake.cause().getMessage()));
        ctx.close();
      }
    }
  }

  private void authenticate() {
    authenticated = true;
    alarm().set(IDLE);
    server.authenticated(context().channel());
  }

  private void timeout() {
    if (!authenticated) {
      boolean silentAfterHello = greeted;
      refuse(
          silentAfterHello ? RejectedRequests.FOREIGN_CLUSTER : RejectedRequests.TIMEOUT,
          "did not authenticate within " + AUTHENTICATE.toSeconds() + " s");
      greeted = false;
    }
    context().close();
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    pending.add(message);
    takePending();
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext ctx) {
    readOn();
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext ctx) {
    takePending();
    readOn();
  }

  /**
   * Tells whether the next request may be taken: none is being answered, and the other side reads
   * its answers.
   */
  private boolean mayGoOn() {
    return !answering && !closed && context().channel().isWritable();
  }

  private void readOn() {
    if (mayGoOn() && pending.isEmpty()) {
      context().read();
    }
  }

  /** Takes messages that were already read, as far as possible now. */
  private void takePending() {
    while (mayGoOn() && !pending.isEmpty()) {
      Object next = pending.remove();
      try {
        take(next);
      } finally {
        ReferenceCountUtil.release(next);
      }
    }
  }

  private void take(Object message) {
    if (message instanceof HttpRequest head) {
      request = head;
      if (head.decoderResult().isFailure() || hasBody(head)) {
        bad(head);
        return;
      }
    }
    if (message instanceof LastHttpContent && request != null) {
      HttpRequest whole = request;
      request = null;
      handle(whole);
    }
  }

  private static boolean hasBody(HttpRequest head) {
    return HttpUtil.isTransferEncodingChunked(head)
        || (head.headers().contains(HttpHeaderNames.CONTENT_LENGTH)
            && HttpUtil.getContentLength(head, -1L) != 0);
  }

  private void bad(HttpRequest head) {
    Throwable cause = head.decoderResult().cause();
    refuse(
        RejectedRequests.MALFORMED, cause == null ? "a body" : String.valueOf(cause.getMessage()));
    closeWith(HttpResponses.empty(400));
  }

  private void handle(HttpRequest whole) {
    boolean reads = HttpMethod.GET.equals(whole.method()) || HttpMethod.HEAD.equals(whole.method());
    if (reads && whole.uri().equals(HttpNames.HEALTH)) {
      reply(whole, HttpResponses.healthy());
    } else if (server.hasSecret() && session == null) {
      hello(whole);
    } else if (isAuthentic(whole) && hasPlace(whole)) {
      item(whole);
    }
  }

  /** Takes a permit for this connection; answers the request if its node has too many. */
  private boolean hasPlace(HttpRequest whole) {
    if (placed == null && server.places().take(peer())) {
      placed = peer();
    }
    if (placed != null) {
      return true;
    }
    refuse(RejectedRequests.TOO_MANY, "more connections of one node than are allowed");
    HttpUtil.setKeepAlive(whole, false);
    reply(whole, busy());
    return false;
  }

  private FullHttpResponse busy() {
    return HttpResponses.refused(Refusal.BUSY, server.provider().residentBytes());
  }

  private void hello(HttpRequest whole) {
    String nonce = whole.headers().get(HttpNames.NONCE);
    NodeAddress client = node(whole);
    if (!whole.uri().equals(HttpNames.HELLO)
        || !AuthenticatedSession.isNonce(nonce)
        || client == null) {
      refuse(RejectedRequests.UNAUTHENTICATED, whole.method() + " " + whole.uri());
      closeWith(HttpResponses.empty(401));
      return;
    }
    if (!isCertified(client)) {
      return;
    }
    if (!server.isFresh(nonce)) {
      refuse(RejectedRequests.REPLAYED, "a greeting that was here before");
      closeWith(HttpResponses.empty(401));
      return;
    }
    AuthenticatedSession.Parties parties =
        new AuthenticatedSession.Parties(
            nonce, AuthenticatedSession.nonce(), client.toString(), server.name().toString());
    session = new AuthenticatedSession(server.key(), parties);
    peer = client;
    greeted = true;
    FullHttpResponse challenge = HttpResponses.empty(401);
    challenge
        .headers()
        .set(
            HttpHeaderNames.WWW_AUTHENTICATE,
            AuthenticatedSession.challenge(server.key(), parties));
    reply(whole, challenge);
  }

  private static @Nullable NodeAddress node(HttpRequest whole) {
    String node = whole.headers().get(HttpNames.NODE);
    try {
      return node == null ? null : NodeAddress.parse(node);
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  /** Checks that a node has a certificate for its name; answers the request if it has not. */
  private boolean isCertified(NodeAddress node) {
    SslHandler tls = context().pipeline().get(SslHandler.class);
    if (tls == null || TlsContext.showsOneFor(tls.engine().getSession(), node.host())) {
      return true;
    }
    refuse(RejectedRequests.TLS, "its certificate is not for " + node.host());
    closeWith(HttpResponses.empty(403));
    return false;
  }

  /** Checks the sender of a request; answers the request if the check fails. */
  private boolean isAuthentic(HttpRequest whole) {
    boolean authentic = session == null ? isOfCertifiedNode(whole) : isProved(session, whole);
    if (authentic && !authenticated) {
      authenticate();
    }
    return authentic;
  }

  private boolean isOfCertifiedNode(HttpRequest whole) {
    peer = node(whole);
    if (peer == null) {
      refuse(RejectedRequests.MALFORMED, "no " + HttpNames.NODE);
      closeWith(HttpResponses.empty(400));
    }
    return peer != null && isCertified(peer);
  }

  private boolean isProved(AuthenticatedSession by, HttpRequest whole) {
    AuthenticatedSession.Verdict verdict = by.verify(whole);
    if (verdict == AuthenticatedSession.Verdict.RIGHT) {
      return true;
    }
    greeted = false;
    boolean replayed = verdict == AuthenticatedSession.Verdict.REPLAYED;
    refuse(
        replayed ? RejectedRequests.REPLAYED : RejectedRequests.FOREIGN_CLUSTER,
        replayed ? "a request that was here before" : "a request without the right proof");
    closeWith(HttpResponses.empty(401));
    return false;
  }

  private void item(HttpRequest whole) {
    alarm().clear();
    if (whole.uri().equals(HttpNames.sketchOf(server.dataset()))) {
      text(whole, "", provider -> provider.sketch(peer()).thenApply(OwnText::new));
      return;
    }
    String plan = HttpNames.planOf(server.dataset());
    if (whole.uri().startsWith(plan)) {
      String known = whole.uri().substring(plan.length());
      text(whole, known, provider -> CompletableFuture.completedFuture(provider.plan(peer())));
      return;
    }
    try {
      ItemMessages.Parsed parsed = ItemMessages.parse(whole, server.dataset());
      if (HttpMethod.DELETE.equals(whole.method())) {
        server.provider().held(parsed.item(), new Asker(peer(), parsed.sketches()));
        reply(whole, HttpResponses.empty(204));
      } else {
        give(whole, parsed);
      }
    } catch (BadRequestException e) {
      refuse(e.reason(), String.valueOf(e.getMessage()));
      reply(whole, HttpResponses.empty(e.status()));
    }
  }

  private void give(HttpRequest whole, ItemMessages.Parsed parsed) {
    // made before the permit is taken, which it gives back
    ItemAnswer next = new ItemAnswer(this, whole, parsed);
    if (server.sends().take(peer())) {
      answering = true;
      answer = next;
      next.start();
    } else {
      refuseAsBusy(whole);
    }
  }

  private void refuseAsBusy(HttpRequest whole) {
    refuse(RejectedRequests.BUSY, "more requests at once than are allowed");
    reply(whole, busy());
  }

  private void text(
      HttpRequest whole,
      String known,
      Function<ItemProvider, CompletableFuture<OwnText>> provided) {
    if (!HttpMethod.GET.equals(whole.method())) {
      refuse(RejectedRequests.MALFORMED, whole.method() + " of a text");
      reply(whole, HttpResponses.empty(405));
    } else if (server.sends().take(peer())) {
      answering = true;
      boolean begun = false;
      try {
        new TextAnswer(this, whole, provided.apply(server.provider()), known).start();
        begun = true;
      } finally {
        if (!begun) {
          server.sends().giveBack(peer());
        }
      }
    } else {
      refuseAsBusy(whole);
    }
  }

  private void reply(HttpRequest whole, FullHttpResponse complete) {
    write(whole, complete);
    next(whole);
  }

  /** Sends a complete answer; the result completes when all of it was taken. */
  ChannelFuture write(HttpRequest whole, FullHttpResponse complete) {
    if (HttpMethod.HEAD.equals(whole.method())) {
      prepare(whole, complete);
      context()
          .write(
              new DefaultHttpResponse(
                  complete.protocolVersion(), complete.status(), complete.headers()));
      complete.release();
      return context().writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT);
    }
    prepare(whole, complete);
    return context().writeAndFlush(complete);
  }

  /** Sends the head of an answer. */
  void head(HttpRequest whole, HttpResponse head) {
    prepare(whole, head);
    context().write(head);
  }

  private void prepare(HttpRequest whole, HttpResponse head) {
    HttpUtil.setKeepAlive(head, HttpUtil.isKeepAlive(whole));
    if (authenticated && session != null) {
      session.sign(head);
    }
  }

  /** Waits for the next request after an answer was written. */
  private void next(HttpRequest whole) {
    if (!HttpUtil.isKeepAlive(whole)) {
      closed = true;
      context().writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
    } else if (authenticated) {
      alarm().set(IDLE);
    }
  }

  /** Learns that the answer to a request for an item or a text was written. */
  void answered(HttpRequest whole) {
    answering = false;
    answer = null;
    next(whole);
    takePending();
    readOn();
  }

  private void closeWith(FullHttpResponse last) {
    closed = true;
    HttpUtil.setKeepAlive(last, false);
    context().writeAndFlush(last).addListener(ChannelFutureListener.CLOSE);
  }

  /** Closes the connection because the other side takes too little of an answer. */
  void closeSlow(String detail) {
    refuse(RejectedRequests.SLOW_RECEIVER, detail);
    context().close();
  }

  private void refuse(String reason, String detail) {
    server.refuse(reason, peer == null ? context().channel().remoteAddress() : peer, detail);
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    closed = true;
    pending.forEach(ReferenceCountUtil::release);
    pending.clear();
    if (greeted && !authenticated) {
      refuse(RejectedRequests.FOREIGN_CLUSTER, "went away when it saw this node's proof");
    }
    if (alarm != null) {
      alarm.cancel();
    }
    if (answer != null) {
      answer.abandon();
    }
    if (placed != null) {
      server.places().giveBack(placed);
      placed = null;
    }
    ctx.fireChannelInactive();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    if (!(cause instanceof IOException) && !closed) {
      refuse(RejectedRequests.MALFORMED, String.valueOf(cause.getMessage()));
    }
    ctx.close();
  }

  ItemServer server() {
    return server;
  }

  ChannelHandlerContext context() {
    if (context == null) {
      throw new IllegalStateException("not connected");
    }
    return context;
  }

  private Alarm alarm() {
    if (alarm == null) {
      throw new IllegalStateException("not connected");
    }
    return alarm;
  }

  NodeAddress peer() {
    if (peer == null) {
      throw new IllegalStateException("not authenticated");
    }
    return peer;
  }
}
