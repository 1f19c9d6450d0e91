package io.holdfast.peer.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.peer.transfer.Nodes.TestNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A server's answers to other clients than our own, as RFC 9110 and RFC 9530 want them. */
final class HttpTest {
  private static final String ITEM = "/v1/datasets/imagenet/items/a?extent=0";
  private static final String TEXT = "0123456789";

  private final Nodes nodes = new Nodes();
  private TestNode owner;
  private RawClient member;

  @BeforeEach
  void start() throws IOException {
    owner = nodes.start("127.0.0.2");
    owner.shelf().items.put(Nodes.path("a"), TEXT.getBytes(StandardCharsets.US_ASCII));
    member = nodes.closing(new RawClient(owner.address())).hello(Nodes.SECRET);
  }

  @AfterEach
  void close() {
    nodes.close();
  }

  @Test
  void get_whole_headersThatDescribeIt() throws IOException {
    RawClient.Answer answer = member.ask(member.get(ITEM));

    assertThat(answer.status()).isEqualTo(200);
    assertThat(answer.text()).isEqualTo(TEXT);
    // SHA-256 of these ten digits is 84d89877f0d4041e...
    assertThat(answer.headers())
        .contains(
            Map.entry("etag", "\"" + Nodes.TAG + "\""),
            Map.entry("content-length", "10"),
            Map.entry("content-digest", "sha-256=:hNiYd/DUBB77a/kaFvAkjy/Vc+avBcGflr7bn4gveII=:"),
            Map.entry("holdfast-resident", "4711"))
        .containsKey("holdfast-mac")
        .doesNotContainKey("content-range");
  }

  @ParameterizedTest
  @CsvSource({
    "bytes=0-0, 206, 0, bytes 0-0/10",
    "bytes=2-4, 206, 234, bytes 2-4/10",
    "bytes=0-9, 206, 0123456789, bytes 0-9/10",
    "bytes=7-, 206, 789, bytes 7-9/10",
    "bytes=7-100, 206, 789, bytes 7-9/10",
    "bytes=-3, 206, 789, bytes 7-9/10",
    "bytes=-30, 206, 0123456789, bytes 0-9/10",
    "bytes=10-, 416, '',",
    "bytes=-0, 416, '',",
    "bytes=4-2, 200, 0123456789,",
    "'bytes=0-1,3-4', 200, 0123456789,",
    "items=0-1, 200, 0123456789,",
    "bytes=-, 200, 0123456789,",
  })
  void get_range_asHttpMeansIt(String range, int status, String text, String contentRange)
      throws IOException {
    RawClient.Answer answer = member.ask(member.get(ITEM, "Range: " + range));

    assertThat(answer.status()).isEqualTo(status);
    assertThat(answer.text()).isEqualTo(text);
    assertThat(answer.headers().get("content-range")).isEqualTo(contentRange);
  }

  @Test
  void head_item_headOfGetAndNoBody() throws IOException {
    String[] headers = {
      "If-Match: \"" + Nodes.TAG + "\"", "Holdfast-Item: length=10;item-size=8388608"
    };
    RawClient.Answer head = member.ask(member.request("HEAD", ITEM, headers));
    RawClient.Answer get = member.ask(member.get(ITEM));

    assertThat(head.status()).isEqualTo(200);
    assertThat(head.headers().get("content-length")).isEqualTo("10");
    assertThat(head.headers().get("content-digest")).isEqualTo(get.headers().get("content-digest"));
    assertThat(get.text()).isEqualTo(TEXT);
  }

  @Test
  void head_refused_noBodyAndConnectionKept() throws IOException {
    String uri = "/v1/datasets/imagenet/items/gone?extent=0";
    String[] headers = {
      "If-Match: \"" + Nodes.TAG + "\"", "Holdfast-Item: length=10;item-size=8388608"
    };
    assertThat(member.ask(member.request("HEAD", uri, headers)).status()).isEqualTo(404);
    assertThat(member.ask(member.get(ITEM)).text()).isEqualTo(TEXT);
  }

  @Test
  void delete_item_providerLearnsThatItIsHeld() throws IOException {
    String[] headers = {
      "If-Match: \"" + Nodes.TAG + "\"", "Holdfast-Item: length=10;item-size=8388608"
    };
    RawClient.Answer answer = member.ask(member.request("DELETE", ITEM, headers));

    assertThat(answer.status()).isEqualTo(204);
    assertThat(answer.headers()).containsOnlyKeys("holdfast-mac");
    assertThat(owner.shelf().held).containsExactly("a by 127.0.0.66:6666");
    assertThat(member.ask(member.get(ITEM)).text()).isEqualTo(TEXT);
  }

  @Test
  void get_busy_retryAfter() throws IOException {
    owner.shelf().instead = answer -> answer.refused(Refusal.BUSY);
    RawClient.Answer answer = member.ask(member.get(ITEM));
    assertThat(answer.status()).isEqualTo(503);
    assertThat(answer.headers()).containsEntry("retry-after", "1").containsKey("holdfast-mac");
  }

  @Test
  void get_connectionClose_answeredAndClosed() throws IOException {
    assertThat(member.ask(member.get(ITEM, "Connection: close")).text()).isEqualTo(TEXT);
    assertThat(member.awaitEnd()).isZero();
  }

  @Test
  void get_pipelined_oneAtATimeInOrder() throws IOException {
    AtomicReference<ItemProvider.Answer> first = new AtomicReference<>();
    owner.shelf().instead = first::set;
    member.send(
        member.get(ITEM, "Range: bytes=1-2")
            + member.get(ITEM, "Range: bytes=3-4")
            + member.get(ITEM));
    Eventually.holds("the first is asked", () -> first.get() != null);
    assertThat(owner.shelf().asked).hasSize(1);

    owner.shelf().instead = null;
    first.get().lent(owner.shelf().lend(new byte[] {'x', 'y'}, 0, 2));

    assertThat(member.read(false).text()).isEqualTo("xy");
    assertThat(member.read(false).text()).isEqualTo("34");
    assertThat(member.read(false).text()).isEqualTo(TEXT);
  }

  @ParameterizedTest
  @ValueSource(strings = {"GET", "HEAD"})
  void health_stranger_onlyOk(String method) throws IOException {
    RawClient stranger = nodes.closing(new RawClient(owner.address()));
    for (int i = 0; i < 2; i++) {
      RawClient.Answer answer = stranger.ask(method + " /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
      assertThat(answer.status()).isEqualTo(200);
      assertThat(answer.text()).isEqualTo(method.equals("GET") ? "ok" : "");
      assertThat(answer.headers()).containsOnlyKeys("content-type", "content-length", "date");
    }
  }
}
