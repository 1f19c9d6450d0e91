package io.holdfast.fs.web;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.OutOfMemory;
import io.holdfast.fs.linux.NamedThreads;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers requests with what a {@link Site} has for them. Few threads, few waiting connections, and
 * a deadline for each request: a slow client delays only its own. Thread-safe.
 */
public final class WebServer implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(WebServer.class);

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

  private final String setting;
  private final InetSocketAddress address;
  private final Site site;
  private final ThreadPoolExecutor threads;
  private volatile boolean closed;
  private @Nullable HttpServer server;

  /**
   * Creates a server that does not listen yet.
   *
   * @param setting the setting that gave the address, for messages and threads: {@code metrics}
   * @param address the address to listen at, resolved or not; port 0 for any
   */
  public WebServer(String setting, InetSocketAddress address, Site site) {
    this(setting, address, site, new NamedThreads(setting));
  }

  WebServer(String setting, InetSocketAddress address, Site site, ThreadFactory factory) {
    this.setting = setting;
    this.address = address;
    this.site = site;
    this.threads =
        new ThreadPoolExecutor(
            THREADS,
            THREADS,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(WAITING),
            factory,
            new ThreadPoolExecutor.AbortPolicy());
    threads.allowCoreThreadTimeOut(true);
  }

  /**
   * Starts to listen.
   *
   * @throws FsException if the server cannot listen there, with one line for the user
   */
  public void start() throws FsException {
    InetSocketAddress at = resolved();
    site.requireVisibleAt(at.getAddress(), option());
    listen(at);
  }

  private synchronized void listen(InetSocketAddress at) throws FsException {
    if (closed) {
      return;
    }
    try {
      // first, because the JDK's server keeps the port for good if its own thread does not start
      int unused = threads.prestartAllCoreThreads();
      HttpServer made = HttpServer.create(at, MOST_CONNECTIONS);
      made.createContext("/", this::answer);
      made.setExecutor(threads);
      made.start();
      server = made;
    } catch (IOException e) {
      throw cannot(String.valueOf(e.getMessage()), e);
    }
    log.info("--{} listens at {}:{}", setting, address.getHostString(), port());
  }

  /** Returns the address, resolved now: a name may not have been known before. May wait for DNS. */
  private InetSocketAddress resolved() throws FsException {
    InetSocketAddress now =
        address.isUnresolved()
            ? new InetSocketAddress(address.getHostString(), address.getPort())
            : address;
    if (now.isUnresolved()) {
      throw cannot("the host is not known", null);
    }
    return now;
  }

  private String option() {
    return "--%s %s:%d".formatted(setting, address.getHostString(), address.getPort());
  }

  private FsException cannot(String why, @Nullable IOException cause) {
    String message = option() + ": " + why + ": choose another port or address";
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
        log.warn("no {} yet, trying again: {}", setting, e.getMessage());
      } catch (RuntimeException | Error e) { // nobody else would try again
        OutOfMemory.tell(log, "no " + setting + " yet, trying again", e);
      }
      LockSupport.parkNanos(PAUSE.toNanos());
    }
  }

  /** Returns the port that the server listens on, or 0. */
  public synchronized int port() {
    return server == null ? 0 : server.getAddress().getPort();
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      String method = exchange.getRequestMethod();
      if (method.equals("GET") || method.equals("HEAD")) {
        String path = exchange.getRequestURI().getPath();
        send(
            exchange,
            site.answer(
                new WebRequest(path == null ? "" : path, exchange.getRequestHeaders()::getFirst)));
      } else {
        send(
            exchange,
            WebAnswer.text(405, "only GET and HEAD\n").with(Map.of("Allow", "GET, HEAD")));
      }
    } catch (RuntimeException e) {
      log.error("a request failed", e);
      throw e;
    }
  }

  private static void send(HttpExchange exchange, WebAnswer answer) throws IOException {
    answer.headers().forEach(exchange.getResponseHeaders()::set);
    if (exchange.getRequestMethod().equals("HEAD")) {
      exchange.sendResponseHeaders(answer.status(), -1);
    } else {
      exchange.sendResponseHeaders(answer.status(), answer.body().length);
      exchange.getResponseBody().write(answer.body());
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
