package io.holdfast.fs.metrics;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.linux.NamedThreads;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers scrapes ({@code GET /metrics}); {@code GET /} says what there is. Does not ask who the
 * client is: the answers hold names and numbers, and no content of files. Few threads, few waiting
 * connections, and a deadline for each request: a slow client delays only its own scrape.
 * Thread-safe.
 */
public final class MetricsServer implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(MetricsServer.class);

  private static final int THREADS = 4;
  private static final int WAITING = 16;
  private static final int IDLE_SECONDS = 30;
  private static final Duration PAUSE = Duration.ofSeconds(1);

  /**
   * The most connections that wait to be accepted. The launcher bounds the open connections, each a
   * descriptor of the daemon, to the same number, and a request to 5 s: the JDK's server reads
   * these bounds once in a process.
   */
  static final int MOST_CONNECTIONS = 64;

  private final InetSocketAddress address;
  private final String mount;
  private final Supplier<byte[]> metrics;
  private final ThreadPoolExecutor threads;
  private volatile boolean closed;
  private @Nullable HttpServer server;

  /**
   * Creates a server that does not listen yet.
   *
   * @param address the address to listen at; port 0 for any
   * @param mount the mount's name
   * @param metrics returns the answer; called from several threads
   */
  public MetricsServer(InetSocketAddress address, String mount, Supplier<byte[]> metrics) {
    this.address = address;
    this.mount = mount;
    this.metrics = metrics;
    this.threads =
        new ThreadPoolExecutor(
            THREADS,
            THREADS,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(WAITING),
            new NamedThreads("metrics"),
            new ThreadPoolExecutor.AbortPolicy());
    threads.allowCoreThreadTimeOut(true);
  }

  /**
   * Starts to listen.
   *
   * @throws FsException if the server cannot listen there, with one line for the user
   */
  public synchronized void start() throws FsException {
    if (closed) {
      return;
    }
    if (address.isUnresolved()) {
      throw cannot("the host is not known", null);
    }
    try {
      HttpServer made = HttpServer.create(address, MOST_CONNECTIONS);
      made.createContext("/", this::answer);
      made.setExecutor(threads);
      made.start();
      server = made;
    } catch (IOException e) {
      throw cannot(String.valueOf(e.getMessage()), e);
    }
    log.info("metrics at http://{}:{}/metrics", address.getHostString(), port());
  }

  private FsException cannot(String why, @Nullable IOException cause) {
    String message =
        "--metrics %s:%d: %s: choose another port or address"
            .formatted(address.getHostString(), address.getPort(), why);
    return cause == null
        ? new FsException(FsError.UNAVAILABLE, message)
        : new FsException(FsError.UNAVAILABLE, message, cause);
  }

  /**
   * Starts to listen as soon as that is possible: the socket of a killed daemon may still be there
   * for a moment. Returns when the server listens or is closed.
   */
  public void keepStarting() {
    while (!closed) {
      try {
        start();
        return;
      } catch (FsException e) {
        log.warn("no metrics yet, trying again: {}", e.getMessage());
        LockSupport.parkNanos(PAUSE.toNanos());
      }
    }
  }

  /** Returns the port that the server listens on, or 0. */
  public synchronized int port() {
    return server == null ? 0 : server.getAddress().getPort();
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      String path = exchange.getRequestURI().getPath();
      String method = exchange.getRequestMethod();
      if (!method.equals("GET") && !method.equals("HEAD")) {
        exchange.getResponseHeaders().set("Allow", "GET, HEAD");
        send(exchange, 405, "only GET and HEAD\n");
      } else if ("/metrics".equals(path)) {
        send(exchange, 200, Exposition.CONTENT_TYPE, metrics.get());
      } else if ("/".equals(path)) {
        send(exchange, 200, "Holdfast, mount " + mount + ": the metrics are at /metrics\n");
      } else {
        send(exchange, 404, "nothing here: the metrics are at /metrics\n");
      }
    } catch (RuntimeException e) {
      log.error("a scrape failed", e);
      throw e;
    }
  }

  private static void send(HttpExchange exchange, int status, String text) throws IOException {
    send(exchange, status, "text/plain; charset=utf-8", text.getBytes(StandardCharsets.UTF_8));
  }

  private static void send(HttpExchange exchange, int status, String type, byte[] body)
      throws IOException {
    exchange.getResponseHeaders().set("Content-Type", type);
    if (exchange.getRequestMethod().equals("HEAD")) {
      exchange.sendResponseHeaders(status, -1);
    } else {
      exchange.sendResponseHeaders(status, body.length);
      exchange.getResponseBody().write(body);
    }
  }

  /** Ends the server at once, also requests that are being answered. */
  @Override
  public synchronized void close() {
    closed = true;
    if (server != null) {
      server.stop(0);
    }
    threads.shutdownNow();
  }
}
