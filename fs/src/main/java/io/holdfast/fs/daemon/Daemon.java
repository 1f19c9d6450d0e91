package io.holdfast.fs.daemon;

import com.fasterxml.jackson.jr.ob.JSON;
import com.github.benmanes.caffeine.cache.Ticker;
import io.holdfast.fs.AccessLog;
import io.holdfast.fs.FetchUse;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.ReadSource;
import io.holdfast.fs.control.ControlCommands;
import io.holdfast.fs.control.ControlDirectory;
import io.holdfast.fs.control.ControlFiles;
import io.holdfast.fs.control.ControlServer;
import io.holdfast.fs.control.PeersText;
import io.holdfast.fs.control.StatsText;
import io.holdfast.fs.linux.GrowingMemory;
import io.holdfast.fs.linux.IsolatedThreads;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.metrics.Exposition;
import io.holdfast.fs.metrics.MetricsServer;
import io.holdfast.fs.mount.Binding;
import io.holdfast.fs.mount.DatasetChanges;
import io.holdfast.fs.mount.DatasetFilesystem;
import io.holdfast.fs.mount.MountOptions;
import io.holdfast.fs.origin.Origin;
import io.holdfast.fs.peers.PeerLink;
import io.holdfast.fs.peers.PeerSettings;
import io.holdfast.fs.residency.PinLimits;
import io.holdfast.fs.residency.Residency;
import io.holdfast.fs.residency.ResidentFile;
import io.holdfast.fs.residency.ResidentLog;
import io.holdfast.fs.stats.Activity;
import io.holdfast.fs.stats.OpenWatcher;
import io.holdfast.fs.stats.ReadStats;
import io.holdfast.fs.tasks.TaskParts;
import io.holdfast.fs.tasks.Tasks;
import io.holdfast.fs.transit.Content;
import io.holdfast.fs.transit.FetchListener;
import io.holdfast.fs.transit.Fetched;
import io.holdfast.fs.transit.Item;
import io.holdfast.fs.transit.ItemLayout;
import io.holdfast.fs.transit.Reader;
import io.holdfast.fs.transit.Transit;
import io.holdfast.fs.tree.DatasetScan;
import io.holdfast.fs.tree.Node;
import io.holdfast.fs.tree.NodeTable;
import io.holdfast.fs.tree.Tree;
import io.holdfast.fs.tree.TreePass;
import io.holdfast.fs.tree.TreeScan;
import io.holdfast.fs.units.Human;
import io.holdfast.peer.NodeAddress;
import io.holdfast.peer.PeerSetupException;
import io.holdfast.policy.CachePolicy;
import io.holdfast.policy.Policies;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One running mount: builds the parts, starts them in order and stops them in the opposite order.
 * Thread-safe.
 *
 * <p>The order matters. Isolated threads start before anything else is opened, so that their
 * descriptor tables hold nothing of the daemon's. The origin is opened before the mount may cover
 * it.
 */
public final class Daemon {
  private static final Logger log = LoggerFactory.getLogger(Daemon.class);

  private static final Duration TICK = Duration.ofMillis(20);
  private static final Duration MOUNT_CHECK = Duration.ofSeconds(1);

  /** How long {@link #plan()} waits for the dataset to be counted. */
  private static final Duration PLAN_WAIT = Duration.ofMillis(1500);

  /** How long a new mount waits for the peers that were named to be there. */
  private static final Duration PEERS_WAIT = Duration.ofSeconds(5);

  private static final Duration START_DEADLINE = Duration.ofMinutes(1);
  private static final Duration SHORTEST_SWEEP = Duration.ofMinutes(1);
  private static final long SEED = 42;

  private final Settings settings;
  private final @Nullable Supervision supervision;
  private final Deque<Runnable> undo = new ArrayDeque<>();
  private final AtomicBoolean stopping = new AtomicBoolean();
  private final Pulse pulse = new Pulse(System::nanoTime);
  private final ServiceManager manager;
  private final CountDownLatch ready = new CountDownLatch(1);
  private final CountDownLatch stopped = new CountDownLatch(1);
  private final DatasetScan scan;
  private final StatsReport report;
  private final Exposition metrics;
  private final Activity activity;
  private final AccessLog accesses;
  private final DatasetChanges changes;
  private final Residency residency;
  private final Tasks tasks;
  private final Binding binding;
  private final @Nullable PeerLink peers;
  private volatile String peersThere = "";

  /**
   * Mounts, or takes a mount over from a daemon that was killed.
   *
   * @param supervision what the daemon has from its supervisor, or null where it has none
   * @return when the mount answers
   * @throws FsException where it cannot; nothing is left behind then
   * @throws PeerSetupException where it is because of what was said of peers
   */
  public static Daemon start(Settings settings, @Nullable Supervision supervision)
      throws FsException, PeerSetupException {
    return new Daemon(settings, supervision);
  }

  private Daemon(Settings settings, @Nullable Supervision supervision)
      throws FsException, PeerSetupException {
    this.settings = settings;
    this.supervision = supervision;
    this.manager = manager();
    boolean started = false;
    if (restarts() > 0) {
      Composition.named("start-deadline").newThread(this::endWhenOverdue).start();
    }
    try {
      int[] without = supervision == null ? new int[0] : supervision.descriptors();
      IsolatedThreads pinners = closing(Composition.pinners(without));
      IsolatedThreads droppers = closing(Composition.droppers(without));
      activity = new Activity(settings.jobBy(), settings.itemSize(), System::nanoTime);
      OpenWatcher watcher = closing(new OpenWatcher(Composition.watcher(without), activity));
      accesses = accessLog();
      boolean watch = chooseWatch(watcher);
      boolean message =
          !watch
              && (settings.openCounting() == OpenCounting.AUTO
                  || settings.openCounting() == OpenCounting.MESSAGE);

      Origin origin = closing(Composition.origin(settings, supervision));
      LiveChanges live =
          new LiveChanges(
              settings,
              supervision == null ? null : supervision.directory(),
              this::capacityChanged);
      PinLimits limits = PinLimits.raise(live.capacity());
      boolean hard = Residency.choosePin(wanted(settings.pin()), limits);
      CachePolicy policy = Policies.create(settings.policy(), live.capacity(), SEED);
      ResidentLog residentLog =
          supervision == null ? ResidentLog.NONE : ResidentFile.open(supervision.residents());
      residency =
          closing(
              new Residency(
                  new Residency.Rules(policy, settings.selection(), residentLog),
                  settings.mountpoint(),
                  new Residency.Threads(pinners, droppers),
                  hard,
                  limits.mappings(),
                  new Residency.WindowSize(settings.windowBytes(), settings.windowAge()),
                  System::nanoTime));
      residency.pins().add(live.pins());
      ItemLayout layout = new ItemLayout(settings.itemSize());
      OwnShare ownShare = new OwnShare(residency::datasetSize);
      PeerSettings wanted = settings.peers().orElse(null);
      Executor asking = Composition.pool("peer");
      peers = wanted == null ? null : closing(peerLink(wanted, live.capacity(), asking, ownShare));
      Transit transit =
          new Transit(
              peers == null
                  ? new Transit.Sources(origin)
                  : new Transit.Sources(origin, peers.source(), asking),
              layout,
              settings.transitBytes(),
              Composition.fetchers(origin.mayHang(), settings.transitBytes()),
              System::nanoTime,
              Composition.DEADLINE,
              new Listener());
      undo.push(transit::close);
      // never closed: requests are answered until the process ends
      NodeTable nodes =
          new NodeTable(
              supervision == null
                  ? GrowingMemory.ofProcess("nodes")
                  : GrowingMemory.at(supervision.nodes()));
      Tree tree = new Tree(origin, nodes, old -> changes().replaced(old));
      TreeState state = state(origin, tree);
      TreeScan treeScan = new TreeScan(origin, tree, Composition.scanners(origin.mayHang()));
      binding = closing(Composition.binding(supervision));
      ScheduledExecutorService housekeeping =
          Executors.newScheduledThreadPool(2, Composition.named("housekeeping"));
      undo.push(housekeeping::shutdownNow);
      changes =
          new DatasetChanges(
              new DatasetChanges.Parts(
                  tree,
                  treeScan,
                  layout,
                  transit,
                  residency,
                  binding,
                  settings.metadataTtl(),
                  housekeeping));
      undo.push(changes::stop);
      scan =
          new DatasetScan(
              treeScan,
              tree,
              new DatasetScan.Rules(
                  Linux.PAGE_SIZE,
                  new DatasetScan.Selected(residency::isLeftToPolicy, ownShare::datasetSize),
                  changes,
                  TreePass.Time::now));
      undo.push(scan::stop);
      tasks =
          closing(
              new Tasks(
                  new TaskParts(
                      tree,
                      layout,
                      transit,
                      residency,
                      scan::isComplete,
                      item -> peers == null || peers.mayAdmit(item),
                      live,
                      Composition.named("task"),
                      System::nanoTime)));
      ReadStats reads = new ReadStats();
      report =
          new StatsReport(
              new StatsReport.Sources(
                  settings,
                  Version.VERSION,
                  restarts(),
                  scan,
                  () -> state == null ? 0 : state.entriesLoaded(),
                  residency,
                  transit,
                  reads,
                  activity,
                  Accesses.figures(accesses),
                  watcher,
                  () -> message || watcher.isRunning(),
                  binding,
                  () -> peers == null ? null : peers.report(),
                  tasks::running,
                  System::nanoTime));
      metrics = new Exposition(settings.name(), report::stats, this::peerRows);
      DatasetFilesystem filesystem =
          new DatasetFilesystem(
              new DatasetFilesystem.Parts(
                  origin,
                  tree,
                  layout,
                  transit,
                  residency,
                  new ControlFiles(controlFiles(), restarts(), Ticker.systemTicker()),
                  reads,
                  activity,
                  accesses,
                  changes,
                  settings.metadataTtl(),
                  System::nanoTime));
      closing(
          ControlServer.start(
              ControlDirectory.standard(), settings.name(), settings.mountpoint(), new Commands()));
      listenForScrapes();
      if (peers != null && restarts() == 0) {
        peers.start(tree, layout, transit);
        peersThere = peers.await(PEERS_WAIT);
        log.info("{}", peersThere);
      }
      binding.mount(
          filesystem,
          new MountOptions(
              settings.mountpoint(),
              origin.describe(),
              settings.metadataTtl(),
              settings.allowOther(),
              message,
              settings.xattr() == XattrChoice.ON));
      OwnMountEntry.raiseReadAhead(settings.mountpoint());
      if (ControlDirectory.ownUid() == 0) {
        MountNote note = closing(new MountNote(origin.describe(), settings.mountpoint()));
        if (restarts() == 0) {
          note.write();
        }
      }
      if (watch) {
        watcher.watch(settings.mountpoint());
      }
      resume(residentLog, tree, layout);
      Runnable rescan =
          () -> {
            filesystem.rememberFigures();
            scan.run();
          };
      start(housekeeping, transit, rescan, origin.mayHang());
      if (state != null) {
        // the first to end: then it is there when the mount is gone
        closing(state).start(scan::isComplete);
      }
      if (restarts() > 0) {
        housekeeping.execute(changes::dropStrays);
      }
      if (supervision != null) {
        supervision.ready();
      }
      if (peers != null && restarts() > 0) {
        // readers have waited long enough
        Composition.named("peers")
            .newThread(() -> peers.keepStarting(tree, layout, transit))
            .start();
      }
      manager.ready(
          new DaemonHealth(pulse, ControlDirectory.standard(), settings.name()), this::status);
      undo.push(manager::close);
      ready.countDown();
      started = true;
      log.info(
          "{} {} with the {} binding: {}",
          restarts() == 0 ? "mounted" : "took over",
          settings.mountpoint(),
          binding.name(),
          settings);
    } finally {
      if (!started) {
        undoAll();
      }
    }
  }

  /** A daemon that takes over has the nodes of the one before, which are newer than any file. */
  private @Nullable TreeState state(Origin origin, Tree tree) throws FsException {
    Path directory = settings.stateDirectory().orElse(null);
    if (directory == null) {
      return null;
    }
    Path file = directory.resolve(settings.name() + ".tree");
    TreeState state = new TreeState(file, origin.identity(), tree);
    if (restarts() == 0) {
      state.load();
    }
    return state;
  }

  private PeerLink peerLink(PeerSettings wanted, long capacity, Executor asking, OwnShare ownShare)
      throws PeerSetupException {
    return new PeerLink(
        wanted,
        capacity,
        residency,
        new PeerLink.Threads(asking, Composition.pool("peer-name")),
        ownShare::share);
  }

  /** In the background it is not the daemon that was started as a service. */
  private ServiceManager manager() {
    return settings.foreground()
        ? ServiceManager.of(
            System.getenv(),
            System::nanoTime,
            ProcessHandle.current().pid(),
            supervision == null ? 0 : supervision.supervisor())
        : ServiceManager.nobody();
  }

  private String status() {
    Residency.Figures cache = residency.figures();
    return "%s: %s of %s resident"
        .formatted(
            settings.mountpoint(),
            Human.bytes(cache.residentBytes()),
            Human.bytes(cache.capacityBytes()));
  }

  /** Weights in the cluster are capacities. */
  private void capacityChanged(long bytes) {
    if (peers != null) {
      Composition.named("peers").newThread(() -> peers.capacityChanged(bytes)).start();
    }
  }

  private long restarts() {
    return supervision == null ? 0 : supervision.restarts();
  }

  /** Readers wait for this start: one that hangs makes way for another. */
  private void endWhenOverdue() {
    try {
      if (!ready.await(START_DEADLINE.toSeconds(), TimeUnit.SECONDS)) {
        log.error("not ready after {}: ending", START_DEADLINE);
        Runtime.getRuntime().halt(1);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** What a daemon before this one had resident is pinned again. */
  private void resume(ResidentLog residentLog, Tree tree, ItemLayout layout) {
    for (long id : residentLog.before()) {
      try {
        Node node = tree.node(Item.node(id));
        Content content = new Content(node.id(), node::path, node.version());
        residency.resume(layout.itemAt(content, Item.extent(id) * layout.itemSize()));
      } catch (FsException e) {
        log.debug("no longer there: {}", e.getMessage());
        residentLog.released(id);
      }
    }
  }

  private <T extends AutoCloseable> T closing(T part) {
    undo.push(
        () -> {
          try {
            part.close();
          } catch (Exception e) {
            log.warn("while stopping: {}", e.toString(), e);
          }
        });
    return part;
  }

  /** Called back only once the mount answers, when the field is set. */
  private DatasetChanges changes() {
    return changes;
  }

  private AccessLog accessLog() throws FsException {
    Path file = settings.monitoring().accessLog().orElse(null);
    return file == null
        ? AccessLog.NONE
        : closing(Accesses.open(file, settings.monitoring().sampling(), activity));
  }

  private void listenForScrapes() throws FsException {
    NodeAddress address = settings.monitoring().metrics().orElse(null);
    if (address == null) {
      return;
    }
    MetricsServer server =
        closing(new MetricsServer(address.resolve(), settings.name(), metrics::text));
    if (restarts() == 0) {
      server.start();
    } else {
      // the socket of the daemon before may be there as long as one of its threads is
      Composition.named("metrics-start").newThread(server::keepStarting).start();
    }
  }

  private boolean chooseWatch(OpenWatcher watcher) throws FsException {
    if (settings.openCounting() != OpenCounting.AUTO
        && settings.openCounting() != OpenCounting.WATCH) {
      return false;
    }
    boolean permitted = watcher.prepare();
    if (!permitted && settings.openCounting() == OpenCounting.WATCH) {
      throw new FsException(
          FsError.NOT_PERMITTED,
          "--count-opens watch: fanotify is not permitted: run as root, or use --count-opens"
              + " message");
    }
    return permitted;
  }

  private static @Nullable Boolean wanted(PinMode mode) {
    return switch (mode) {
      case AUTO -> null;
      case HARD -> true;
      case SOFT -> false;
    };
  }

  private Map<String, Supplier<byte[]>> controlFiles() {
    Map<String, Supplier<byte[]>> files = new LinkedHashMap<>();
    files.put("stats", () -> StatsText.of(report.stats()).getBytes(StandardCharsets.UTF_8));
    files.put("stats.json", () -> json(report.stats()));
    files.put("peers", () -> PeersText.of(peerRows()).getBytes(StandardCharsets.UTF_8));
    files.put("peers.json", () -> json(peerRows()));
    files.put("metrics", metrics::text);
    files.put("config", () -> settings.configText().getBytes(StandardCharsets.UTF_8));
    return files;
  }

  private List<Map<String, Object>> peerRows() {
    return peers == null ? List.of() : peers.report().peers();
  }

  private static byte[] json(Object value) {
    try {
      String json = JSON.std.with(JSON.Feature.PRETTY_PRINT_OUTPUT).asString(value) + "\n";
      return json.getBytes(StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void start(
      ScheduledExecutorService housekeeping,
      Transit transit,
      Runnable rescan,
      boolean askingTakesLong) {
    ScheduledExecutorService scanner =
        Executors.newSingleThreadScheduledExecutor(Composition.named("scan"));
    undo.push(scanner::shutdownNow);
    scanner.execute(rescan);
    every(housekeeping, TICK, pulse.of("transit", transit::expire));
    every(housekeeping, TICK, pulse.of("residency", residency::tick));
    every(housekeeping, TICK, pulse.of("tasks", tasks::tick));
    if (peers != null) {
      every(housekeeping, TICK, pulse.of("peers", peers::tick));
    }
    every(housekeeping, MOUNT_CHECK, pulse.of("mount", this::checkMount));
    Duration ttl = settings.metadataTtl();
    if (ttl.equals(Settings.INDEFINITE)) {
      return;
    }
    if (askingTakesLong) {
      // before what the last scan has found is too old to answer from
      Duration again = ttl.dividedBy(2);
      every(scanner, again.compareTo(SHORTEST_SWEEP) < 0 ? SHORTEST_SWEEP : again, rescan);
    } else {
      Duration sweep = ttl.compareTo(SHORTEST_SWEEP) < 0 ? SHORTEST_SWEEP : ttl;
      every(housekeeping, sweep, changes::refreshResidents);
    }
  }

  /** A task that failed once is due again all the same. */
  private static void every(ScheduledExecutorService executor, Duration period, Runnable task) {
    long nanos = period.toNanos();
    Runnable logged =
        () -> {
          try {
            task.run();
          } catch (RuntimeException e) {
            log.error("housekeeping failed", e);
          }
        };
    Future<?> unused = executor.scheduleWithFixedDelay(logged, nanos, nanos, TimeUnit.NANOSECONDS);
  }

  /** Somebody may have unmounted without telling the daemon, lazily, or ended the connection. */
  private void checkMount() {
    if (binding.isDisconnected() || !OwnMountEntry.isMounted(settings.mountpoint())) {
      log.warn("{} has been unmounted by somebody else; ending", settings.mountpoint());
      stopApart();
    } else if (supervision != null && supervision.isOrphaned()) {
      // whoever restarts it is gone: better an orderly end than one that leaves readers waiting
      log.warn("the supervisor has been killed; unmounting {}", settings.mountpoint());
      stopApart();
    }
  }

  /** Stops on a thread that is not itself ended by that. */
  private void stopApart() {
    Composition.named("stop").newThread(this::stop).start();
  }

  /** What transit asks goes to residency, and what it learns of changes to the filesystem. */
  private final class Listener implements FetchListener {
    @Override
    public boolean wouldAdmit(Item item) {
      return (peers == null || peers.mayAdmit(item)) && residency.wouldAdmit(item);
    }

    @Override
    public boolean serve(Item item, int offset, int length, io.holdfast.fs.ReadReply reply) {
      return residency.serve(item, offset, length, reply);
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
    public FetchUse use(Item item, Item range, Reader reader) {
      boolean whole = range.length() == item.length();
      return activity.fetch(item.id(), whole, range.offset() == item.offset(), reader.thread());
    }

    @Override
    public void ended(Item item, ReadSource source, long nanos, @Nullable FsException failure) {
      if (accesses.wantsNext()) {
        accesses.add(Accesses.fetch(item, source, nanos, failure));
      }
    }

    @Override
    public void changed(Item item) {
      changes().changed(Item.node(item.id()));
    }
  }

  private final class Commands implements ControlCommands {
    @Override
    public Map<String, Object> stats() {
      return report.stats();
    }

    @Override
    public List<Map<String, Object>> peers() {
      return peerRows();
    }

    @Override
    public long refresh(String path) throws IOException {
      return changes().refresh(path);
    }

    @Override
    public Map<String, Object> task(Map<String, Object> request) throws FsException {
      return tasks.request(request);
    }

    @Override
    public void stop() {
      stopApart();
    }

    @Override
    public Runnable restart() throws FsException {
      if (supervision == null) {
        throw new FsException(
            FsError.UNSUPPORTED,
            "it has no supervisor that would start another: only a mount with --binding kernel"
                + " has");
      }
      supervision.restart();
      manager.reloading();
      log.info("making way for another daemon");
      return () -> Runtime.getRuntime().halt(0);
    }

    @Override
    public List<Map<String, Object>> config() {
      return settings.report();
    }
  }

  /**
   * Says what the user may expect, in one line. Waits a moment for the dataset to be counted; a
   * large one is counted in the background.
   */
  public String plan() {
    boolean counted;
    try {
      counted = scan.await(PLAN_WAIT.toMillis(), TimeUnit.MILLISECONDS) && scan.isComplete();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      counted = false;
    }
    String size = Human.bytes(scan.bytes()) + " in " + Human.count(scan.files(), "file");
    String capacity = ", capacity " + Human.bytes(residency.figures().capacityBytes());
    if (!counted) {
      return "dataset still being counted, "
          + size
          + " so far"
          + capacity
          + ": 'holdfast stats "
          + settings.name()
          + "' tells the hit ratio to expect";
    }
    return "dataset "
        + size
        + capacity
        + ": hit ratio "
        + Human.ratio(report.plannedHitRatio())
        + " from the second epoch on"
        + withPeers();
  }

  private String withPeers() {
    return peersThere.isEmpty()
        ? ""
        : ", with peers " + Human.ratio(report.plannedClusterHitRatio()) + "; " + peersThere;
  }

  /**
   * Takes the mount away, lets go of every resident and ends what was started. Returns when that is
   * done.
   */
  public void stop() {
    if (stopping.compareAndSet(false, true)) {
      manager.stopping();
      undoAll();
      log.info("unmounted {}", settings.mountpoint());
      if (supervision != null) {
        supervision.end();
      }
      stopped.countDown();
    } else {
      awaitStopped();
    }
  }

  private void undoAll() {
    while (!undo.isEmpty()) {
      undo.pop().run();
    }
  }

  /** Waits until the mount has been taken away, by whomever. */
  public void awaitStopped() {
    try {
      stopped.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
