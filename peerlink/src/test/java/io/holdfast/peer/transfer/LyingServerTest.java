package io.holdfast.peer.transfer;

import static io.holdfast.peer.transfer.Nodes.fetch;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.peer.transfer.Nodes.TestNode;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A node does not believe a member's answer before the answer fits the request. */
final class LyingServerTest {
  private static final byte[] BODY = "0123456789".getBytes(StandardCharsets.US_ASCII);

  private final Nodes nodes = new Nodes();
  private final Map<String, String> headers = new LinkedHashMap<>();

  @AfterEach
  void close() {
    nodes.close();
  }

  private TransferResult ask(int status, byte[] body, ItemRequest request) {
    LyingServer server = nodes.closing(new LyingServer("127.0.0.2", status, headers, body));
    TestNode asker = nodes.start("127.0.0.3");
    ByteBuf memory = nodes.memory(100);
    TransferResult outcome = fetch(asker, server.address(), request, memory);
    assertThat(Nodes.bytes(memory, 100))
        .as("what lies behind the memory")
        .endsWith(new byte[] {0x5a, 0x5a});
    return outcome;
  }

  private void truth(ItemRequest request) {
    byte[] body = Arrays.copyOfRange(BODY, request.from(), request.from() + request.length());
    headers.put("ETag", "\"" + Nodes.TAG + "\"");
    headers.put("Content-Length", String.valueOf(request.length()));
    headers.put("Content-Digest", BodyDigest.headerOf(BodyDigest.of(body)));
    if (!request.isWhole()) {
      headers.put("Content-Range", ItemMessages.contentRange(request));
    }
  }

  @Test
  void fetch_truth_fetched() {
    ItemRequest request = Nodes.whole("a", 10);
    truth(request);
    assertThat(ask(200, BODY, request)).isEqualTo(TransferResult.FETCHED);
  }

  @ParameterizedTest
  @CsvSource({
    "ETag, '\"10-abd\"', another version",
    "ETag, 'W/\"10-abc\"', another version",
    "ETag, '', another version",
    "Content-Length, 9, another length",
    "Content-Length, 11, another length",
    "Content-Digest, '', no digest",
    "Content-Digest, 'crc32c=:KAwGng==:', no digest",
    "Content-Digest, 'sha-256=:hNiYd/DUBB77a/kaFvAkjy/Vc+avBcGflr7bn4gveIA=:', wrong digest",
  })
  void fetch_headerThatDoesNotFit_fault(String name, String value, String detail) {
    ItemRequest request = Nodes.whole("a", 10);
    truth(request);
    headers.put(name, value);

    TransferResult outcome = ask(200, BODY, request);

    assertThat(outcome.kind()).isEqualTo(TransferResult.Kind.FAULT);
    assertThat(outcome.detail()).contains(detail);
  }

  @Test
  void fetch_noLengthAndTooLongABody_fault() {
    ItemRequest request = Nodes.whole("a", 10);
    truth(request);
    headers.remove("Content-Length");
    assertThat(ask(200, new byte[5000], request).detail()).contains("another length");
  }

  @Test
  void fetch_chunkedAndLongerThanAskedFor_faultAndNothingBehindTheMemory() {
    ItemRequest request = Nodes.whole("a", 10);
    truth(request);
    headers.put("Transfer-Encoding", "chunked");
    byte[] chunks =
        "20\r\n01234567890123456789012345678901\r\n0\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    assertThat(ask(200, chunks, request).kind()).isEqualTo(TransferResult.Kind.FAULT);
  }

  @ParameterizedTest
  @CsvSource({"bytes 2-5/10", "bytes 3-7/10", "bytes 3-6/11", "''"})
  void fetch_anotherRange_fault(String range) {
    ItemRequest request = Nodes.part("a", 10, 3, 4);
    truth(request);
    headers.put("Content-Range", range);
    assertThat(ask(206, "3456".getBytes(StandardCharsets.US_ASCII), request).detail())
        .contains("another range");
  }

  @ParameterizedTest
  @CsvSource({"200, 4", "206, 10", "204, 10", "304, 10", "400, 10", "500, 10", "301, 10"})
  void fetch_statusThatDoesNotFit_fault(int status, int length) {
    ItemRequest request = Nodes.part("a", 10, 0, length);
    truth(request);
    assertThat(ask(status, BODY, request).detail()).contains("status " + status);
  }
}
