package io.holdfast.fs.metrics;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.fs.FsException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests of {@link MetricsServer}. */
final class MetricsServerTest {
  private final HttpClient client = HttpClient.newHttpClient();
  private final MetricsServer server =
      new MetricsServer(loopback(0), "data", () -> "a 1\n".getBytes(UTF_8));

  @AfterEach
  void close() {
    server.close();
  }

  @Test
  void metrics_areAnsweredAsPrometheusWantsThem() throws Exception {
    server.start();
    HttpResponse<String> answer = ask("GET", "/metrics");
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.headers().firstValue("Content-Type"))
        .hasValue("text/plain; version=0.0.4; charset=utf-8");
    assertThat(answer.body()).isEqualTo("a 1\n");
    assertThat(ask("HEAD", "/metrics").statusCode()).isEqualTo(200);
  }

  @Test
  void otherRequests_areToldWhatThereIs() throws Exception {
    server.start();
    assertThat(ask("GET", "/").body()).contains("data").contains("/metrics");
    assertThat(ask("GET", "/metrics/x").statusCode()).isEqualTo(404);
    assertThat(ask("GET", "/etc/passwd").statusCode()).isEqualTo(404);
    assertThat(ask("POST", "/metrics").statusCode()).isEqualTo(405);
  }

  /** Each connection would cost the daemon a descriptor, for as long as its client likes. */
  /**
   * A silent connection is closed after a while too. On a busy machine that may happen first; such
   * a round shows nothing.
   */
  @Test
  void connection_beyondTheBound_isClosedBeforeTheOthers() throws Exception {
    server.start();
    boolean bounded = false;
    for (int round = 0; !bounded && round < 10; round++) {
      List<Socket> all = new ArrayList<>();
      try {
        for (int i = 0; i <= MetricsServer.MOST_CONNECTIONS; i++) {
          all.add(new Socket(InetAddress.getLoopbackAddress(), server.port()));
        }
        List<Socket> within = all.subList(0, MetricsServer.MOST_CONNECTIONS);
        boolean closed = isClosed(all.get(all.size() - 1), 5000);
        bounded = closed && within.stream().noneMatch(each -> isClosed(each, 1));
      } finally {
        for (Socket each : all) {
          each.close();
        }
      }
    }
    assertThat(bounded).isTrue();
  }

  private static boolean isClosed(Socket socket, int millis) {
    try {
      socket.setSoTimeout(millis);
      return socket.getInputStream().read() < 0;
    } catch (SocketTimeoutException e) {
      return false;
    } catch (IOException e) {
      return true; // reset
    }
  }

  @Test
  void connections_thatSayNothing_keepNobodyWaiting() throws Exception {
    server.start();
    List<Socket> silent = new ArrayList<>();
    try {
      for (int i = 0; i < 32; i++) {
        silent.add(new Socket(InetAddress.getLoopbackAddress(), server.port()));
      }
      assertThat(ask("GET", "/metrics").statusCode()).isEqualTo(200);
    } finally {
      for (Socket each : silent) {
        each.close();
      }
    }
  }

  @Test
  void start_atAPortInUse_saysSo() throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      InetSocketAddress address = loopback(taken.getLocalPort());
      try (MetricsServer second = new MetricsServer(address, "data", () -> new byte[0])) {
        assertThatThrownBy(second::start)
            .isInstanceOf(FsException.class)
            .hasMessageContaining(
                "--metrics " + address.getHostString() + ":" + taken.getLocalPort())
            .hasMessageContaining("in use");
      }
    }
  }

  @Test
  void keepStarting_atAPortThatBecomesFree_listens() throws Exception {
    ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    InetSocketAddress address = loopback(taken.getLocalPort());
    try (MetricsServer second = new MetricsServer(address, "data", () -> new byte[0])) {
      Thread starting = new Thread(second::keepStarting);
      starting.start();
      taken.close();
      starting.join();
      assertThat(second.port()).isEqualTo(address.getPort());
    }
  }

  @Test
  void close_freesThePort() throws IOException {
    server.start();
    int port = server.port();
    server.close();
    try (ServerSocket again = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
      assertThat(again.getLocalPort()).isEqualTo(port);
    }
  }

  private static InetSocketAddress loopback(int port) {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
  }

  private HttpResponse<String> ask(String method, String path)
      throws IOException, InterruptedException {
    URI uri = URI.create("http://127.0.0.1:" + server.port() + path);
    return client.send(
        HttpRequest.newBuilder(uri).method(method, BodyPublishers.noBody()).build(),
        BodyHandlers.ofString());
  }
}
