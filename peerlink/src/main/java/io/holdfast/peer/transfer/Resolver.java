package io.holdfast.peer.transfer;

import io.holdfast.peer.NodeAddress;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** Resolves the names of peers, on threads that may wait for DNS. Thread-safe. */
final class Resolver implements AutoCloseable {
  private static final int THREADS = 4;
  private static final int WAITING = 256;
  private static final int LIFE_SECONDS = 10;

  private final Function<NodeAddress, InetSocketAddress> lookup;
  private final ExecutorService threads;

  /**
   * Creates a resolver without threads yet.
   *
   * @param lookup looks a name up; may wait. Its result is unresolved where the name is unknown
   */
  Resolver(Function<NodeAddress, InetSocketAddress> lookup) {
    this.lookup = lookup;
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            THREADS,
            THREADS,
            LIFE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(WAITING),
            new DefaultThreadFactory("holdfast-peer-names", true));
    pool.allowCoreThreadTimeOut(true);
    threads = pool;
  }

  /**
   * Resolves a name; the result is unresolved where that fails. Never exceptional. The address of a
   * host that is no name is there at once.
   */
  CompletableFuture<InetSocketAddress> resolve(NodeAddress name) {
    if (NetUtil.isValidIpV4Address(name.host()) || NetUtil.isValidIpV6Address(name.host())) {
      return CompletableFuture.completedFuture(name.resolve());
    }
    InetSocketAddress unresolved = InetSocketAddress.createUnresolved(name.host(), name.port());
    try {
      return CompletableFuture.supplyAsync(() -> lookup.apply(name), threads)
          .exceptionally(any -> unresolved);
    } catch (RejectedExecutionException e) {
      return CompletableFuture.completedFuture(unresolved);
    }
  }

  @Override
  public void close() {
    threads.shutdownNow();
  }
}
