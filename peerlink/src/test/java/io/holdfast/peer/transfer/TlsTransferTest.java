package io.holdfast.peer.transfer;

import static io.holdfast.peer.transfer.Nodes.fetch;
import static io.holdfast.peer.transfer.Nodes.whole;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.peer.Credentials;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.PeerSetupException;
import io.holdfast.peer.TestAuthority;
import io.holdfast.peer.TlsContext;
import io.holdfast.peer.TlsFiles;
import io.holdfast.peer.transfer.Nodes.TestNode;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Transfers under mutual TLS. */
final class TlsTransferTest {
  private static final int LENGTH = 3_000_000;

  private final Nodes nodes = new Nodes();
  @TempDir private Path directory;
  private TestAuthority authority;

  @BeforeEach
  void start() {
    authority = new TestAuthority(directory, "ours");
  }

  @AfterEach
  void close() {
    nodes.close();
  }

  private TestNode node(String host, TlsFiles files) {
    return nodes.start(Nodes.config(Nodes.free(host), new Credentials(null, files)));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void fetch_certificates_sameBytes(boolean secretToo) {
    Credentials one =
        new Credentials(secretToo ? Nodes.SECRET.secret() : null, authority.issue("127.0.0.2"));
    Credentials two =
        new Credentials(secretToo ? Nodes.SECRET.secret() : null, authority.issue("127.0.0.3"));
    TestNode owner = nodes.start(Nodes.config(Nodes.free("127.0.0.2"), one));
    TestNode asker = nodes.start(Nodes.config(Nodes.free("127.0.0.3"), two));
    byte[] sent = owner.put("a", LENGTH);
    ByteBuf memory = nodes.memory(LENGTH);

    for (int i = 0; i < 3; i++) {
      assertThat(fetch(asker, owner.address(), whole("a", LENGTH), memory))
          .isEqualTo(TransferResult.FETCHED);
      assertThat(Nodes.bytes(memory, LENGTH)).isEqualTo(sent);
    }
    assertThat(owner.shelf().askers).containsOnly(asker.address());
  }

  @Test
  void fetch_rightCertificateWrongSecret_refused() {
    Credentials one = new Credentials(Nodes.SECRET.secret(), authority.issue("127.0.0.2"));
    Credentials two = new Credentials(Nodes.OTHER_SECRET.secret(), authority.issue("127.0.0.3"));
    TestNode owner = nodes.start(Nodes.config(Nodes.free("127.0.0.2"), one));
    TestNode asker = nodes.start(Nodes.config(Nodes.free("127.0.0.3"), two));

    assertFault(owner, asker, "it does not know the cluster's secret");
  }

  private void assertFault(TestNode owner, TestNode asker, String detail) {
    owner.put("a", 10);
    ByteBuf memory = nodes.memory(10);
    TransferResult outcome = fetch(asker, owner.address(), whole("a", 10), memory);
    assertThat(outcome.kind()).isEqualTo(TransferResult.Kind.FAULT);
    assertThat(outcome.detail()).contains(detail);
    assertThat(owner.shelf().asked).isEmpty();
    assertThat(Nodes.bytes(memory, 10)).containsOnly(0x5a);
  }

  @Test
  void fetch_otherAuthority_refusedByBoth() {
    TestNode owner = node("127.0.0.2", authority.issue("127.0.0.2"));
    TestAuthority theirs = new TestAuthority(directory, "theirs");
    TestNode asker = node("127.0.0.3", theirs.issue("127.0.0.3"));

    assertFault(owner, asker, "no TLS: ");
    Eventually.holds("it is counted", () -> owner.transfer().refusals().containsKey("tls"));
  }

  @Test
  void fetch_serverOfAnotherName_refused() {
    // the certificate is for the node's name, but another name was dialled
    NodeAddress named = Nodes.free("127.0.0.2");
    TestNode owner =
        nodes.start(
            Nodes.config(named, new Credentials(null, authority.issue("127.0.0.2"))),
            new InetSocketAddress("127.0.0.4", named.port()));
    TestNode asker = node("127.0.0.3", authority.issue("127.0.0.3"));
    owner.put("a", 10);

    TransferResult outcome =
        fetch(asker, new NodeAddress("127.0.0.4", named.port()), whole("a", 10), nodes.memory(10));

    assertThat(outcome.detail()).startsWith("no TLS: ");
    assertThat(owner.shelf().asked).isEmpty();
  }

  @Test
  void fetch_nodeWithoutTls_faultBothWays() {
    TestNode tls = node("127.0.0.2", authority.issue("127.0.0.2"));
    TestNode plain = nodes.start("127.0.0.3");

    assertFault(tls, plain, "");
    assertFault(plain, tls, "");
  }

  @Test
  void serve_clientWithoutCertificate_refused() throws Exception {
    TestNode owner = node("127.0.0.2", authority.issue("127.0.0.2"));
    SSLContext trusting = SSLContext.getInstance("TLS");
    trusting.init(null, new TrustManager[] {new TrustEverybody()}, new SecureRandom());

    try (SSLSocket socket =
        (SSLSocket)
            trusting
                .getSocketFactory()
                .createSocket(owner.address().host(), owner.address().port())) {
      socket.setSoTimeout(20_000);
      assertThatThrownBy(
              () -> {
                socket.startHandshake();
                socket
                    .getOutputStream()
                    .write("GET /healthz HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                assertThat(socket.getInputStream().read()).isNegative();
                throw new SSLException("closed without an answer");
              })
          .isInstanceOf(IOException.class)
          .isNotInstanceOf(SocketTimeoutException.class);
    }
    Eventually.holds("it is counted", () -> owner.transfer().refusals().containsKey("tls"));
  }

  /** Any certificate of the authority used to do, for any name. */
  @Test
  void serve_certificateOfTheAuthorityForAnotherNode_refused() throws Exception {
    TestNode owner = node("127.0.0.2", authority.issue("127.0.0.2"));
    owner.put("a", 10);
    SSLContext context = TlsContext.of(authority.issue("127.0.0.9"), "127.0.0.9");

    assertThat(askAs(context, owner, "127.0.0.3:7")).startsWith("HTTP/1.1 403");
    assertThat(owner.shelf().asked).isEmpty();
    assertThat(owner.transfer().refusals()).containsEntry("tls", 1L);
    assertThat(askAs(context, owner, "127.0.0.9:7")).startsWith("HTTP/1.1 200");
    assertThat(owner.shelf().askers).containsExactly(new NodeAddress("127.0.0.9", 7));
  }

  private static String askAs(SSLContext context, TestNode owner, String name) throws IOException {
    String request =
        "GET /v1/datasets/imagenet/items/a?extent=0 HTTP/1.1\r\nHoldfast-Node: "
            + name
            + "\r\nIf-Match: \""
            + Nodes.TAG
            + "\"\r\nHoldfast-Item: length=10;item-size="
            + Nodes.DATASET.itemSize()
            + "\r\nConnection: close\r\n\r\n";
    try (Socket socket =
        context.getSocketFactory().createSocket(owner.address().host(), owner.address().port())) {
      socket.setSoTimeout(20_000);
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
    }
  }

  private static final class TrustEverybody implements X509TrustManager {
    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type) {}

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }

  @Test
  void start_certificateExpiredOrForAnotherName_oneClearLine() {
    TlsFiles expired =
        authority.issue(Instant.now().minusSeconds(7200), Duration.ofHours(1), "127.0.0.2");
    assertSetup(expired, "expired");
    assertSetup(authority.issue("127.0.0.9"), "is not for '127.0.0.2'");
  }

  private static void assertSetup(TlsFiles files, String message) {
    Transfer.Config config = Nodes.config(Nodes.free("127.0.0.2"), new Credentials(null, files));
    assertThatThrownBy(() -> Transfer.start(config, new ShelfProvider()).close())
        .isInstanceOf(PeerSetupException.class)
        .hasMessageContaining(message);
  }
}
