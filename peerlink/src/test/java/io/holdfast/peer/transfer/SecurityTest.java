package io.holdfast.peer.transfer;

import static io.holdfast.peer.transfer.Nodes.fetch;
import static io.holdfast.peer.transfer.Nodes.whole;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.PeerSetupException;
import io.holdfast.peer.transfer.Nodes.TestNode;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.Map;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The clients that a node refuses, and the reasons. */
final class SecurityTest {
  private static final String ITEM = "/v1/datasets/imagenet/items/a?extent=0";

  private final Nodes nodes = new Nodes();
  private TestNode owner;

  @BeforeEach
  void start() {
    owner = nodes.start("127.0.0.2");
    owner.put("a", 10);
  }

  @AfterEach
  void close() {
    nodes.close();
  }

  private RawClient client() throws IOException {
    return nodes.closing(new RawClient(owner.address()));
  }

  private RawClient member() throws IOException {
    return client().hello(Nodes.SECRET);
  }

  private Map<String, Long> refusals() {
    return owner.transfer().refusals();
  }

  @Test
  void fetch_serverOfAnotherCluster_clientRefuses() {
    TestNode stranger = nodes.start(Nodes.config(Nodes.free("127.0.0.3"), Nodes.OTHER_SECRET));
    ByteBuf memory = nodes.memory(10);

    TransferResult outcome = fetch(stranger, owner.address(), whole("a", 10), memory);

    assertThat(outcome).isEqualTo(TransferResult.fault("it does not know the cluster's secret"));
    assertThat(stranger.transfer().refusals()).containsEntry("foreign_cluster", 1L);
    assertThat(owner.shelf().asked).isEmpty();
    assertThat(Nodes.bytes(memory, 10)).containsOnly(0x5a);
    Eventually.holds(
        "the server counts it as well", () -> refusals().containsKey("foreign_cluster"));
  }

  @Test
  void serve_clientOfAnotherCluster_refused() throws IOException {
    RawClient stranger = client().hello(Nodes.OTHER_SECRET);

    RawClient.Answer answer = stranger.ask(stranger.get(ITEM));

    assertThat(answer.status()).isEqualTo(401);
    assertThat(answer.headers()).containsOnlyKeys("content-length", "connection");
    assertThat(stranger.awaitEnd()).isZero();
    assertThat(refusals()).containsExactly(Map.entry("foreign_cluster", 1L));
    assertThat(owner.shelf().asked).isEmpty();
  }

  @Test
  void serve_proofOfAnotherNode_refused() throws Exception {
    // what a server proves for one address is worth nothing for another
    Wiretap tap = nodes.closing(new Wiretap("127.0.0.4"));
    TestNode elsewhere =
        nodes.start(Nodes.config(Nodes.free("127.0.0.5"), Nodes.SECRET), tap.behind());
    TestNode asker = nodes.start("127.0.0.3");
    elsewhere.put("a", 10);

    assertThat(fetch(asker, tap.address(), whole("a", 10), nodes.memory(10)).kind())
        .isEqualTo(TransferResult.Kind.FAULT);
    assertThat(elsewhere.shelf().asked).isEmpty();
  }

  @Test
  void serve_requestTwiceOnAConnection_replayed() throws IOException {
    RawClient member = member();
    String request = member.get(ITEM);
    assertThat(member.ask(request).status()).isEqualTo(200);

    assertThat(member.ask(request).status()).isEqualTo(401);

    assertThat(member.awaitEnd()).isZero();
    assertThat(refusals()).containsExactly(Map.entry("replayed", 1L));
    assertThat(owner.shelf().asked).hasSize(1);
  }

  @Test
  void serve_requestLeftOut_refused() throws IOException {
    RawClient member = member();
    member.get(ITEM);
    assertThat(member.ask(member.get(ITEM)).status()).isEqualTo(401);
  }

  @Test
  void serve_recordedConnectionAgain_replayed() throws IOException {
    Wiretap tap = nodes.closing(new Wiretap("127.0.0.4"));
    TestNode tapped = tap.node(nodes);
    tapped.put("a", 10);
    TestNode asker = nodes.start("127.0.0.3");
    fetch(asker, tapped.address(), whole("a", 10), nodes.memory(10));

    try (RawClient attacker = new RawClient(tapped.address())) {
      attacker.send(tap.asked(0));
      assertThat(attacker.read(false).status()).isEqualTo(401);
      assertThat(attacker.awaitEnd()).isZero();
    }
    assertThat(tapped.transfer().refusals()).containsExactly(Map.entry("replayed", 1L));
    assertThat(tapped.shelf().asked).hasSize(1);
  }

  @Test
  void serve_recordedRequestAfterAFreshGreeting_refused() throws IOException {
    String recorded = member().get(ITEM);
    RawClient attacker = client().hello(Nodes.OTHER_SECRET);

    assertThat(attacker.ask(recorded).status()).isEqualTo(401);
    assertThat(owner.shelf().asked).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"/", "/v1/hello", "/metrics", "/v1/datasets/imagenet/items/a?extent=0"})
  void serve_noGreeting_401WithoutDetails(String uri) throws IOException {
    RawClient stranger = client();

    RawClient.Answer answer = stranger.ask("GET " + uri + " HTTP/1.1\r\nHost: x\r\n\r\n");

    assertThat(answer.status()).isEqualTo(401);
    assertThat(answer.headers()).containsOnlyKeys("content-length", "connection");
    assertThat(answer.text()).isEmpty();
    assertThat(refusals()).containsExactly(Map.entry("unauthenticated", 1L));
  }

  @Test
  void serve_oneCharacterOfASignedRequestChanged_refused() throws IOException {
    String[] changes = {
      "items/a?",
      "items/b?",
      "10-abc",
      "10-abd",
      "bytes=0-4",
      "bytes=0-5",
      "only-if",
      "only-of",
      "length=10",
      "length=11",
      "GET",
      "PUT",
      "seq=\"1",
      "seq=\"2",
    };
    for (int i = 0; i < changes.length; i += 2) {
      RawClient member = member();
      String right = member.get(ITEM, "Range: bytes=0-4", "Cache-Control: only-if-cached");
      assertThat(right).contains(changes[i]);

      assertThat(member.ask(right.replace(changes[i], changes[i + 1])).status())
          .as(changes[i])
          .isEqualTo(401);
    }
    assertThat(owner.shelf().asked).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "../a",
        "x/../../a",
        "%2e%2e/a",
        "%2E%2e%2fa",
        "x/%2e%2e/%2e%2e/a",
        "a%00",
        "%00",
        "//a",
        "x//a",
        "a/",
        ".",
        "x/./a",
        "%",
        "a%2",
        "a%zz",
        "a%2fb",
        "",
        "ä",
        "a\"b",
      })
  void serve_pathOutsideOrNone_refusedAndCounted(String path) throws IOException {
    RawClient member = member();
    String uri = "/v1/datasets/imagenet/items/" + path + "?extent=0";

    assertThat(member.ask(member.get(uri)).status()).isEqualTo(400);

    assertThat(refusals()).containsExactly(Map.entry("bad_path", 1L));
    assertThat(owner.shelf().asked).isEmpty();
    assertThat(member.ask(member.get(ITEM)).status()).isEqualTo(200);
  }

  @ParameterizedTest
  @CsvSource({
    "GET, /v1/datasets/imagenet, 404, malformed",
    "GET, /v2/x, 404, malformed",
    "GET, /v1/datasets/coco/items/a?extent=0, 404, unknown_dataset",
    "GET, /v1/datasets/../items/a?extent=0, 404, unknown_dataset",
    "GET, /v1/datasets/imagenet/items/a, 400, malformed",
    "GET, /v1/datasets/imagenet/items/a?extent=-1, 400, malformed",
    "GET, /v1/datasets/imagenet/items/a?extent=99999999999999999999, 400, malformed",
    "GET, /v1/datasets/imagenet/items/a?extent=0&x=1, 400, malformed",
    "PUT, /v1/datasets/imagenet/items/a?extent=0, 405, malformed",
    "POST, /v1/datasets/imagenet/items/a?extent=0, 405, malformed",
    "OPTIONS, /v1/datasets/imagenet/items/a?extent=0, 405, malformed",
  })
  void serve_badRequest_refusedAndCounted(String method, String uri, int status, String reason)
      throws IOException {
    RawClient member = member();
    String request =
        member.request(
            method, uri, "If-Match: \"x\"", "Holdfast-Item: length=10;item-size=8388608");

    assertThat(member.ask(request).status()).isEqualTo(status);

    assertThat(refusals()).containsExactly(Map.entry(reason, 1L));
    assertThat(member.ask(member.get(ITEM)).status()).isEqualTo(200);
  }

  @ParameterizedTest
  @ValueSource(strings = {"Content-Length: 5", "Content-Length: x", "Transfer-Encoding: chunked"})
  void serve_requestWithABody_refusedAndClosed(String header) throws IOException {
    RawClient member = member();
    assertThat(member.ask(member.get(ITEM, header)).status()).isEqualTo(400);
    assertThat(member.awaitEnd()).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"*", "x", "W/\"x\"", "\"a\", \"b\"", "\"\"", "\"a b\""})
  void serve_noStrongTag_refused(String tag) throws IOException {
    RawClient member = member();
    String request =
        member.request(
            "GET", ITEM, "If-Match: " + tag, "Holdfast-Item: length=10;item-size=8388608");
    assertThat(member.ask(request).status()).isEqualTo(400);
  }

  @Test
  void start_portTaken_oneClearLine() {
    assertSetup(owner.address(), "another process uses port " + owner.address().port());
  }

  @Test
  void start_noAddressOfThisMachine_oneClearLine() {
    assertSetup(new NodeAddress("192.0.2.1", 7070), "that is no address of this machine");
  }

  @Test
  void start_unknownName_oneClearLine() {
    assertSetup(
        new NodeAddress("nowhere.invalid", 7070), "the name 'nowhere.invalid' is not known");
  }

  @Test
  void start_allInterfaces_oneClearLine() {
    assertSetup(new NodeAddress("0.0.0.0", 7070), "name the one that they use");
  }

  private static void assertSetup(NodeAddress address, String message) {
    assertThatThrownBy(
            () -> Transfer.start(Nodes.config(address, Nodes.SECRET), new ShelfProvider()).close())
        .isInstanceOf(PeerSetupException.class)
        .hasMessageStartingWith("cannot listen at " + address + ": ")
        .hasMessageContaining(message)
        .extracting(Throwable::getMessage, InstanceOfAssertFactories.STRING)
        .hasLineCount(1);
  }
}
