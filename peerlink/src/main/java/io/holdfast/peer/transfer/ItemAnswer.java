package io.holdfast.peer.transfer;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.LastHttpContent;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One request for an item, from the call of the provider to the last byte. The provider answers
 * from any thread; everything else belongs to the connection's event loop.
 *
 * <p>Until the provider answers, interim answers (102) are sent now and then, so that the asker can
 * tell a slow origin from a dead node. An origin that takes too long ends in a refusal, so that the
 * asker has time for its own origin. The provider's fetch goes on, for the next asker.
 *
 * <p>A send ends after {@link Transfer.Deadlines#total()}: an asker in good faith has given up by
 * then, and another one would hold pinned pages and a permit for as long as it likes.
 */
// a failed write closes its connection, which reports it
@SuppressWarnings("FutureReturnValueIgnored")
final class ItemAnswer implements ItemProvider.Answer, Body.Listener {
  private static final Logger LOG = LoggerFactory.getLogger(ItemAnswer.class);
  private static final Duration INTERIM = Duration.ofMillis(500);
  private static final Duration SLOWEST_PIECE = Duration.ofSeconds(10);
  private static final int PROCESSING = 102;

  private final ServerConnection connection;
  private final HttpRequest request;
  private final ItemMessages.Parsed parsed;
  private final EventLoop loop;
  private final Alarm alarm;

  /** The end of the wait for the provider, then of the send, by {@link System#nanoTime()}. */
  private long end;

  private final AtomicBoolean answered = new AtomicBoolean();
  private boolean sending;
  private boolean over;

  ItemAnswer(ServerConnection connection, HttpRequest request, ItemMessages.Parsed parsed) {
    this.connection = connection;
    this.request = request;
    this.parsed = parsed;
    loop = connection.context().channel().eventLoop();
    alarm = new Alarm(loop, this::ring);
    end = System.nanoTime() + connection.server().deadlines().refusal().toNanos();
  }

  void start() {
    awaitProvider();
    try {
      connection
          .server()
          .provider()
          .get(parsed.item(), new Asker(connection.peer(), parsed.sketches()), this);
    } catch (RuntimeException e) {
      LOG.error("no answer for {}", parsed.item().path(), e);
      refused(Refusal.ORIGIN_FAILED);
    }
  }

  private void ring() {
    if (sending) {
      connection.closeSlow(
          isLate() ? "it did not take all of an item in time" : "it took nothing for 10 s");
    } else if (isLate()) {
      refused(Refusal.ORIGIN_FAILED);
    } else {
      connection.context().writeAndFlush(HttpResponses.empty(PROCESSING));
      awaitProvider();
    }
  }

  /** Waits for the provider, until the next interim answer is due or the time is over. */
  private void awaitProvider() {
    ringAfter(INTERIM);
  }

  /** Rings after this delay, or at the end if that is earlier. */
  private void ringAfter(Duration delay) {
    long next = System.nanoTime() + delay.toNanos();
    alarm.setAt(end - next < 0 ? end : next);
  }

  private boolean isLate() {
    return System.nanoTime() - end >= 0;
  }

  @Override
  public void lent(BufferLease loan) {
    if (answered.getAndSet(true)) {
      loan.close();
      return;
    }
    if (loan.length() != parsed.item().length()) {
      LOG.error(
          "{} bytes of {} were lent, not {}",
          loan.length(),
          parsed.item().path(),
          parsed.item().length());
      loan.close();
      onLoop(() -> refuse(Refusal.ORIGIN_FAILED));
      return;
    }
    boolean passedOn = false;
    try {
      byte[] sha256 = loan.sha256();
      passedOn = onLoop(() -> send(loan, sha256));
    } finally {
      if (!passedOn) {
        loan.close();
        onLoop(() -> refuse(Refusal.ORIGIN_FAILED));
      }
    }
  }

  @Override
  public void refused(Refusal refusal) {
    if (!answered.getAndSet(true)) {
      onLoop(() -> refuse(refusal));
    }
  }

  private boolean onLoop(Runnable step) {
    try {
      loop.execute(step);
      return true;
    } catch (RejectedExecutionException e) {
      // the server is closed, and its connections with it
      return false;
    }
  }

  private void refuse(Refusal refusal) {
    if (!over) {
      finish();
      connection.write(
          request, HttpResponses.refused(refusal, connection.server().provider().residentBytes()));
      connection.answered(request);
    }
  }

  private void send(BufferLease loan, byte[] sha256) {
    if (over) {
      loan.close();
      return;
    }
    sending = true;
    end = System.nanoTime() + connection.server().deadlines().total().toNanos();
    ChannelHandlerContext context = connection.context();
    boolean begun = false;
    try {
      connection.head(
          request,
          HttpResponses.head(parsed, sha256, connection.server().provider().residentBytes()));
      begun = true;
    } finally {
      if (!begun) {
        loan.close();
        context.close();
      }
    }
    if (HttpMethod.HEAD.equals(request.method())) {
      loan.close();
      context.writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT);
      done(true);
    } else {
      new Body(context, loan, this).send();
    }
  }

  @Override
  public void going() {
    ringAfter(SLOWEST_PIECE);
  }

  @Override
  public void done(boolean whole) {
    boolean wasOver = over;
    finish();
    if (whole && !wasOver) {
      connection.server().sent(connection.peer(), parsed.item().length());
      connection.answered(request);
    } else {
      connection.context().close();
    }
  }

  /** Learns that the connection is gone; the failed write closes the lease that is being sent. */
  void abandon() {
    finish();
  }

  private void finish() {
    if (!over) {
      over = true;
      alarm.cancel();
      connection.server().sends().giveBack(connection.peer());
    }
  }
}
