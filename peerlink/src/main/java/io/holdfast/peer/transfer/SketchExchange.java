package io.holdfast.peer.transfer;

import io.holdfast.peer.SharedDataset;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpVersion;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A request for the sketch of a peer's dataset. */
final class SketchExchange extends Exchange {
  /** More than any node's sketch; a longer one is rejected. */
  static final int LONGEST = 256 << 10;

  private final SharedDataset dataset;
  private String text = "";

  SketchExchange(SharedDataset dataset) {
    this.dataset = dataset;
  }

  /** Returns the peer's sketch, once the outcome is known. */
  CompletableFuture<Told> told() {
    return outcome.thenApply(how -> new Told(how, text));
  }

  @Override
  FullHttpRequest request() {
    return new DefaultFullHttpRequest(
        HttpVersion.HTTP_1_1, HttpMethod.GET, HttpNames.sketchOf(dataset), Unpooled.EMPTY_BUFFER);
  }

  @Override
  Sink sink(HttpResponse head) {
    return new SketchSink(head);
  }

  @Override
  int itemBytes() {
    return -1;
  }

  /** Takes the sketch. */
  private final class SketchSink implements Sink {
    private final BodyDigest digest = new BodyDigest();
    private final @Nullable String digestTold;
    private byte[] memory = {};
    private int taken;
    private @Nullable TransferResult refused;
    private @Nullable String wrong;

    SketchSink(HttpResponse head) {
      digestTold = head.headers().get(HttpNames.DIGEST);
      int status = head.status().code();
      long length = ItemSink.number(head.headers().get(HttpHeaderNames.CONTENT_LENGTH));
      Refusal refusal = Refusal.of(status);
      if (refusal != null) {
        refused = TransferResult.refused(refusal);
      } else if (status != 200) {
        wrong = "status " + status;
      } else if (length < 0 || length > LONGEST) {
        wrong = "a sketch of " + length + " bytes";
      } else {
        memory = new byte[(int) length];
      }
    }

    @Override
    public void take(ByteBuf content) {
      int length = content.readableBytes();
      if (length == 0 || wrong != null) {
        return;
      }
      if (length > memory.length - taken) {
        wrong = "more bytes than were told";
        return;
      }
      digest.update(content.nioBuffer());
      content.readBytes(memory, taken, length);
      taken += length;
    }

    @Override
    public @Nullable TransferResult outcome() {
      if (wrong != null) {
        return null;
      }
      if (refused != null) {
        return refused;
      }
      if (taken < memory.length) {
        wrong = "a short body";
      } else if (!digest.isThatOf(digestTold)) {
        wrong = "a wrong digest";
      } else {
        text = new String(memory, StandardCharsets.US_ASCII);
        return TransferResult.FETCHED;
      }
      return null;
    }

    @Override
    public @Nullable String wrong() {
      return wrong;
    }

    @Override
    public long residentBytes() {
      return -1;
    }
  }
}
