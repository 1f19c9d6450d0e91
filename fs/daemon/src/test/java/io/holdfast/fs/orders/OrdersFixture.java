package io.holdfast.fs.orders;

import io.holdfast.fs.Await;
import io.holdfast.fs.FakeClock;
import io.holdfast.fs.FsException;
import io.holdfast.fs.PageStore;
import io.holdfast.fs.ReadSource;
import io.holdfast.fs.Sandbox;
import io.holdfast.fs.linux.GrowingMemory;
import io.holdfast.fs.linux.IsolatedThreads;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.origin.FakeOrigin;
import io.holdfast.fs.plan.PlanParts;
import io.holdfast.fs.plan.PlanPeers;
import io.holdfast.fs.plan.Plans;
import io.holdfast.fs.residency.Residency;
import io.holdfast.fs.residency.ResidencyListener;
import io.holdfast.fs.residency.ResidentLog;
import io.holdfast.fs.residency.Selection;
import io.holdfast.fs.stats.Activity;
import io.holdfast.fs.stats.JobBy;
import io.holdfast.fs.stats.JobLife;
import io.holdfast.fs.stats.OpenBatch;
import io.holdfast.fs.transit.Item;
import io.holdfast.fs.transit.ItemLayout;
import io.holdfast.fs.transit.PeerSource;
import io.holdfast.fs.transit.PlainFetchers;
import io.holdfast.fs.transit.Transit;
import io.holdfast.fs.tree.Node;
import io.holdfast.fs.tree.NodeTable;
import io.holdfast.fs.tree.Tree;
import io.holdfast.policy.Policies;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Orders of a dataset without a mount, of which nothing becomes resident. */
final class OrdersFixture implements AutoCloseable {
  /** A process that is there, and is not this one. */
  private static final int INIT = 1;

  static final int SIZE = 1000;
  static final int THREAD = 77;
  private static final int MIB = 1 << 20;

  final FakeOrigin origin = new FakeOrigin();
  final FakeClock clock = new FakeClock();
  final Tree tree;
  final Transit transit;
  final Activity activity;
  Orders orders;

  /** The job that opens files. */
  final String job;

  /** Runs fetches that no reader waits for. */
  volatile Executor ahead = Runnable::run;

  /** Plans the orders of several nodes; null if there are no other nodes. */
  private @Nullable Plans plans;

  boolean announced;
  boolean listed = true;
  boolean counted = true;
  private final Sandbox sandbox = Sandbox.create();
  private final GrowingMemory memory = GrowingMemory.ofProcess("test-nodes");
  private final Residency residency;
  private final OrderParts parts;
  private final Supplier<Orders> make;
  private final Map<String, Node> nodes = new HashMap<>();

  OrdersFixture() throws IOException {
    this(true, false, Orders.BOUNDS);
  }

  OrdersFixture(boolean announced, boolean learns, Orders.Bounds bounds) throws IOException {
    this.announced = announced;
    activity = new Activity(JobBy.parse("pid"), MIB, clock);
    job = activity.caller(INIT).job();
    Residency.WindowSize window = new Residency.WindowSize(64L * MIB, Duration.ofSeconds(2));
    residency =
        new Residency(
            new Residency.Rules(Policies.create("none", MIB, 1), Selection.NONE, ResidentLog.NONE),
            new Residency.MountUse(
                () -> Linux.openDirectory(sandbox.root()), PageStore.NONE, true, 1000, fd -> 0),
            new Residency.Threads(
                IsolatedThreads.start("test-pin", 1, 0, new IsolatedThreads.Failures()),
                IsolatedThreads.start("test-drop", 1, 0, new IsolatedThreads.Failures())),
            window,
            clock);
    residency.mounted();
    tree = new Tree(origin, new NodeTable(memory), old -> {});
    transit =
        new Transit(
            new Transit.Sources(origin, PeerSource.NONE, Runnable::run),
            new ItemLayout(MIB),
            64L * MIB,
            new PlainFetchers(Runnable::run, task -> ahead.execute(task)),
            clock,
            Duration.ofSeconds(10),
            new ResidencyListener(residency));
    parts =
        new OrderParts(
            tree,
            new ItemLayout(MIB),
            transit,
            residency,
            activity,
            () -> listed,
            () -> counted,
            window,
            clock);
    make = () -> new Orders(parts, this.announced, learns, null, plans, directory(), bounds);
    orders = make.get();
  }

  /** The node gets a peer, which offers nothing. */
  Plans withPeer() {
    Plans planned =
        new Plans(
            new PlanParts(
                new PlannedFiles(parts),
                new NoResidents(MIB),
                name -> JobLife.UNKNOWN,
                () -> MIB,
                Runnable::run,
                null,
                clock));
    planned.peers(new SilentPeers());
    planned.view(List.of("here:1", "there:1"));
    orders.close();
    plans = planned;
    orders = make.get();
    return planned;
  }

  /** The files, of one item each. */
  private record PlannedFiles(OrderParts parts) implements PlanParts.Items {
    @Override
    public long count(long id) {
      return parts.items(id);
    }

    @Override
    public @Nullable Item item(long id) {
      return parts.item(id, 0);
    }
  }

  private record NoResidents(long capacity) implements PlanParts.Residents {
    @Override
    public long weight(Item item) {
      return Residency.weight(item.length());
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
  }

  private static final class SilentPeers implements PlanPeers {
    @Override
    public CompletableFuture<Answer> offer(String peer, String known, int longest) {
      return CompletableFuture.completedFuture(Answer.NONE);
    }

    @Override
    public boolean isPlacedHere(Item item) {
      return true;
    }

    @Override
    public void planChanged() {}
  }

  /** The daemon is killed, and the next one has what it kept. */
  void nextDaemon() {
    orders.close();
    Await.until("nobody looks at nodes any more", () -> !orders.isAtWork());
    orders = make.get();
    orders.resume(true);
  }

  private Path directory() {
    return sandbox.root().resolve("orders");
  }

  /** Returns the names of the files that the next daemon would find. */
  List<String> keptFiles() throws IOException {
    try (Stream<Path> files = Files.list(directory())) {
      return files.map(file -> file.getFileName().toString()).toList();
    }
  }

  byte[] kept(String name) throws IOException {
    return Files.readAllBytes(directory().resolve(name));
  }

  void keep(String name, byte[] bytes) throws IOException {
    Files.createDirectories(directory());
    Files.write(directory().resolve(name), bytes);
  }

  /** Adds files that the tree knows. */
  void files(int count) throws FsException {
    for (int i = 0; i < count; i++) {
      file(name(i));
    }
  }

  static String name(int i) {
    return "d" + i % 3 + "/f" + i;
  }

  void file(String path) throws FsException {
    origin.file(path, new byte[SIZE]);
    nodes.put(path, know(path));
  }

  /** Has the tree know what a path leads to. */
  Node know(String path) throws FsException {
    Node node = tree.root();
    for (String name : path.split("/", -1)) {
      node = tree.lookup(node, name.getBytes(StandardCharsets.UTF_8));
    }
    return node;
  }

  long id(String path) {
    return nodes.get(path).id();
  }

  /** The job opens files on one thread. */
  void open(int... files) {
    openAs(job, files);
  }

  /** Another job opens files on one thread. */
  void openAs(String job, int... files) {
    OpenBatch batch = new OpenBatch();
    for (int file : files) {
      batch.add(nodes.get(name(file)).inode(), SIZE);
    }
    orders.opened(job, THREAD, batch);
  }

  /** The job opens a file, and waits for its bytes from the origin. */
  void fetch(int file) {
    open(file);
    activity.fetch(name(file), true, true, INIT).fetched(SIZE, ReadSource.ORIGIN);
  }

  Map<String, Object> begin(String job) throws FsException {
    return orders.request(Map.of("begin", job, "source", "announced"));
  }

  Map<String, Object> add(Object id, List<String> paths, boolean last) throws FsException {
    return orders.request(Map.of("id", id, "paths", paths, "last", last));
  }

  /** Announces an order in one part. */
  Map<String, Object> announce(String job, List<String> paths) throws FsException {
    return add(begin(job).get("id"), paths, true);
  }

  @Override
  public void close() throws IOException {
    orders.close();
    Await.until("nobody looks at nodes any more", () -> !orders.isAtWork());
    transit.close();
    residency.close();
    memory.close();
    sandbox.close();
  }
}
