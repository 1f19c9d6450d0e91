package io.holdfast.fs.tasks;

import io.holdfast.fs.Await;
import io.holdfast.fs.FakeClock;
import io.holdfast.fs.FsException;
import io.holdfast.fs.PageStore;
import io.holdfast.fs.Sandbox;
import io.holdfast.fs.linux.GrowingMemory;
import io.holdfast.fs.linux.IsolatedThreads;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.origin.Origin;
import io.holdfast.fs.origin.posix.PosixOrigin;
import io.holdfast.fs.residency.PinLimits;
import io.holdfast.fs.residency.Pins;
import io.holdfast.fs.residency.Residency;
import io.holdfast.fs.residency.ResidencyListener;
import io.holdfast.fs.residency.ResidentLog;
import io.holdfast.fs.residency.Selection;
import io.holdfast.fs.transit.Item;
import io.holdfast.fs.transit.ItemLayout;
import io.holdfast.fs.transit.PeerSource;
import io.holdfast.fs.transit.PlainFetchers;
import io.holdfast.fs.transit.Transit;
import io.holdfast.fs.tree.NodeTable;
import io.holdfast.fs.tree.Tree;
import io.holdfast.policy.CachePolicy;
import io.holdfast.policy.Policies;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Tasks without a mount: the origin is a directory of a real filesystem, and residents are pinned
 * there, which the calls cannot tell from the own mount.
 */
final class TasksFixture implements AutoCloseable {
  static final int PAGE = 4096;
  static final int ITEM_SIZE = 1 << 20;

  private static final Set<Object> ENDS = Set.of("done", "failed", "stopped");

  final Sandbox sandbox = Sandbox.create();
  final FakeClock clock = new FakeClock();
  final CachePolicy policy;
  final Residency residency;
  final Transit transit;
  final Tasks tasks;
  final List<Long> capacities = new ArrayList<>();

  /** The pinned names that were recorded last. */
  volatile Pins.Names recorded = new Pins.Names(List.of(), List.of());

  /** Is run before pinned names are recorded. */
  volatile Runnable onRecord = () -> {};

  /** The thread of the task that was begun last. */
  volatile Thread lastThread = Thread.currentThread();

  /** The capacity that the policy had at each of these. */
  final List<Long> capacitiesBefore = new ArrayList<>();

  final Tree tree;
  volatile boolean listed = true;
  volatile boolean whole = true;

  /** The most that residents may take, by the memory's guard. */
  volatile long allowed = Long.MAX_VALUE;

  /** How many threads can be started. */
  final AtomicInteger threads = new AtomicInteger(Integer.MAX_VALUE);

  private final Origin origin;
  private final GrowingMemory memory = GrowingMemory.ofProcess("test-nodes");

  TasksFixture(long capacity) throws IOException {
    origin = PosixOrigin.open(sandbox.root(), () -> Instant.now().plus(Duration.ofHours(1)));
    policy = Policies.create("minio", capacity, 1);
    residency =
        new Residency(
            new Residency.Rules(policy, Selection.NONE, ResidentLog.NONE),
            new Residency.MountUse(
                () -> Linux.openDirectory(sandbox.root()), PageStore.NONE, true, 1000, fd -> 0),
            new Residency.Threads(
                IsolatedThreads.start("test-pin", 1, 0, new IsolatedThreads.Failures()),
                IsolatedThreads.start("test-drop", 1, 0, new IsolatedThreads.Failures())),
            new Residency.WindowSize(64 << 20, Duration.ofSeconds(2)),
            clock);
    residency.mounted();
    tree = new Tree(origin, new NodeTable(memory), old -> {});
    transit =
        new Transit(
            new Transit.Sources(origin, PeerSource.NONE, Runnable::run),
            new ItemLayout(ITEM_SIZE),
            8 * ITEM_SIZE,
            new PlainFetchers(Runnable::run, Runnable::run),
            System::nanoTime,
            Duration.ofSeconds(10),
            new ResidencyListener(residency));
    tasks =
        new Tasks(
            new TaskParts(
                tree,
                new ItemLayout(ITEM_SIZE),
                transit,
                residency,
                () -> listed,
                () -> whole,
                TasksFixture::mayKeep,
                new Limits(),
                bytes -> Math.min(bytes, allowed),
                this::thread,
                clock));
  }

  private static boolean mayKeep(Item item) {
    String path = item.path().get().toString();
    if (path.startsWith("broken/")) {
      throw new IllegalStateException("for the test");
    }
    return !path.startsWith("others/");
  }

  private Thread thread(Runnable work) {
    Thread thread =
        new Thread(work, "test-task") {
          @Override
          public synchronized void start() {
            if (threads.getAndDecrement() <= 0) {
              throw new OutOfMemoryError("unable to create native thread");
            }
            super.start();
          }
        };
    lastThread = thread;
    return thread;
  }

  /** Writes files of a page each. */
  void files(String folder, int count) throws IOException {
    for (int i = 0; i < count; i++) {
      file(folder + "/f" + i, PAGE);
    }
  }

  void file(String path, int size) throws IOException {
    Files.createDirectories(sandbox.path(path).getParent());
    Files.write(sandbox.path(path), new byte[size]);
    io.holdfast.fs.tree.Node node = tree.root();
    for (String name : path.split("/", -1)) {
      node = tree.lookup(node, name.getBytes(StandardCharsets.UTF_8));
    }
  }

  /** Runs a task to its end. */
  Map<String, Object> run(String kind, List<String> paths, Map<String, Object> more)
      throws FsException {
    Map<String, Object> request = new HashMap<>(more);
    request.put("begin", kind);
    request.put("paths", paths);
    return end(tasks.request(request));
  }

  Map<String, Object> run(String kind, String... paths) throws FsException {
    return run(kind, List.of(paths), Map.of());
  }

  /** Waits for the end of a task. */
  Map<String, Object> end(Map<String, Object> begun) {
    AtomicReference<Map<String, Object>> last = new AtomicReference<>(begun);
    Await.until(
        "the task's end",
        () -> {
          try {
            last.set(tasks.request(Map.of("id", begun.get("id"))));
          } catch (FsException e) {
            throw new AssertionError(e);
          }
          return ENDS.contains(last.get().get("state"));
        });
    return last.get();
  }

  static long files(Map<String, Object> figures, String kind) {
    return figures.get(kind) instanceof Map<?, ?> sum && sum.get("files") instanceof Number n
        ? n.longValue()
        : -1;
  }

  long originItems() {
    return transit.stats().originItems.sum();
  }

  @Override
  public void close() throws IOException {
    tasks.close();
    Await.until("no task uses what goes now", () -> tasks.running().isEmpty());
    transit.close();
    residency.close();
    origin.close();
    memory.close();
    sandbox.close();
  }

  private final class Limits implements LiveCapacity {
    @Override
    public long memory() {
      return 100L * PAGE;
    }

    @Override
    public long largest() {
      return 50L * PAGE;
    }

    @Override
    public PinLimits prepare(long capacity) {
      return new PinLimits(true, 1000);
    }

    @Override
    public void changed(long capacity, boolean withinBudget) {
      capacities.add(capacity);
      capacitiesBefore.add(policy.capacity());
    }

    @Override
    public void pinned(Pins.Names names) {
      onRecord.run();
      recorded = names;
    }
  }
}
