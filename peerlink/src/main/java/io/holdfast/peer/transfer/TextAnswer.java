package io.holdfast.peer.transfer;

import io.netty.channel.EventLoop;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpRequest;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One request for a text of this node: its sketch, or its offer of a plan. The request does not
 * wait long for the text: the asker comes again.
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
        connection.server().sends().giveBack(connection.peer());
      }
    }
  }

  private void send(@Nullable OwnText text) {
    connection.server().sends().giveBack(connection.peer());
    if (!connection.context().channel().isActive()) {
      return;
    }
    long resident = connection.server().provider().residentBytes();
    FullHttpResponse answer =
        text == null
            ? HttpResponses.refused(Refusal.NOT_COMPARED, resident)
            : HttpResponses.text(text, known, resident);
    connection.write(request, answer);
    connection.answered(request);
  }
}
