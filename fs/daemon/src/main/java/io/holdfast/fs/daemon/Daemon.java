package io.holdfast.fs.daemon;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.ItemKey;
import io.holdfast.fs.control.ControlDirectory;
import io.holdfast.fs.control.ControlServer;
import io.holdfast.fs.control.HiddenKeys;
import io.holdfast.fs.figures.LogLine;
import io.holdfast.fs.linux.NamedThreads;
import io.holdfast.fs.linux.Procfs;
import io.holdfast.fs.mount.MountOptions;
import io.holdfast.fs.peers.PeerLink;
import io.holdfast.fs.residency.PinLimits;
import io.holdfast.fs.residency.Residency;
import io.holdfast.fs.settings.AclChoice;
import io.holdfast.fs.settings.HelperChoice;
import io.holdfast.fs.settings.PinMode;
import io.holdfast.fs.settings.SettingTable;
import io.holdfast.fs.settings.Settings;
import io.holdfast.fs.settings.XattrChoice;
import io.holdfast.fs.transit.Content;
import io.holdfast.fs.tree.Node;
import io.holdfast.fs.units.Human;
import io.holdfast.peer.PeerSetupException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One running mount. Creates its {@link MountParts}, starts them in order, and stops them in the
 * opposite order. Thread-safe.
 */
public final class Daemon {
  private static final Logger log = LoggerFactory.getLogger(Daemon.class);

  private static final Duration WATCH_RETRY = Duration.ofSeconds(1);

  /** How long {@link #plan()} waits until the dataset has been counted. */
  private static final Duration PLAN_WAIT = Duration.ofMillis(1500);

  /** How long a new mount waits for the peers that it was told of. */
  private static final Duration PEERS_WAIT = Duration.ofSeconds(5);

  private static final Duration START_DEADLINE = Duration.ofMinutes(1);

  private final Undo undo = new Undo();
  private final AtomicBoolean stopping = new AtomicBoolean();
  private final Pulse pulse = new Pulse(System::nanoTime);
  private final ServiceManager manager;
  private final CountDownLatch ready = new CountDownLatch(1);
  private final CountDownLatch stopped = new CountDownLatch(1);
  private final Settings settings;
  private final @Nullable Supervision supervision;
  private final MountParts parts;
  private volatile @Nullable ControlServer control;
  private volatile @Nullable MountNote note;
  private volatile String peersThere = "";

  /**
   * Mounts, or takes a mount over from a daemon that was killed.
   *
   * @param supervision what the supervisor gave the daemon, or null without a supervisor
   * @param recentLog returns the last warnings and errors of the daemon's log, the newest first
   * @return the daemon, once the mount answers
   * @throws FsException if it cannot. A new mount leaves nothing behind then. A daemon that was to
   *     take a mount over leaves the mount and its waiting readers to the next daemon
   * @throws PeerSetupException if a setting of peers is the cause
   */
  public static Daemon start(
      Settings settings, @Nullable Supervision supervision, Supplier<List<LogLine>> recentLog)
      throws FsException, PeerSetupException {
    return new Daemon(settings, supervision, recentLog);
  }

  private Daemon(
      Settings settings, @Nullable Supervision supervision, Supplier<List<LogLine>> recentLog)
      throws FsException, PeerSetupException {
    this.settings = settings;
    this.supervision = supervision;
    this.manager = manager();
    boolean started = false;
    if (isSuccessor()) {
      manager.takingOver();
      NamedThreads.start("start-deadline", this::endWhenOverdue);
    }
    try {
      parts = new MountParts(settings, supervision, undo);
      mount(recentLog);
      started = true;
      log.info(
          "{} {} with the {} binding: {}",
          isSuccessor() ? "took over" : "mounted",
          settings.get(SettingTable.MOUNTPOINT),
          parts.binding.name(),
          settings);
    } finally {
      if (!started && !isSuccessor()) {
        undo.run();
      }
    }
  }

  private void mount(Supplier<List<LogLine>> recentLog) throws FsException, PeerSetupException {
    PeerLink peers = parts.peers;
    boolean unused = parts.place.look(parts.binding.mountId(), this::noteMove);
    ControlServer server =
        undo.closing(
            ControlServer.start(
                ControlDirectory.standard(),
                settings.get(SettingTable.NAME),
                parts.place.path(),
                new DaemonCommands(parts, manager, this::stopApart)));
    control = server;
    startServers(recentLog);
    if (peers != null && !isSuccessor()) {
      peers.start(parts.tree, parts.layout, parts.transit);
      peersThere = peers.await(PEERS_WAIT);
      log.info("{}", peersThere);
    }
    parts.binding.mount(
        parts.filesystem,
        new MountOptions(
            settings.get(SettingTable.MOUNTPOINT),
            parts.origin.describe(),
            settings.get(SettingTable.METADATA_TTL),
            settings.get(SettingTable.ALLOW_OTHER),
            parts.message,
            settings.get(SettingTable.XATTR) == XattrChoice.ON,
            letsKernelDecide()));
    checkMount();
    parts.residency.mounted();
    ReadAhead.raise(parts.binding.mountId());
    noteMount();
    if (settings.get(SettingTable.KERNEL_HELPERS) == HelperChoice.AUTO) {
      // closed before the unmount: the kernel gives the filesystem's number to another one then
      undo.closing(parts.helpers).begin(parts.binding.mountId());
    }
    if (parts.watch) {
      watchOpens();
    }
    resume();
    parts.memory.start();
    new Housekeeping(parts, settings, pulse, undo).start(this::checkMount);
    if (parts.state != null) {
      // the first part to end, so the file is there when the mount has gone
      undo.closing(parts.state).start(parts.scan::isComplete, parts.housekeeping);
    }
    if (isSuccessor()) {
      parts.changes.tellParted();
      // on a thread of its own: it waits for the kernel, and for the drop of each file's pages
      NamedThreads.start("strays", parts.changes::dropStrays);
    }
    if (supervision != null) {
      supervision.ready();
    }
    if (peers != null && isSuccessor()) {
      // later, because readers have waited long enough
      NamedThreads.start(
          "peers", () -> peers.keepStarting(parts.tree, parts.layout, parts.transit));
    }
    manager.ready(
        new DaemonHealth(pulse, ControlDirectory.standard(), settings.get(SettingTable.NAME)),
        this::status);
    undo.push(manager::close);
    undo.push(manager::stopping);
    ready.countDown();
  }

  /**
   * Tells whether the kernel decides by ACLs. Only with a supervisor: libfuse 2 cannot have the
   * kernel decide.
   */
  private boolean letsKernelDecide() throws FsException {
    if (settings.get(SettingTable.ACL) == AclChoice.KERNEL && supervision == null) {
      throw new FsException(
          FsError.UNSUPPORTED,
          "--acl kernel needs the kernel binding; fix: mount as root with --binding kernel, or use"
              + " --acl strict");
    }
    return switch (settings.get(SettingTable.ACL)) {
      case KERNEL -> true;
      case STRICT -> false;
      case AUTO ->
          supervision != null
              && !isSuccessor()
              && settings.get(SettingTable.XATTR) == XattrChoice.ON
              && AclLook.findsAny(
                  parts.origin, parts.tree, Composition.scanners(parts.origin.mayHang()));
    };
  }

  /**
   * Starts to watch opens. The kernel asks for the root's attributes then, and the origin may not
   * answer.
   */
  private void watchOpens() throws FsException {
    if (!isSuccessor()) {
      parts.watcher.watch(parts.place::open);
    } else if (!watchesOpens()) {
      Housekeeping.until(parts.housekeeping, WATCH_RETRY, this::watchesOpens);
    }
  }

  private boolean watchesOpens() {
    try {
      parts.watcher.watch(parts.place::open);
      return true;
    } catch (FsException e) {
      log.warn("opens are not counted for the moment: {}", e.getMessage());
      return false;
    }
  }

  private void noteMount() {
    if (Procfs.ownUid() == 0) {
      MountNote written = undo.closing(new MountNote(parts.origin.describe(), parts.place.path()));
      note = written;
      if (!isSuccessor()) {
        written.write();
      }
    }
  }

  /**
   * Returns the service manager. A daemon in the background was not itself started as a service.
   */
  private ServiceManager manager() {
    return settings.get(SettingTable.FOREGROUND)
        ? ServiceManager.of(
            System.getenv(),
            System::nanoTime,
            ProcessHandle.current().pid(),
            supervision == null ? 0 : supervision.supervisor())
        : ServiceManager.nobody();
  }

  private String status() {
    Residency.Figures cache = parts.residency.figures();
    return "%s: %s of %s resident"
        .formatted(
            parts.place.path(),
            Human.bytes(cache.residentBytes()),
            Human.bytes(cache.capacityBytes()));
  }

  /** Tells whether this daemon takes a mount over. */
  private boolean isSuccessor() {
    return supervision != null && supervision.takesOver();
  }

  /**
   * Ends the process if the start hangs, because readers wait: the supervisor goes back to the
   * daemon before a restart, or gives the mount up.
   */
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

  /** Pins the items again that were resident with the daemon before this one. */
  private void resume() {
    for (ItemKey key : parts.residentLog.before()) {
      try {
        Node node = parts.tree.node(key.node());
        Content content = new Content(node.id(), node::path, node.version());
        parts.residency.resume(parts.layout.item(content, key.extent()));
      } catch (FsException | IndexOutOfBoundsException e) {
        log.debug("no longer there: {}", e.getMessage());
        parts.residentLog.notTakenOver(key);
      }
    }
  }

  private void startServers(Supplier<List<LogLine>> recentLog) throws FsException {
    PageFiles page = new PageFiles(settings, parts.report, parts.live, parts::nodes, recentLog);
    WebServers servers = new WebServers(settings, parts.files::scrape, page, undo);
    if (isSuccessor()) {
      servers.keepStarting();
    } else {
      servers.start();
    }
  }

  /**
   * Stops the daemon if the mount has gone: somebody may have unmounted it lazily without telling
   * the daemon, or have ended the connection.
   */
  private void checkMount() {
    if (stopping.get()) {
      return;
    }
    if (parts.binding.isDisconnected()
        || !parts.place.look(parts.binding.mountId(), this::noteMove)) {
      log.warn("{} has been unmounted by somebody else; ending", parts.place.path());
      stopApart();
    } else if (supervision != null && supervision.isOrphaned()) {
      // nobody would start another daemon: an orderly end is better than one that leaves readers
      // waiting
      log.warn("the supervisor has been killed; unmounting {}", parts.place.path());
      stopApart();
    }
  }

  /** Tells other processes where the mount is, after a directory above it was renamed. */
  private void noteMove(Path place) {
    log.warn("a directory above the mount was renamed: the mount is at {} now", place);
    ControlServer server = control;
    if (server != null) {
      server.moved(place);
    }
    MountNote written = note;
    if (written != null) {
      written.move(place);
    }
  }

  /** Stops on a thread of its own, which the stop does not end. */
  private void stopApart() {
    NamedThreads.start("stop", this::stop);
  }

  /**
   * Returns what the user may expect, in one line; more lines say that keys of the store are
   * hidden, that pages are not locked, or where the page is. Waits a moment until the dataset has
   * been counted; a large dataset is counted in the background.
   */
  public String plan() {
    StringBuilder plan = new StringBuilder(expected());
    long hidden = parts.scan.hiddenKeys();
    if (hidden > 0) {
      plan.append('\n').append(HiddenKeys.text(hidden, parts.scan.hiddenKey()));
    }
    if (settings.get(SettingTable.PIN) == PinMode.AUTO && !parts.residency.isHard()) {
      plan.append('\n').append(notLocked());
    }
    settings
        .find(SettingTable.PAGE)
        .ifPresent(address -> plan.append("\npage at http://").append(address).append('/'));
    return plan.toString();
  }

  private static String notLocked() {
    return "pages are not locked, since 'ulimit -l' allows "
        + Human.bytes(PinLimits.lockableBytes())
        + ": the kernel may take them when memory is short; fix: 'ulimit -l unlimited', or mount as"
        + " root";
  }

  private String expected() {
    boolean counted;
    try {
      counted =
          parts.scan.await(PLAN_WAIT.toMillis(), TimeUnit.MILLISECONDS) && parts.scan.isComplete();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      counted = false;
    }
    String size =
        Human.bytes(parts.scan.bytes()) + " in " + Human.count(parts.scan.files(), "file");
    String capacity = ", capacity " + Human.bytes(parts.residency.figures().capacityBytes());
    if (!counted) {
      return "dataset still being counted, "
          + size
          + " so far"
          + capacity
          + ": 'holdfast stats "
          + settings.get(SettingTable.NAME)
          + "' tells the hit ratio to expect";
    }
    if (parts.scan.files() == 0) {
      return "dataset " + size + capacity + ": nothing to keep";
    }
    return "dataset "
        + size
        + capacity
        + ": hit ratio "
        + Human.ratio(parts.report.plannedHitRatio())
        + " from the second epoch on"
        + withPeers();
  }

  private String withPeers() {
    return peersThere.isEmpty()
        ? ""
        : ", with peers " + Human.ratio(parts.report.plannedClusterHitRatio()) + "; " + peersThere;
  }

  /** Unmounts, releases every resident, and ends all parts. Returns when that is done. */
  public void stop() {
    if (stopping.compareAndSet(false, true)) {
      awaitReady();
      try {
        undo.run();
        if (supervision != null) {
          supervision.end();
        }
        log.info("unmounted {}", parts.place.path());
      } finally { // other callers wait for that
        stopped.countDown();
      }
    } else {
      awaitStopped();
    }
  }

  /** Waits until the start is over: only then are all steps to undo known. */
  private void awaitReady() {
    try {
      ready.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Waits until the mount has ended, whoever unmounts it. */
  public void awaitStopped() {
    try {
      stopped.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
