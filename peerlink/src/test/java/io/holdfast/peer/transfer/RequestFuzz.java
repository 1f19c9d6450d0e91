package io.holdfast.peer.transfer;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.Arrays;

/**
 * Requests of a peer, or of a stranger: the node answers or refuses them, and nothing stays behind.
 * Run by packaging/fuzz.
 */
public final class RequestFuzz {
  private static final int LENGTH = 1000;

  private RequestFuzz() {}

  /** One input; its first byte tells whether it must prove something, and where it is cut. */
  public static void fuzzerTestOneInput(byte[] bytes) {
    if (bytes.length == 0) {
      return;
    }
    boolean secret = (bytes[0] & 1) != 0;
    ShelfProvider shelf = new ShelfProvider();
    shelf.items.put(Nodes.path("a"), new byte[LENGTH]);
    ItemServer server =
        new ItemServer(
            new Identity(
                Nodes.free("127.0.0.1"),
                Nodes.DATASET,
                secret ? Nodes.key(Nodes.SECRET) : null,
                null),
            shelf,
            Nodes.config(Nodes.free("127.0.0.1"), Nodes.SECRET),
            new RejectedRequests(() -> 0),
            (to, count) -> {});
    EmbeddedChannel channel = new EmbeddedChannel();
    try {
      server.accept(channel);
      channel.pipeline().fireChannelActive();
      int cut = 1 + Math.floorMod(bytes[0] >> 1, bytes.length);
      write(channel, Arrays.copyOfRange(bytes, 1, cut));
      write(channel, Arrays.copyOfRange(bytes, cut, bytes.length));
    } finally {
      channel.finishAndReleaseAll();
      server.close();
    }
    if (secret && !shelf.asked.isEmpty()) {
      throw new AssertionError("a stranger was let in");
    }
    if (shelf.loans.get() != 0) {
      throw new AssertionError("a loan was not given back");
    }
  }

  private static void write(EmbeddedChannel channel, byte[] bytes) {
    if (channel.isOpen()) {
      channel.writeInbound(Unpooled.wrappedBuffer(bytes));
      for (ByteBuf out = channel.readOutbound(); out != null; out = channel.readOutbound()) {
        out.release();
      }
    }
  }
}
