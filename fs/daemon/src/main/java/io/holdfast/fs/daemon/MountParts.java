package io.holdfast.fs.daemon;

import com.github.benmanes.caffeine.cache.Ticker;
import io.holdfast.fs.AccessLog;
import io.holdfast.fs.ControlInodes;
import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.PageStore;
import io.holdfast.fs.accesslog.AccessLogWriter;
import io.holdfast.fs.control.ControlFiles;
import io.holdfast.fs.figures.KernelFigures;
import io.holdfast.fs.figures.NodeFigures;
import io.holdfast.fs.linux.GrowingMemory;
import io.holdfast.fs.linux.IsolatedThreads;
import io.holdfast.fs.linux.Linux;
import io.holdfast.fs.linux.MountPlace;
import io.holdfast.fs.linux.NamedThreads;
import io.holdfast.fs.linux.Procfs;
import io.holdfast.fs.memory.MemoryGuard;
import io.holdfast.fs.mount.Binding;
import io.holdfast.fs.mount.DatasetChanges;
import io.holdfast.fs.mount.DatasetFilesystem;
import io.holdfast.fs.orders.OrderParts;
import io.holdfast.fs.orders.Orders;
import io.holdfast.fs.orders.SharedOrders;
import io.holdfast.fs.origin.Origin;
import io.holdfast.fs.peers.PeerLink;
import io.holdfast.fs.peers.PeerSettings;
import io.holdfast.fs.plan.PlanParts;
import io.holdfast.fs.plan.Plans;
import io.holdfast.fs.residency.PinLimits;
import io.holdfast.fs.residency.Residency;
import io.holdfast.fs.residency.ResidentFile;
import io.holdfast.fs.residency.ResidentLog;
import io.holdfast.fs.settings.OpenCounting;
import io.holdfast.fs.settings.OrderMode;
import io.holdfast.fs.settings.PinMode;
import io.holdfast.fs.settings.SettingTable;
import io.holdfast.fs.settings.Settings;
import io.holdfast.fs.stats.Activity;
import io.holdfast.fs.stats.OpenWatcher;
import io.holdfast.fs.stats.ReadStats;
import io.holdfast.fs.tasks.TaskParts;
import io.holdfast.fs.tasks.Tasks;
import io.holdfast.fs.transit.Item;
import io.holdfast.fs.transit.ItemLayout;
import io.holdfast.fs.transit.PeerSource;
import io.holdfast.fs.transit.Transit;
import io.holdfast.fs.tree.DatasetScan;
import io.holdfast.fs.tree.Moment;
import io.holdfast.fs.tree.Node;
import io.holdfast.fs.tree.NodeTable;
import io.holdfast.fs.tree.Tree;
import io.holdfast.fs.tree.TreeScan;
import io.holdfast.peer.PeerSetupException;
import io.holdfast.policy.CachePolicy;
import io.holdfast.policy.Policies;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.jspecify.annotations.Nullable;

/**
 * All parts of a mount, created in the order that they need. The isolated threads come before the
 * daemon opens any file, so that their descriptor tables hold none of these. The origin comes
 * before the mount may cover it. The threads only wait yet. {@link Undo} ends every part, also if a
 * later part cannot be created. Immutable; the parts are thread-safe.
 */
final class MountParts {
  private static final long SEED = 42;

  final Settings settings;
  final LiveChanges live;
  final @Nullable Supervision supervision;
  final Activity activity;
  final OpenWatcher watcher;

  /** Whether the watcher counts opens; else the kernel may send a message for each open. */
  final boolean watch;

  final boolean message;
  final Origin origin;
  final ResidentLog residentLog;
  final Residency residency;
  final ItemLayout layout;
  final Plans plans;
  final @Nullable PeerLink peers;
  final Transit transit;
  final Tree tree;
  final MemoryGuard memory;
  final @Nullable TreeState state;
  final MountPlace place;
  final Binding binding;
  final KernelHelpers helpers;
  final IsolatedThreads.Failures failures = new IsolatedThreads.Failures();
  final ScheduledExecutorService housekeeping;
  final PatientThreads steps;
  final PatientThreads lookers;
  final PatientThreads waiters;
  final PatientThreads teller;
  final DatasetChanges changes;
  final DatasetScan scan;
  final Tasks tasks;
  final Orders orders;

  /** Follows jobs that read one order together; null where nothing is kept for them. */
  final @Nullable SharedOrders shared;

  final ToldAllocation allocation = new ToldAllocation(Clock.systemUTC());
  final StatsReport report;
  final DaemonFiles files;
  final DatasetFilesystem filesystem;
  private final Undo undo;

  /**
   * Creates the parts.
   *
   * @param supervision what the supervisor gave the daemon, or null without a supervisor
   * @throws FsException if they cannot be created
   * @throws PeerSetupException if a setting of peers is the cause
   */
  MountParts(Settings settings, @Nullable Supervision supervision, Undo undo)
      throws FsException, PeerSetupException {
    this.settings = settings;
    this.supervision = supervision;
    this.undo = undo;
    place = new MountPlace(settings.get(SettingTable.MOUNTPOINT));
    if (supervision != null) {
      supervision.goElsewhere(settings.find(SettingTable.STATE_DIR));
    }
    int[] without = supervision == null ? new int[0] : supervision.descriptors();
    IsolatedThreads pinners = undo.closing(Composition.pinners(failures, without));
    IsolatedThreads droppers = undo.closing(Composition.droppers(failures, without));
    activity =
        new Activity(
            settings.get(SettingTable.JOB_BY),
            settings.get(SettingTable.ITEM_SIZE).intValue(),
            System::nanoTime);
    watcher = undo.closing(new OpenWatcher(Composition.watcher(failures, without), activity));
    AccessLog accesses = accessLog();
    watch = chooseWatch();
    boolean mayGoOver = watch && settings.get(SettingTable.COUNT_OPENS) == OpenCounting.AUTO;
    helpers = new KernelHelpers(Composition.helpers(), mayGoOver ? watcher : null);
    message =
        !watch
            && (settings.get(SettingTable.COUNT_OPENS) == OpenCounting.AUTO
                || settings.get(SettingTable.COUNT_OPENS) == OpenCounting.MESSAGE);

    origin = undo.closing(Composition.origin(settings, supervision));
    live =
        new LiveChanges(
            settings, supervision == null ? null : supervision.directory(), this::capacityChanged);
    residentLog =
        supervision == null
            ? ResidentLog.NONE
            : ResidentFile.open(supervision.residents(), supervision.elsewhere());
    residency = residency(new Residency.Threads(pinners, droppers));
    layout = new ItemLayout(settings.get(SettingTable.ITEM_SIZE).intValue());
    OwnShare ownShare = new OwnShare(residency::datasetSize);
    steps = Composition.steps();
    plans = plans();
    peers = peerLink(live.capacity(), steps, ownShare);
    transit = transit(steps, accesses);
    // never closed: the daemon answers requests until the process ends
    NodeTable nodes =
        new NodeTable(supervision == null ? GrowingMemory.ofProcess("nodes") : supervision.nodes());
    tree = new Tree(origin, nodes, Tree.ChangeListener.of(this::changes));
    tree.sweepOn(Composition.sweeper());
    state = treeState();
    TreeScan treeScan = new TreeScan(origin, tree, Composition.scanners(origin.mayHang()));
    binding = undo.closing(Composition.binding(supervision, failures));
    housekeeping = Executors.newScheduledThreadPool(2, new NamedThreads("housekeeping"));
    undo.push(housekeeping::shutdownNow);
    // a thread of its own, because to evict many residents takes longer than deadlines may wait
    ScheduledExecutorService guarding =
        Executors.newSingleThreadScheduledExecutor(new NamedThreads("memory"));
    undo.push(guarding::shutdownNow);
    memory =
        undo.closing(
            Ceiling.guard(new Ceiling.Parts(settings, live, residency, transit, tree, guarding)));
    lookers = Composition.lookers();
    waiters = Composition.waiters();
    teller = Composition.teller();
    changes = changes(treeScan);
    scan = scan(treeScan, ownShare);
    tasks = tasks();
    shared = sharedOrders();
    orders = orders();
    ReadStats reads = new ReadStats();
    report = report(reads, accesses);
    files = new DaemonFiles(settings, live, report, this::nodes);
    filesystem = filesystem(reads, accesses);
  }

  private boolean takesOver() {
    return supervision != null && supervision.takesOver();
  }

  /** Returns the number of daemons that this mount has had before this one. */
  long restarts() {
    return supervision == null ? 0 : supervision.restarts();
  }

  /** Returns a row for each node of the cluster. */
  List<NodeFigures> nodes() {
    return peers == null ? List.of() : peers.report().nodes();
  }

  private boolean mayKeep(Item item) {
    return peers == null || peers.mayAdmit(item);
  }

  /** Called only once the mount answers; the field is set then. */
  private DatasetChanges changes() {
    return changes;
  }

  /** Tells the cluster a new capacity, which is this node's weight. */
  private void capacityChanged() {
    if (peers != null) {
      NamedThreads.start("peers", () -> peers.capacityChanged(live::capacity));
    }
  }

  private AccessLog accessLog() throws FsException {
    Path file = settings.find(SettingTable.ACCESS_LOG).orElse(null);
    AccessLogWriter opened =
        file == null
            ? null
            : Accesses.open(
                    file, supervision, settings.get(SettingTable.ACCESS_LOG_SAMPLE), activity)
                .orElse(null);
    return opened == null ? AccessLog.NONE : undo.closing(opened);
  }

  private boolean chooseWatch() throws FsException {
    if (settings.get(SettingTable.COUNT_OPENS) != OpenCounting.AUTO
        && settings.get(SettingTable.COUNT_OPENS) != OpenCounting.WATCH) {
      return false;
    }
    boolean permitted = watcher.prepare();
    if (!permitted && settings.get(SettingTable.COUNT_OPENS) == OpenCounting.WATCH) {
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

  private Residency residency(Residency.Threads threads) throws FsException {
    PinLimits limits = PinLimits.raise(live.capacity());
    boolean hard = limits.choose(wanted(settings.get(SettingTable.PIN)));
    CachePolicy policy = Policies.create(settings.get(SettingTable.POLICY), live.capacity(), SEED);
    Residency made =
        undo.closing(
            new Residency(
                new Residency.Rules(policy, settings.selection(), residentLog),
                new Residency.MountUse(
                    place::open, this::store, hard, limits.mappings(), this::nodeOf),
                threads,
                window(),
                System::nanoTime));
    made.pins().add(live.pins());
    return made;
  }

  /** Called only once the mount answers; the field is set then. */
  private boolean store(long node, PageStore.Source source) {
    return binding.store(node, source);
  }

  /** Called only once the mount answers; the field is set then. */
  private long nodeOf(int fd) {
    return binding.nodeOf(fd);
  }

  private @Nullable PeerLink peerLink(long capacity, Executor threads, OwnShare ownShare)
      throws PeerSetupException {
    PeerSettings wanted = settings.peers().orElse(null);
    return wanted == null
        ? null
        : undo.closing(
            new PeerLink(
                wanted,
                capacity,
                new PeerLink.Local(origin, residency, plans),
                new PeerLink.Threads(
                    threads, Composition.pool("peer-name"), Composition.sketcher()),
                ownShare::share));
  }

  private Transit transit(Executor threads, AccessLog accesses) {
    Transit made =
        new Transit(
            new Transit.Sources(origin, peers == null ? PeerSource.NONE : peers.source(), threads),
            layout,
            settings.transitBytes(),
            Composition.fetchers(origin.mayHang(), settings.get(SettingTable.TRANSIT)),
            System::nanoTime,
            settings.get(SettingTable.SOURCE_TIMEOUT),
            new TransitListener(residency, this::mayKeep, activity, accesses, this::changes));
    undo.push(made::close);
    return made;
  }

  /**
   * Returns the tree's file; null for a daemon that takes over, because it has the earlier daemon's
   * nodes, which are newer than any file.
   */
  private @Nullable TreeState treeState() throws FsException {
    Path directory = settings.find(SettingTable.STATE_DIR).orElse(null);
    if (directory == null) {
      return null;
    }
    Path file = directory.resolve(settings.get(SettingTable.NAME) + ".tree");
    TreeState state = new TreeState(file, origin::identity, tree);
    if (!takesOver()) {
      state.load();
    }
    return state;
  }

  private DatasetChanges changes(TreeScan treeScan) {
    DatasetChanges made =
        new DatasetChanges(
            new DatasetChanges.Parts(
                tree,
                treeScan,
                layout,
                transit,
                residency,
                binding,
                settings.get(SettingTable.METADATA_TTL),
                takesOver(),
                lookers,
                waiters,
                teller));
    undo.push(made::stop);
    return made;
  }

  private DatasetScan scan(TreeScan treeScan, OwnShare ownShare) {
    DatasetScan made =
        new DatasetScan(
            treeScan,
            tree,
            new DatasetScan.Rules(
                Linux.PAGE_SIZE,
                new DatasetScan.Selected(residency::isLeftToPolicy, ownShare::datasetSize),
                changes,
                Moment::now));
    undo.push(made::stop);
    return made;
  }

  private Tasks tasks() {
    return undo.closing(
        new Tasks(
            new TaskParts(
                tree,
                layout,
                transit,
                residency,
                scan::hasEnded,
                scan::isComplete,
                this::mayKeep,
                live,
                memory::allowed,
                new NamedThreads("task"),
                System::nanoTime)));
  }

  private @Nullable SharedOrders sharedOrders() {
    long budget = settings.get(SettingTable.CONVOY);
    if (budget == 0) {
      return null;
    }
    SharedOrders made =
        new SharedOrders(
            new SharedOrders.Parts(
                budget,
                settings.get(SettingTable.SOURCE_TIMEOUT),
                thread -> activity.caller(thread).job(),
                this::inode,
                transit.stats().inFlight::sum,
                SharedOrders.Threads.of(activity),
                System::nanoTime));
    transit.sharing(made, budget);
    return made;
  }

  private long inode(long node) {
    Node file = tree.handle(node);
    return file == null ? ControlInodes.NO_FILE : file.inode();
  }

  private Orders orders() {
    OrderMode mode = settings.get(SettingTable.ORDERS);
    Orders made =
        undo.closing(
            new Orders(
                new OrderParts(
                    tree,
                    layout,
                    transit,
                    residency,
                    activity,
                    scan::hasEnded,
                    this::countsOpens,
                    window(),
                    System::nanoTime),
                mode != OrderMode.OFF,
                mode == OrderMode.LEARN,
                shared,
                isPlanned() ? plans : null,
                supervision == null ? null : supervision.orders()));
    made.resume(takesOver());
    if (mode != OrderMode.OFF || shared != null) {
      activity.listener(made);
    }
    // another node's jobs may be about to read what a job of this node has read
    if (peers == null && settings.get(SettingTable.POLICY).equals(Policies.MINIO)) {
      residency.swaps(made.spreading());
    } else if (isPlanned()) {
      residency.swaps(plans.swaps());
    }
    return made;
  }

  /** Tells whether nodes that know all orders plan what each of them keeps. */
  private boolean isPlanned() {
    return peers != null
        && settings.get(SettingTable.ORDERS) != OrderMode.OFF
        && settings.get(SettingTable.POLICY).equals(Policies.MINIO);
  }

  private Plans plans() {
    return new Plans(
        new PlanParts(
            new PlannedFiles(this::tree, layout, residency),
            new PlannedResidents(residency),
            activity::life,
            this::datasetBytes,
            Composition.planner(),
            supervision == null ? null : supervision.directory().resolve("planned"),
            System::nanoTime));
  }

  /** Called only once the mount answers; the field is set then. */
  private Tree tree() {
    return tree;
  }

  /** Called only once the mount answers; the field is set then. */
  private long datasetBytes() {
    return scan.pageBytes();
  }

  private Residency.WindowSize window() {
    return new Residency.WindowSize(
        settings.get(SettingTable.WINDOW), settings.get(SettingTable.WINDOW_AGE));
  }

  private boolean countsOpens() {
    return message || watcher.isRunning();
  }

  /** Returns how the daemon learns of opens, as in the figures. */
  private String opens() {
    if (!countsOpens()) {
      return KernelFigures.OFF;
    }
    if (message) {
      return KernelFigures.MESSAGE;
    }
    return watcher.isByProgram() ? KernelFigures.BPF : KernelFigures.FANOTIFY;
  }

  private StatsReport report(ReadStats reads, AccessLog accesses) {
    return new StatsReport(
        new StatsReport.Sources(
            settings,
            Version.VERSION,
            restarts(),
            scan,
            () -> state == null ? 0 : state.entriesLoaded(),
            residency,
            live::isCapacityOfNodeBudget,
            place,
            origin,
            transit,
            reads,
            activity,
            Accesses.figures(accesses),
            () -> memory.figures().told(),
            watcher,
            this::opens,
            binding,
            helpers::ioctl,
            () -> peers == null ? null : peers.report(),
            plans::figures,
            tasks::running,
            orders::figures,
            () -> shared == null ? List.of() : shared.figures(),
            allocation::figures,
            System::nanoTime));
  }

  private DatasetFilesystem filesystem(ReadStats reads, AccessLog accesses) {
    ControlFiles control =
        new ControlFiles(
            files.files(),
            new ControlFiles.Owner(Procfs.ownUid(), Procfs.ownGid()),
            Ticker.systemTicker());
    return new DatasetFilesystem(
        new DatasetFilesystem.Parts(
            origin,
            tree,
            layout,
            transit,
            residency,
            control,
            reads,
            activity,
            accesses,
            changes,
            settings.get(SettingTable.METADATA_TTL),
            Procfs.host(),
            System::nanoTime));
  }
}
