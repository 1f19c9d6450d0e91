package io.holdfast.peer.transfer;

import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.LastHttpContent;

/**
 * Sends a loan's bytes from where they are, piece by piece: the next one when the last one was
 * taken, so that a slow receiver is noticed and encryption holds one piece at a time. Belongs to
 * one event loop.
 */
// a write that fails ends its connection, and that is heard of
@SuppressWarnings("FutureReturnValueIgnored")
final class Body {
  private static final int PIECE = 256 << 10;

  private final ChannelHandlerContext context;
  private final Loan loan;
  private final Listener listener;
  private int sent;

  /** Hears how it goes on. */
  interface Listener {
    /** A piece begins. */
    void going();

    /** The loan was given back; either all of it was sent, or the connection is of no more use. */
    void done(boolean whole);
  }

  Body(ChannelHandlerContext context, Loan loan, Listener listener) {
    this.context = context;
    this.loan = loan;
    this.listener = listener;
  }

  void send() {
    int length = Math.min(PIECE, loan.length() - sent);
    if (length == 0) {
      context.writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT);
      end(true);
      return;
    }
    listener.going();
    ChannelFuture written =
        context.writeAndFlush(
            new DefaultHttpContent(NativeMemory.at(loan.address() + sent, length)));
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
    loan.close();
    listener.done(whole);
  }
}
