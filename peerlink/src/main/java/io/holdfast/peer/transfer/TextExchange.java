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

/** A request for a text that a peer tells of itself: its sketch, or its offer of a plan. */
final class TextExchange extends Exchange {
  /** More than any node's sketch; a longer one is rejected. */
  static final int LONGEST_SKETCH = 256 << 10;

  /** More than any node's offer of a plan, which has a bit for each file. */
  static final int LONGEST_PLAN = 4 << 20;

  private final String path;
  private final int longest;
  private final String known;
  private String text = "";

  private TextExchange(String path, int longest, String known) {
    this.path = path;
    this.longest = longest;
    this.known = known;
  }

  /** Of the sketch of a dataset. */
  static TextExchange sketch(SharedDataset dataset) {
    return new TextExchange(HttpNames.sketchOf(dataset), LONGEST_SKETCH, "");
  }

  /**
   * Of the offer of a plan.
   *
   * @param known the last offer of the peer, which does not travel again; empty if there is none
   */
  static TextExchange plan(SharedDataset dataset, String known) {
    String digest =
        known.isEmpty() ? "" : BodyDigest.name(known.getBytes(StandardCharsets.US_ASCII));
    return new TextExchange(HttpNames.planOf(dataset) + digest, LONGEST_PLAN, known);
  }

  /** Returns the peer's text, once the outcome is known. */
  CompletableFuture<Told> told() {
    return outcome.thenApply(how -> new Told(how, text));
  }

  @Override
  FullHttpRequest request() {
    return new DefaultFullHttpRequest(
        HttpVersion.HTTP_1_1, HttpMethod.GET, path, Unpooled.EMPTY_BUFFER);
  }

  @Override
  Sink sink(HttpResponse head) {
    return new TextSink(head);
  }

  @Override
  int itemBytes() {
    return -1;
  }

  /** Takes the text. */
  private final class TextSink implements Sink {
    private final BodyDigest digest = new BodyDigest();
    private final @Nullable String digestTold;
    private byte[] memory = {};
    private final boolean same;
    private int taken;
    private @Nullable TransferResult refused;
    private @Nullable String wrong;

    TextSink(HttpResponse head) {
      digestTold = head.headers().get(HttpNames.DIGEST);
      int status = head.status().code();
      long length = ItemSink.number(head.headers().get(HttpHeaderNames.CONTENT_LENGTH));
      Refusal refusal = Refusal.of(status);
      same = status == 304 && !known.isEmpty();
      if (same) {
        return;
      }
      if (refusal != null) {
        refused = TransferResult.refused(refusal);
      } else if (status != 200) {
        wrong = "status " + status;
      } else if (length < 0 || length > longest) {
        wrong = "a text of " + length + " bytes";
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
      if (same) {
        text = known;
        return TransferResult.FETCHED;
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
