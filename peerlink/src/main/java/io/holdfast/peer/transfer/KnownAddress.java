package io.holdfast.peer.transfer;

import io.holdfast.peer.NodeAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * The network address of a peer. The last one holds where a lookup fails or is late: a name server
 * that has fallen silent takes no peer away. One lookup runs at a time. Belongs to the peer's event
 * loop.
 */
final class KnownAddress {
  private final NodeAddress name;
  private final Resolver resolver;
  private final Duration patience;
  private InetSocketAddress known;
  private CompletableFuture<InetSocketAddress> lookup;

  /** When the lookup is late, by {@link System#nanoTime()}. */
  private long late;

  /**
   * Begins without an address.
   *
   * @param patience how long a lookup takes before the last address is used
   */
  KnownAddress(NodeAddress name, Resolver resolver, Duration patience) {
    this.name = name;
    this.resolver = resolver;
    this.patience = patience;
    known = InetSocketAddress.createUnresolved(name.host(), name.port());
    lookup = CompletableFuture.completedFuture(known);
  }

  /**
   * Finds the address. The result is unresolved where none was ever found. It is as late as the
   * lookup as long as no address is known.
   */
  CompletableFuture<InetSocketAddress> find() {
    if (lookup.isDone()) {
      known = newer(known, lookup.join());
      lookup = resolver.resolve(name);
      late = System.nanoTime() + patience.toNanos();
    }
    InetSocketAddress last = known;
    CompletableFuture<InetSocketAddress> found = lookup.thenApply(now -> newer(last, now));
    return last.isUnresolved()
        ? found
        : found.completeOnTimeout(last, late - System.nanoTime(), TimeUnit.NANOSECONDS);
  }

  private static InetSocketAddress newer(InetSocketAddress last, InetSocketAddress now) {
    return now.isUnresolved() ? last : now;
  }
}
