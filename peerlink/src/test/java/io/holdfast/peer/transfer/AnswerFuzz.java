package io.holdfast.peer.transfer;

import io.holdfast.peer.NodeAddress;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpMethod;
import java.util.Arrays;

/**
 * Answers of a peer, or of a stranger: the client gets the item with its checksum, or a fault, and
 * writes nothing outside of the wanted memory. Run by packaging/fuzz.
 */
public final class AnswerFuzz {
  private static final int LENGTH = 16;
  private static final int AROUND = 64;
  private static final byte UNTOUCHED = 0x5a;

  /** Needed only to make a client: the connections are on a channel of the test. */
  private static final EventLoops LOOPS = EventLoops.start();

  private AnswerFuzz() {}

  /** One input; its first byte tells whether the peer must prove something, and where it is cut. */
  public static void fuzzerTestOneInput(byte[] bytes) {
    if (bytes.length == 0) {
      return;
    }
    boolean secret = (bytes[0] & 1) != 0;
    Identity identity =
        new Identity(
            Nodes.free("127.0.0.1"), Nodes.DATASET, secret ? Nodes.key(Nodes.SECRET) : null, null);
    ItemClient client =
        new ItemClient(
            identity,
            Transfer.Deadlines.DEFAULT,
            LOOPS,
            new RejectedRequests(() -> 0),
            new Resolver(NodeAddress::resolve));
    ByteBuf memory = Unpooled.directBuffer(LENGTH + 2 * AROUND);
    while (memory.isWritable()) {
      memory.writeByte(UNTOUCHED);
    }
    EmbeddedChannel channel = new EmbeddedChannel();
    try {
      Peer peer = new Peer(Nodes.free("127.0.0.2"), client, channel.eventLoop());
      ItemExchange exchange =
          new ItemExchange(
              HttpMethod.GET,
              Sketches.NONE,
              Nodes.whole("a", LENGTH),
              memory.memoryAddress() + AROUND);
      ClientConnection connection = new ClientConnection(peer, exchange);
      client.prepare(channel.pipeline(), peer.address(), connection);
      channel.pipeline().fireChannelActive();
      int cut = 1 + Math.floorMod(bytes[0] >> 1, bytes.length);
      channel.writeInbound(Unpooled.wrappedBuffer(Arrays.copyOfRange(bytes, 1, cut)));
      channel.writeInbound(Unpooled.wrappedBuffer(Arrays.copyOfRange(bytes, cut, bytes.length)));
      channel.pipeline().fireChannelInactive();
      check(exchange, memory, secret);
    } finally {
      channel.finishAndReleaseAll();
      client.close();
      memory.release();
    }
  }

  private static void check(Exchange exchange, ByteBuf memory, boolean secret) {
    TransferResult outcome = exchange.outcome.getNow(null);
    if (outcome == null) {
      throw new AssertionError("a question without an outcome");
    }
    if (secret && outcome.isFetched()) {
      throw new AssertionError("a stranger was believed");
    }
    for (int i = 0; i < AROUND; i++) {
      if (memory.getByte(i) != UNTOUCHED || memory.getByte(AROUND + LENGTH + i) != UNTOUCHED) {
        throw new AssertionError("bytes outside of the memory that was lent");
      }
    }
  }
}
