package io.holdfast.fs.web;

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
import java.util.Map;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of {@link WebServer}. */
final class WebServerTest {
  private final HttpClient client = HttpClient.newHttpClient();
  private final WebServer server =
      new WebServer("metrics", loopback(0), request -> answer(request.path()));

  @AfterEach
  void close() {
    server.close();
  }

  private static WebAnswer answer(String path) {
    return WebAnswer.of(
            path.equals("/a") ? 200 : 404, "text/plain; version=1", path.getBytes(UTF_8))
        .with(Map.of("X-More", "yes"));
  }

  @Test
  void answer_isThatOfTheSite() throws Exception {
    server.start();
    HttpResponse<String> answer = ask("GET", "/a");
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.headers().firstValue("Content-Type")).hasValue("text/plain; version=1");
    assertThat(answer.headers().firstValue("X-More")).hasValue("yes");
    assertThat(answer.body()).isEqualTo("/a");
    assertThat(ask("GET", "/etc/passwd").statusCode()).isEqualTo(404);
  }

  @Test
  void head_hasNoBody() throws Exception {
    server.start();
    HttpResponse<String> answer = ask("HEAD", "/a");
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.body()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"})
  void methodsThatChange_areNotPassedOn(String method) throws Exception {
    server.start();
    HttpResponse<String> answer = ask(method, "/a");
    assertThat(answer.statusCode()).isEqualTo(405);
    assertThat(answer.headers().firstValue("Allow")).hasValue("GET, HEAD");
    assertThat(answer.headers().firstValue("X-More")).isEmpty();
  }

  /**
   * Each connection costs the daemon a descriptor, for as long as its client likes. A silent
   * connection is closed after a while too. On a busy machine that may happen first; such a round
   * shows nothing.
   */
  @Test
  void connection_beyondTheBound_isClosedBeforeTheOthers() throws Exception {
    server.start();
    boolean bounded = false;
    for (int round = 0; !bounded && round < 10; round++) {
      List<Socket> all = new ArrayList<>();
      try {
        for (int i = 0; i <= WebServer.MOST_CONNECTIONS; i++) {
          all.add(new Socket(InetAddress.getLoopbackAddress(), server.port()));
        }
        List<Socket> within = all.subList(0, WebServer.MOST_CONNECTIONS);
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
      assertThat(ask("GET", "/a").statusCode()).isEqualTo(200);
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
      try (WebServer second = new WebServer("metrics", address, request -> answer(""))) {
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
    try (WebServer second = new WebServer("metrics", address, request -> answer(""))) {
      Thread starting = new Thread(second::keepStarting);
      starting.start();
      taken.close();
      starting.join();
      assertThat(second.port()).isEqualTo(address.getPort());
    }
  }

  /**
   * A daemon that died for want of threads has a next one that finds none either, for a moment. It
   * went on without its metrics, for good, and kept their port.
   */
  @Test
  void keepStarting_whereNoThreadCanBeStarted_listensOnceOneCan() throws Exception {
    AtomicBoolean failed = new AtomicBoolean();
    ThreadFactory factory =
        task -> {
          if (failed.compareAndSet(false, true)) {
            throw new OutOfMemoryError("unable to create native thread: made for the test");
          }
          return new Thread(task);
        };
    try (WebServer late = new WebServer("metrics", loopback(0), request -> answer("/a"), factory)) {
      late.keepStarting();
      assertThat(late.port()).isPositive();
      assertThat(ask(late, "GET", "/a").statusCode()).isEqualTo(200);
    }
  }

  /** A daemon that takes over before names can be resolved came without the server, for good. */
  @Test
  void start_atANameThatWasNotResolved_resolvesIt() throws Exception {
    InetSocketAddress unknown = InetSocketAddress.createUnresolved("localhost", 0);
    try (WebServer late = new WebServer("metrics", unknown, request -> answer(""))) {
      late.start();
      assertThat(late.port()).isPositive();
    }
  }

  @Test
  void start_atANameThatIsNotKnown_saysSo() {
    InetSocketAddress unknown = InetSocketAddress.createUnresolved("no-such-host.invalid", 9464);
    try (WebServer never = new WebServer("metrics", unknown, request -> answer(""))) {
      assertThatThrownBy(never::start)
          .isInstanceOf(FsException.class)
          .hasMessageStartingWith("--metrics no-such-host.invalid:9464: the host is not known");
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
    return ask(server, method, path);
  }

  private HttpResponse<String> ask(WebServer server, String method, String path)
      throws IOException, InterruptedException {
    URI uri = URI.create("http://127.0.0.1:" + server.port() + path);
    return client.send(
        HttpRequest.newBuilder(uri).method(method, BodyPublishers.noBody()).build(),
        BodyHandlers.ofString());
  }
}
