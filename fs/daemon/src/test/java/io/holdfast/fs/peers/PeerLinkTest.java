package io.holdfast.fs.peers;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.fs.plan.PlanParts;
import io.holdfast.fs.plan.Plans;
import io.holdfast.fs.residency.Selection;
import io.holdfast.fs.settings.Settings;
import io.holdfast.fs.stats.JobLife;
import io.holdfast.fs.transit.Item;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.PeerSetupException;
import io.holdfast.peer.membership.Discovery;
import io.holdfast.peer.transfer.Transfer;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class PeerLinkTest {
  private static final long ROOM = 1 << 20;

  /** A peer whose origin hung took all the time of a read, and the own origin was never asked. */
  @Test
  void deadlines_anyReadTimeout_leaveTimeForTheOrigin() {
    assertThat(PeerLink.deadlines(Duration.ofMinutes(1))).isEqualTo(Transfer.Deadlines.DEFAULT);
    assertThat(answer(Duration.ofSeconds(20))).isEqualTo(Duration.ofSeconds(5));
    assertThat(answer(Duration.ofSeconds(1))).isEqualTo(Duration.ofMillis(250));
    assertThat(answer(Settings.INDEFINITE)).isEqualTo(Duration.ofMinutes(1));
  }

  /** A silent peer, or one that sent little by little, took all the time of a read as well. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 5, 10, 60, 600})
  void deadlines_twoPeersOneAfterTheOther_leaveTimeForTheOrigin(int seconds) {
    Duration read = Duration.ofSeconds(seconds);
    Transfer.Deadlines deadlines = PeerLink.deadlines(read);
    assertThat(deadlines.total().multipliedBy(2))
        .isLessThanOrEqualTo(read.multipliedBy(2).dividedBy(3));
    assertThat(deadlines.answer()).isLessThan(deadlines.total());
    assertThat(deadlines.progress()).isLessThanOrEqualTo(read.dividedBy(4));
  }

  /**
   * A named peer that had gone for good, and its name too, kept a node out of the cluster once its
   * capacity changed, and each next daemon of a mount.
   */
  @Test
  void join_againAndNamedPeerHasGone_isMember() throws Exception {
    try (PeersFixture node = new PeersFixture(ROOM, Selection.NONE);
        PeerLink link = link(node)) {
      within(() -> link.keepStarting(node.tree, node.layout, node.transit));
      within(() -> link.capacityChanged(() -> ROOM / 2));
      assertThat(link.await(Duration.ZERO)).startsWith("1 of the nodes");
    }
  }

  private static PeerLink link(PeersFixture node) throws IOException, PeerSetupException {
    int port;
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    NodeAddress self = new NodeAddress("127.0.0.2", port);
    Path secret = node.sandbox.path("secret");
    Files.createFile(
        secret, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    Files.writeString(secret, "correct horse battery staple");
    return new PeerLink(
        new PeerSettings(
            self,
            new Discovery.Addresses(List.of(new NodeAddress("no-such-host.invalid", port), self)),
            secret,
            null,
            PeersFixture.DATASET,
            Duration.ofMinutes(1)),
        ROOM,
        new PeerLink.Local(node.origin, node.residency, new Plans(planParts())),
        new PeerLink.Threads(Runnable::run, Runnable::run, Runnable::run),
        share -> {});
  }

  private static PlanParts planParts() {
    return new PlanParts(
        new PlanParts.Items() {
          @Override
          public long count(long id) {
            return 0;
          }

          @Override
          public @Nullable Item item(long id) {
            return null;
          }
        },
        new PlanParts.Residents() {
          @Override
          public long weight(Item item) {
            return 0;
          }

          @Override
          public long capacity() {
            return ROOM;
          }

          @Override
          public long bytes() {
            return 0;
          }

          @Override
          public void forEach(Consumer<Item> taker) {}

          @Override
          public boolean has(Item item) {
            return false;
          }

          @Override
          public void release(Item item) {}
        },
        job -> JobLife.UNKNOWN,
        () -> 0,
        Runnable::run,
        null,
        System::nanoTime);
  }

  private static void within(Runnable step) {
    CompletableFuture.runAsync(step).orTimeout(60, TimeUnit.SECONDS).join();
  }

  private static Duration answer(Duration sourceTimeout) {
    return PeerLink.deadlines(sourceTimeout).answer();
  }
}
