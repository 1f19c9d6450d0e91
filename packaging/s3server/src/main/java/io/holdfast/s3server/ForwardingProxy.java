package io.holdfast.s3server;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Stands between clients and an S3 server: it keeps a log of the requests, which is a count
 * independent of the clients', and injects faults. It passes heads and bodies on as they are, so
 * that signatures hold. Thread-safe.
 */
public final class ForwardingProxy implements AutoCloseable {
  private static final int BACKLOG = 200;
  private static final Duration LONGEST_HOLD = Duration.ofSeconds(10);

  private final URI server;
  private final ServerSocket listener;
  private final ExecutorService threads = Executors.newCachedThreadPool(ForwardingProxy::thread);
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private final Queue<Request> log = new ConcurrentLinkedQueue<>();
  private final LongAdder bodyBytes = new LongAdder();
  private final List<Rule> rules = new CopyOnWriteArrayList<>();
  private final AtomicInteger atOnce = new AtomicInteger();
  private final AtomicInteger mostAtOnce = new AtomicInteger();
  private volatile Duration delay = Duration.ZERO;
  private volatile CountDownLatch held = new CountDownLatch(0);

  private record Rule(Predicate<Request> which, AtomicInteger times, Fault fault) {}

  private ForwardingProxy(URI server, ServerSocket listener) {
    this.server = server;
    this.listener = listener;
  }

  private static Thread thread(Runnable task) {
    Thread thread = new Thread(task, "s3-forwarding-proxy");
    thread.setDaemon(true);
    return thread;
  }

  /**
   * Starts one on a free port of this machine.
   *
   * @param server where requests go
   */
  public static ForwardingProxy start(URI server) throws IOException {
    ServerSocket listener = new ServerSocket(0, BACKLOG, InetAddress.getLoopbackAddress());
    ForwardingProxy proxy = new ForwardingProxy(server, listener);
    proxy.threads.execute(proxy::accept);
    return proxy;
  }

  /** Returns where it answers. */
  public URI endpoint() {
    return URI.create("http://127.0.0.1:" + listener.getLocalPort());
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Socket client = listener.accept();
        sockets.add(client);
        threads.execute(() -> serve(client));
      } catch (IOException | RejectedExecutionException e) {
        return; // closed
      }
    }
  }

  private void serve(Socket client) {
    try (Socket from = client;
        Socket to = new Socket(server.getHost(), server.getPort())) {
      sockets.add(to);
      from.setTcpNoDelay(true);
      to.setTcpNoDelay(true);
      new Connection(this, from, to).serve();
      sockets.remove(to);
    } catch (IOException e) {
      // either side has ended it; the client sees that, too
    } finally {
      sockets.remove(client);
    }
  }

  /**
   * Lets some requests go wrong.
   *
   * @param which tells which ones
   * @param times how many of them; the next ones pass, or meet the next fault
   */
  public void disturb(Predicate<Request> which, int times, Fault fault) {
    rules.add(new Rule(which, new AtomicInteger(times), fault));
  }

  /** Makes every request reach the server later. */
  public void delay(Duration time) {
    delay = time;
  }

  /** Holds the next GETs of objects until so many of them have come, or for some seconds. */
  public void hold(int gets) {
    held = new CountDownLatch(gets);
  }

  private static void await(CountDownLatch latch) {
    try {
      boolean unused = latch.await(LONGEST_HOLD.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Lets everything pass from now on, and forgets what has been. */
  public void reset() {
    rules.clear();
    delay = Duration.ZERO;
    held = new CountDownLatch(0);
    log.clear();
    bodyBytes.reset();
    mostAtOnce.set(0);
  }

  /** Returns the requests since the last reset, in the order in which they came. */
  public List<Request> log() {
    return List.copyOf(log);
  }

  /** Counts requests since the last reset. */
  public long count(Predicate<Request> which) {
    return log.stream().filter(which).count();
  }

  /** Returns the bytes of the bodies of answers to GETs of objects, since the last reset. */
  public long bytes() {
    return bodyBytes.sum();
  }

  /** Returns how many requests were under way at the same time, at most. */
  public int mostAtOnce() {
    return mostAtOnce.get();
  }

  /** Takes note of a request that has come, and returns what is to go wrong. */
  @Nullable Fault came(Request request) {
    log.add(request);
    mostAtOnce.accumulateAndGet(atOnce.incrementAndGet(), Math::max);
    if (request.isGet()) {
      CountDownLatch latch = held;
      latch.countDown();
      await(latch);
    }
    for (Rule rule : rules) {
      if (rule.which.test(request) && rule.times.getAndDecrement() > 0) {
        return rule.fault;
      }
    }
    return delay.isZero() ? null : new Fault.Delay(delay);
  }

  void went() {
    atOnce.decrementAndGet();
  }

  void passed(Request request, int bytes) {
    if (request.isGet()) {
      bodyBytes.add(bytes);
    }
  }

  /** Ends it with all its connections. */
  @Override
  public void close() throws IOException {
    listener.close();
    threads.shutdownNow();
    for (Socket socket : sockets) {
      socket.close();
    }
  }
}
