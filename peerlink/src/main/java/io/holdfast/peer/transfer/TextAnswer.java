package io.holdfast.peer.transfer;

import io.netty.channel.ChannelFuture;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http.HttpRequest;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One request for a text of this node: its sketch, or its offer of a plan. The request does not
 * wait long for the text: the asker comes again. Its permit is given back when the whole text was
 * taken, or not in {@link Transfer.Deadlines#total()}.
 */
// a failed write closes its connection, which reports it
@SuppressWarnings("FutureReturnValueIgnored")
final class TextAnswer {
  private static final long LONGEST_MILLIS = 1000;

  private final ServerConnection connection;
  private final HttpRequest request;
  private final CompletableFuture<OwnText> told;
  private final String known;
  private final EventLoop loop;
  private final Alarm alarm;
  private boolean over;

  /**
   * Creates an answer.
   *
   * @param told the text, which may come late, or never
   * @param known the name of the text that the asker has; empty if it has none
   */
  TextAnswer(
      ServerConnection connection,
      HttpRequest request,
      CompletableFuture<OwnText> told,
      String known) {
    this.connection = connection;
    this.request = request;
    this.told = told;
    this.known = known;
    loop = connection.context().channel().eventLoop();
    alarm = new Alarm(loop, this::ring);
  }

  void start() {
    told.copy()
        .orTimeout(LONGEST_MILLIS, TimeUnit.MILLISECONDS)
        .whenComplete((text, failure) -> onLoop(failure == null ? text : null));
  }

  private void onLoop(@Nullable OwnText text) {
    boolean passedOn = false;
    try {
      loop.execute(() -> send(text));
      passedOn = true;
    } catch (RejectedExecutionException e) {
      // the server is closed, and its connections with it
    } finally {
      if (!passedOn) {
        giveBackPermit();
      }
    }
  }

  private void giveBackPermit() {
    connection.server().sends().giveBack(connection.peer());
  }

  private void send(@Nullable OwnText text) {
    boolean begun = false;
    try {
      long resident = connection.server().provider().residentBytes();
      ChannelFuture written =
          connection.write(
              request,
              text == null
                  ? HttpResponses.refused(Refusal.NOT_COMPARED, resident)
                  : HttpResponses.text(text, known, resident));
      alarm.set(connection.server().deadlines().total());
      written.addListener(any -> done(written.isSuccess()));
      begun = true;
    } finally {
      if (!begun) {
        done(false);
      }
    }
  }

  private void ring() {
    connection.closeSlow("it did not take all of a text in time");
  }

  /** Learns that all was written, or that the connection is useless now. */
  private void done(boolean whole) {
    if (over) {
      return;
    }
    over = true;
    alarm.cancel();
    giveBackPermit();
    if (whole) {
      connection.answered(request);
    } else {
      connection.context().close();
    }
  }
}
