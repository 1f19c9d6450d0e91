package io.holdfast.peer.transfer;

import io.netty.channel.EventLoop;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpRequest;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One request for the sketch of this node's dataset. The request does not wait long for the sketch:
 * the asker comes again.
 */
// a failed write closes its connection, which reports it
@SuppressWarnings("FutureReturnValueIgnored")
final class SketchAnswer {
  private static final long LONGEST_MILLIS = 1000;

  private final ServerConnection connection;
  private final HttpRequest request;
  private final EventLoop loop;

  SketchAnswer(ServerConnection connection, HttpRequest request) {
    this.connection = connection;
    this.request = request;
    loop = connection.context().channel().eventLoop();
  }

  void start() {
    connection
        .server()
        .provider()
        .sketch(connection.peer())
        .copy()
        .orTimeout(LONGEST_MILLIS, TimeUnit.MILLISECONDS)
        .whenComplete((sketch, failure) -> onLoop(failure == null ? sketch : null));
  }

  private void onLoop(@Nullable String sketch) {
    try {
      loop.execute(() -> send(sketch));
    } catch (RejectedExecutionException e) {
      // the server is closed, and its connections with it
      connection.server().endSend();
    }
  }

  private void send(@Nullable String sketch) {
    connection.server().endSend();
    if (!connection.context().channel().isActive()) {
      return;
    }
    long resident = connection.server().provider().residentBytes();
    FullHttpResponse answer =
        sketch == null
            ? HttpResponses.refused(Refusal.NOT_COMPARED, resident)
            : HttpResponses.sketch(sketch, resident);
    connection.write(request, answer);
    connection.answered(request);
  }
}
