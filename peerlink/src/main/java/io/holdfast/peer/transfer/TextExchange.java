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

  /** More than any node's offer of a plan, which has a bit for each file; rejected if longer. */
  static final int LONGEST_PLAN = 4 << 20;

  private final String path;
  private final int longest;
  private final int kept;
  private final String known;
  private String name = "";
  private String text = "";

  /**
   * Creates a request.
   *
   * @param longest the most letters of a text; the peer has a fault if its text is longer
   * @param kept the most letters of these that are kept
   */
  private TextExchange(String path, int longest, int kept, String known) {
    this.path = path;
    this.longest = longest;
    this.kept = kept;
    this.known = known;
  }

  /** Of the sketch of a dataset. */
  static TextExchange sketch(SharedDataset dataset) {
    return new TextExchange(HttpNames.sketchOf(dataset), LONGEST_SKETCH, LONGEST_SKETCH, "");
  }

  /**
   * Of the offer of a plan.
   *
   * @param known names the last offer of the peer, which does not travel again; empty if there is
   *     none
   * @param wanted the most letters that are kept, and one more: the rest of a longer offer takes no
   *     memory
   */
  static TextExchange plan(SharedDataset dataset, String known, int wanted) {
    return new TextExchange(HttpNames.planOf(dataset) + known, LONGEST_PLAN, wanted + 1, known);
  }

  /** Returns the peer's text, once the outcome is known. */
  CompletableFuture<Told> told() {
    return outcome.thenApply(how -> new Told(how, name, text));
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
  boolean mayNeedOrigin() {
    return false;
  }

  @Override
  int itemBytes() {
    return -1;
  }

  /** Takes the text. */
  private final class TextSink implements Sink {
    private final BodyDigest digest = new BodyDigest();
    private final @Nullable String digestTold;
    private final boolean same;

    /** The bytes that the peer has announced. */
    private final long length;

    private byte[] memory = {};
    private long taken;
    private @Nullable TransferResult refused;
    private @Nullable String wrong;

    TextSink(HttpResponse head) {
      digestTold = head.headers().get(HttpNames.DIGEST);
      int status = head.status().code();
      length = ItemSink.number(head.headers().get(HttpHeaderNames.CONTENT_LENGTH));
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
        memory = new byte[(int) Math.min(length, kept)];
      }
    }

    @Override
    public void take(ByteBuf content) {
      int count = content.readableBytes();
      if (count == 0 || wrong != null) {
        return;
      }
      if (same || refused != null || count > length - taken) {
        wrong = "more bytes than were told";
        return;
      }
      digest.update(content.nioBuffer());
      int wanted = (int) Math.min(count, memory.length - taken);
      if (wanted > 0) {
        content.readBytes(memory, (int) taken, wanted);
      }
      taken += count;
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
        name = known;
        return TransferResult.FETCHED;
      }
      byte[] sha256 = digest.finish();
      if (taken < length) {
        wrong = "a short body";
      } else if (!BodyDigest.isIn(digestTold, sha256)) {
        wrong = "a wrong digest";
      } else {
        name = BodyDigest.name(sha256);
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
