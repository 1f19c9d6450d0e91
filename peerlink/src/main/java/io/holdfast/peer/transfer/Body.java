package io.holdfast.peer.transfer;

import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.LastHttpContent;

/**
 * Sends a lease's bytes from where they are, in pieces. The next piece follows when the previous
 * one was taken, so that a slow receiver is noticed and encryption holds one piece at a time.
 * Belongs to one event loop.
 */
// a failed write closes its connection, which reports it
@SuppressWarnings("FutureReturnValueIgnored")
final class Body {
  private static final int PIECE = 256 << 10;

  private final ChannelHandlerContext context;
  private final BufferLease loan;
  private final Listener listener;
  private int sent;
  private boolean over;

  /** Learns of the progress. */
  interface Listener {
    /** A piece begins. */
    void going();

    /** The lease has been closed; either all bytes were sent, or the connection is useless now. */
    void done(boolean whole);
  }

  Body(ChannelHandlerContext context, BufferLease loan, Listener listener) {
    this.context = context;
    this.loan = loan;
    this.listener = listener;
  }

  void send() {
    boolean going = false;
    try {
      sendNext();
      going = true;
    } finally {
      if (!going) {
        context.close(); // before the lease, whose bytes may be on their way
        end(false);
      }
    }
  }

  private void sendNext() {
    int length = Math.min(PIECE, loan.length() - sent);
    if (length == 0) {
      context.writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT);
      end(true);
      return;
    }
    listener.going();
    ChannelFuture written =
        context.writeAndFlush(
            new DefaultHttpContent(NativeBuffers.at(loan.address() + sent, length)));
    sent += length;
    written.addListener(
        any -> {
          if (written.isSuccess()) {
            send();
          } else {
            end(false);
          }
        });
  }

  private void end(boolean whole) {
    if (!over) {
      over = true;
      loan.close();
      listener.done(whole);
    }
  }
}
