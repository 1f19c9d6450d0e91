package io.holdfast.fs.peers;

import io.holdfast.fs.Await;
import io.holdfast.fs.FakeClock;
import io.holdfast.fs.PageStore;
import io.holdfast.fs.Sandbox;
import io.holdfast.fs.linux.GrowingMemory;
import io.holdfast.fs.linux.IsolatedThreads;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.origin.Origin;
import io.holdfast.fs.origin.posix.PosixOrigin;
import io.holdfast.fs.residency.Residency;
import io.holdfast.fs.residency.ResidencyListener;
import io.holdfast.fs.residency.ResidentLog;
import io.holdfast.fs.residency.Selection;
import io.holdfast.fs.transit.Content;
import io.holdfast.fs.transit.Item;
import io.holdfast.fs.transit.ItemLayout;
import io.holdfast.fs.transit.PeerSource;
import io.holdfast.fs.transit.PlainFetchers;
import io.holdfast.fs.transit.Transit;
import io.holdfast.fs.tree.Node;
import io.holdfast.fs.tree.NodeTable;
import io.holdfast.fs.tree.Tree;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.SharedDataset;
import io.holdfast.peer.View;
import io.holdfast.policy.Policies;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A node without a mount: its origin is a directory of a real filesystem, and its residents are
 * pinned there, which the calls cannot tell from the own mount.
 */
final class PeersFixture implements AutoCloseable {
  static final int ITEM_SIZE = 1 << 20;
  static final SharedDataset DATASET = new SharedDataset("test", ITEM_SIZE);
  static final io.holdfast.peer.ClusterNode A = node("a");
  static final io.holdfast.peer.ClusterNode B = node("b");
  static final io.holdfast.peer.ClusterNode C = node("c");

  final Sandbox sandbox = Sandbox.create();
  final Cluster cluster = new Cluster(A);
  final ItemLayout layout = new ItemLayout(ITEM_SIZE);
  final ExecutorService threads = Executors.newFixedThreadPool(4);
  final Residency residency;
  final Tree tree;
  final Transit transit;
  final Origin origin;
  private final GrowingMemory memory = GrowingMemory.ofProcess("test-nodes");

  PeersFixture(long capacity, Selection selection) throws IOException {
    origin = PosixOrigin.open(sandbox.root(), () -> Instant.now().plus(Duration.ofHours(1)));
    residency =
        new Residency(
            new Residency.Rules(Policies.create("minio", capacity, 1), selection, ResidentLog.NONE),
            new Residency.MountUse(
                () -> Linux.openDirectory(sandbox.root()), PageStore.NONE, true, 1000, fd -> 0),
            new Residency.Threads(
                IsolatedThreads.start("test-pin", 1, 0, new IsolatedThreads.Failures()),
                IsolatedThreads.start("test-drop", 1, 0, new IsolatedThreads.Failures())),
            new Residency.WindowSize(64 << 20, Duration.ofSeconds(2)),
            new FakeClock());
    residency.mounted();
    tree = new Tree(origin, new NodeTable(memory), old -> {});
    transit =
        new Transit(
            new Transit.Sources(origin, PeerSource.NONE, Runnable::run),
            layout,
            8 * ITEM_SIZE,
            new PlainFetchers(threads, threads),
            System::nanoTime,
            Duration.ofSeconds(10),
            new ResidencyListener(residency));
  }

  private static io.holdfast.peer.ClusterNode node(String host) {
    return new io.holdfast.peer.ClusterNode(new NodeAddress(host, 7070), DATASET, 1 << 30);
  }

  /** Makes the nodes the members of the view; this one is A. */
  void view(io.holdfast.peer.ClusterNode... nodes) {
    cluster.update(new View(1, A, List.of(nodes)));
  }

  /** Writes a file whose only item has this owner and this next. */
  Item item(io.holdfast.peer.ClusterNode owner, io.holdfast.peer.ClusterNode next)
      throws IOException {
    for (int number = 0; ; number++) {
      String name = "file-" + number;
      if (!Files.exists(sandbox.path(name))) {
        Item item = write(name, 10_000 + number);
        Cluster.Place place = cluster.place(item);
        if (owner.equals(place.owner()) && next.equals(place.next())) {
          return item;
        }
      }
    }
  }

  Item write(String name, int size) throws IOException {
    byte[] bytes = new byte[size];
    new Random(size).nextBytes(bytes);
    Files.write(sandbox.path(name), bytes);
    Node node = tree.lookup(tree.root(), name.getBytes(StandardCharsets.UTF_8));
    return layout.itemAt(new Content(node.id(), node::path, node.version()), 0);
  }

  byte[] bytes(Item item) throws IOException {
    return Files.readAllBytes(sandbox.path(item.path().get().toString()));
  }

  /** Makes an item resident. */
  void pin(Item item) {
    transit.read(
        new Content(item.node(), item.path(), item.version()),
        0,
        item.length(),
        io.holdfast.fs.transit.Reader.PEER,
        new io.holdfast.fs.RecordingReply());
    Await.until("it is pinned", () -> residency.isPinned(item));
  }

  @Override
  public void close() throws IOException {
    transit.close();
    residency.close();
    Await.end(threads);
    origin.close();
    memory.close();
    sandbox.close();
  }
}
