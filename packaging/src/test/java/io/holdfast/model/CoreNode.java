package io.holdfast.model;

import com.github.benmanes.caffeine.cache.Ticker;
import io.holdfast.fs.AccessLog;
import io.holdfast.fs.FsException;
import io.holdfast.fs.PageStore;
import io.holdfast.fs.ReadSource;
import io.holdfast.fs.control.ControlFiles;
import io.holdfast.fs.linux.GrowingMemory;
import io.holdfast.fs.linux.IsolatedThreads;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.Procfs;
import io.holdfast.fs.mount.DatasetChanges;
import io.holdfast.fs.mount.DatasetFilesystem;
import io.holdfast.fs.mount.KernelView;
import io.holdfast.fs.origin.Origin;
import io.holdfast.fs.peers.Cluster;
import io.holdfast.fs.peers.ClusterSource;
import io.holdfast.fs.peers.FormerOwners;
import io.holdfast.fs.peers.PeerService;
import io.holdfast.fs.plan.Planned;
import io.holdfast.fs.residency.Residency;
import io.holdfast.fs.residency.ResidentLog;
import io.holdfast.fs.residency.Selection;
import io.holdfast.fs.stats.Activity;
import io.holdfast.fs.stats.JobBy;
import io.holdfast.fs.stats.ReadStats;
import io.holdfast.fs.transit.AdaptiveFetchers;
import io.holdfast.fs.transit.Borrower;
import io.holdfast.fs.transit.FetchListener;
import io.holdfast.fs.transit.Fetched;
import io.holdfast.fs.transit.Fetchers;
import io.holdfast.fs.transit.Item;
import io.holdfast.fs.transit.ItemLayout;
import io.holdfast.fs.transit.PlainFetchers;
import io.holdfast.fs.transit.Transit;
import io.holdfast.fs.tree.NodeTable;
import io.holdfast.fs.tree.Tree;
import io.holdfast.fs.tree.TreeScan;
import io.holdfast.peer.ClusterNode;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.View;
import io.holdfast.peer.transfer.ItemRequest;
import io.holdfast.policy.Policies;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * One node without a mount and without a network: put together as the daemon does it, from the same
 * parts, but for the kernel and what carries bytes to peers. Residents are pinned in a directory
 * that stands for the own mount.
 */
final class CoreNode implements AutoCloseable {
  private static final Duration TTL = Duration.ofHours(1);
  private static final Duration TICK = Duration.ofMillis(5);
  private static final long MAPPINGS = 10_000;

  final Residency residency;
  final Transit transit;
  final DatasetFilesystem filesystem;
  final DatasetChanges changes;
  final PeerService service;
  private final Origin origin;
  private final GrowingMemory memory = GrowingMemory.ofProcess("model-nodes");
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final ScheduledExecutorService housekeeping = Executors.newScheduledThreadPool(2);
  private final IsolatedThreads pinners;
  private final IsolatedThreads droppers;
  private final Cluster cluster;

  /**
   * The surroundings of a node.
   *
   * @param self how its peers call it, with its capacity
   * @param all the nodes of the cluster
   * @param fetcher asks one of them
   * @param teller tells one of them what this node holds
   */
  record Place(
      ClusterNode self,
      List<ClusterNode> all,
      ClusterSource.Fetcher fetcher,
      BiConsumer<NodeAddress, ItemRequest> teller) {}

  CoreNode(Origin origin, Path ownMount, Place place) throws FsException {
    this.origin = origin;
    pinners = IsolatedThreads.start("model-pin", 2, 0, new IsolatedThreads.Failures());
    droppers = IsolatedThreads.start("model-drop", 1, 0, new IsolatedThreads.Failures());
    ItemLayout layout = new ItemLayout(place.self.dataset().itemSize());
    residency = residency(place.self.capacityBytes(), ownMount);
    residency.mounted();
    cluster = new Cluster(place.self);
    cluster.update(new View(1, place.self, place.all));
    FormerOwners former = new FormerOwners(residency, place.teller);
    long transitBytes = 16L * layout.itemSize();
    Tree[] made = new Tree[1];
    DatasetChanges[] learns = new DatasetChanges[1];
    transit =
        new Transit(
            new Transit.Sources(
                origin,
                new ClusterSource(
                    place.self.dataset(),
                    cluster,
                    residency,
                    place.fetcher,
                    former,
                    Planned.NONE,
                    threads),
                threads),
            layout,
            transitBytes,
            fetchers(origin, transitBytes),
            System::nanoTime,
            Duration.ofSeconds(20),
            new Listener(learns));
    Tree tree = new Tree(origin, new NodeTable(memory), Tree.ChangeListener.of(() -> learns[0]));
    made[0] = tree;
    changes =
        new DatasetChanges(
            new DatasetChanges.Parts(
                tree,
                new TreeScan(origin, tree, threads),
                layout,
                transit,
                residency,
                new NoKernel(),
                TTL,
                false,
                housekeeping,
                housekeeping,
                housekeeping));
    learns[0] = changes;
    service = new PeerService(cluster, tree, layout, transit, residency, Planned.NONE, threads);
    filesystem = filesystem(tree, layout);
    every(transit::expire);
    every(residency::tick);
    every(former::tick);
  }

  private Residency residency(long capacity, Path ownMount) {
    return new Residency(
        new Residency.Rules(
            Policies.create("minio", capacity, 42), Selection.NONE, ResidentLog.NONE),
        new Residency.MountUse(
            () -> Linux.openDirectory(ownMount), PageStore.NONE, true, MAPPINGS, fd -> 0),
        new Residency.Threads(pinners, droppers),
        new Residency.WindowSize(1 << 20, Duration.ofMillis(20)),
        System::nanoTime);
  }

  private Fetchers fetchers(Origin from, long transitBytes) {
    return from.mayHang()
        ? new AdaptiveFetchers(threads, transitBytes - transitBytes / 4)
        : new PlainFetchers(Runnable::run, threads);
  }

  private DatasetFilesystem filesystem(Tree tree, ItemLayout layout) {
    return new DatasetFilesystem(
        new DatasetFilesystem.Parts(
            origin,
            tree,
            layout,
            transit,
            residency,
            new ControlFiles(Map.of(), new ControlFiles.Owner(0, 0), Ticker.systemTicker()),
            new ReadStats(),
            new Activity(JobBy.CGROUP, layout.itemSize(), System::nanoTime),
            AccessLog.NONE,
            changes,
            TTL,
            Procfs.host(),
            System::nanoTime));
  }

  private void every(Runnable task) {
    Future<?> unused =
        housekeeping.scheduleWithFixedDelay(
            task, TICK.toNanos(), TICK.toNanos(), TimeUnit.NANOSECONDS);
  }

  /** Nobody remembers anything: each name is asked for each time. */
  private static final class NoKernel implements KernelView {
    @Override
    public boolean replace(long parent, byte[] name, long node) {
      return true;
    }

    @Override
    public void expire(long parent, byte[] name) {}

    @Override
    public void expireAttributes(long parent, byte[] name, long node) {}

    @Override
    public boolean mayKnow(long node) {
      return false;
    }

    @Override
    public Earlier earlierReplies() {
      return () -> true;
    }

    @Override
    public void expireRights(long directory) {}

    @Override
    public void expireDirectory(long node) {}

    @Override
    public OptionalLong inVain(LongPredicate directories) {
      return OptionalLong.empty();
    }
  }

  private final class Listener implements FetchListener {
    private final DatasetChanges[] learns;

    Listener(DatasetChanges[] learns) {
      this.learns = learns;
    }

    private boolean mayKeep(Item item) {
      return cluster.isOwn(item) || !residency.isLeftToPolicy(item.path().get());
    }

    @Override
    public boolean wouldAdmit(Item item) {
      return mayKeep(item) && residency.wouldAdmit(item);
    }

    @Override
    public boolean serve(Item item, int offset, int length, Borrower borrower) {
      return residency.serve(item, offset, length, borrower);
    }

    @Override
    public boolean offer(Fetched fetched) {
      return residency.offer(fetched);
    }

    @Override
    public void delivered(Item item, int bytes, boolean complete) {
      residency.noteDelivered(item, bytes, complete);
    }

    @Override
    public void changed(Item item) {
      learns[0].changed(item.node());
    }

    @Override
    public void ended(Item item, ReadSource source, long nanos, @Nullable FsException failure) {}
  }

  @Override
  public void close() {
    changes.stop();
    housekeeping.shutdownNow();
    transit.close();
    residency.close();
    threads.shutdownNow();
    origin.close();
  }

  /** Ends what requests may use until then. */
  void free() {
    memory.close();
  }
}
