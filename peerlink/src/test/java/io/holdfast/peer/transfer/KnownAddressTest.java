package io.holdfast.peer.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.peer.NodeAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A peer's address while the name server answers, fails or is silent. */
final class KnownAddressTest {
  private static final NodeAddress NAME = new NodeAddress("named.invalid", 7070);
  private static final InetSocketAddress FIRST = new InetSocketAddress("127.0.0.2", 7070);
  private static final InetSocketAddress SECOND = new InetSocketAddress("127.0.0.3", 7070);
  private static final InetSocketAddress UNKNOWN = InetSocketAddress.createUnresolved("x", 7070);

  private final Queue<CompletableFuture<InetSocketAddress>> asked = new ConcurrentLinkedQueue<>();
  private final Resolver resolver = new Resolver(this::lookup);

  private InetSocketAddress lookup(NodeAddress name) {
    CompletableFuture<InetSocketAddress> answer = new CompletableFuture<>();
    asked.add(answer);
    return answer.orTimeout(20, TimeUnit.SECONDS).join();
  }

  @AfterEach
  void close() {
    resolver.close();
    asked.forEach(each -> each.complete(UNKNOWN));
  }

  private KnownAddress address(Duration patience) {
    return new KnownAddress(NAME, resolver, patience);
  }

  private void answer(InetSocketAddress with) {
    Eventually.holds("it is looked up", () -> asked.peek() != null);
    asked.remove().complete(with);
  }

  private static InetSocketAddress await(CompletableFuture<InetSocketAddress> found) {
    return found.orTimeout(20, TimeUnit.SECONDS).join();
  }

  @Test
  void find_lookupsSucceed_newestAddress() {
    KnownAddress address = address(Duration.ofMinutes(1));
    CompletableFuture<InetSocketAddress> first = address.find();
    answer(FIRST);
    assertThat(await(first)).isEqualTo(FIRST);
    CompletableFuture<InetSocketAddress> second = address.find();
    answer(SECOND);
    assertThat(await(second)).isEqualTo(SECOND);
  }

  @Test
  void find_lookupFails_lastAddressOrUnresolved() {
    KnownAddress address = address(Duration.ofMinutes(1));
    CompletableFuture<InetSocketAddress> never = address.find();
    answer(UNKNOWN);
    assertThat(await(never).isUnresolved()).isTrue();
    CompletableFuture<InetSocketAddress> first = address.find();
    answer(FIRST);
    await(first);
    CompletableFuture<InetSocketAddress> second = address.find();
    answer(UNKNOWN);
    assertThat(await(second)).isEqualTo(FIRST);
  }

  @Test
  void find_lookupIsLate_lastAddressAndNoSecondLookup() {
    KnownAddress address = address(Duration.ofMillis(1));
    CompletableFuture<InetSocketAddress> first = address.find();
    answer(FIRST);
    await(first);
    assertThat(await(address.find())).isEqualTo(FIRST);
    assertThat(await(address.find())).isEqualTo(FIRST);
    Eventually.holds("it is looked up", () -> asked.size() == 1);
  }

  @Test
  void resolve_threadsAndQueueAreTaken_literalAtOnceAndNameUnresolved() {
    for (int i = 0; i < 4 + 256; i++) {
      CompletableFuture<InetSocketAddress> unused = resolver.resolve(NAME);
    }
    assertThat(resolver.resolve(new NodeAddress("127.0.0.2", 7070))).isCompletedWithValue(FIRST);
    NodeAddress loopback = new NodeAddress("::1", 7070);
    assertThat(resolver.resolve(loopback)).isCompletedWithValue(loopback.resolve());
    assertThat(resolver.resolve(NAME))
        .isCompletedWithValueMatching(InetSocketAddress::isUnresolved);
  }
}
