package io.holdfast.fs.checkpoint.daemon;

import io.holdfast.fs.FsError;
import io.holdfast.fs.FsException;
import io.holdfast.fs.checkpoint.Advice;
import io.holdfast.fs.checkpoint.CheckpointFigures;
import io.holdfast.fs.checkpoint.CheckpointFilesystem;
import io.holdfast.fs.checkpoint.Front;
import io.holdfast.fs.checkpoint.KernelState;
import io.holdfast.fs.checkpoint.Persister;
import io.holdfast.fs.checkpoint.Reconciliation;
import io.holdfast.fs.checkpoint.SaveMeter;
import io.holdfast.fs.checkpoint.Store;
import io.holdfast.fs.checkpoint.kernel.WritableMount;
import io.holdfast.fs.control.ControlDirectory;
import io.holdfast.fs.control.ControlServer;
import io.holdfast.fs.daemon.Supervision;
import io.holdfast.fs.linux.MountPlace;
import io.holdfast.fs.linux.MountTable;
import io.holdfast.fs.linux.NamedThreads;
import io.holdfast.fs.metrics.ScrapeSite;
import io.holdfast.fs.units.Human;
import io.holdfast.fs.web.WebServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running checkpoint mount. Thread-safe.
 *
 * <p>At the start it goes on where an earlier daemon has stopped; if that one was killed and its
 * supervisor lives, with the same mount, where programs have files open. If the machine has stopped
 * since, the front's files may not be as the log says: then only the operations count whose bytes
 * are as they were written, up to the first that is damaged. The store gets these before the mount
 * begins, and the front is made anew from the store.
 */
public final class CheckpointDaemon {
  private static final Logger log = LoggerFactory.getLogger(CheckpointDaemon.class);

  private static final Duration END = Duration.ofSeconds(5);
  private static final Duration LONGEST_STOP = Duration.ofSeconds(30);
  private static final long LOOK_MILLIS = 100;
  private static final Duration LOOK = Duration.ofSeconds(1);

  private final CheckpointSettings settings;
  private final Supervision supervision;
  private final SaveMeter meter = SaveMeter.ofProcess();
  private final OpenedFront opened;
  private final Store store;
  private final CountDownLatch stopped = new CountDownLatch(1);
  private final AtomicBoolean stopping = new AtomicBoolean();
  private Front front;
  private Persister persister;
  private final WritableMount mount;
  private final ControlServer control;
  private final @Nullable WebServer scrapes;
  private volatile double iterationSeconds;
  private volatile double bound = Advice.DEFAULT_BOUND;

  /**
   * Mounts, or goes on with the mount of an earlier daemon; returns when the mount answers.
   *
   * @param supervision what the supervisor gave the daemon
   * @throws IOException with one line for the user; nothing is left behind then but the front, and
   *     the mount of an earlier daemon
   */
  public CheckpointDaemon(CheckpointSettings settings, Supervision supervision) throws IOException {
    this.settings = settings;
    this.supervision = supervision;
    supervision.goElsewhere(Optional.empty());
    boolean goesOn = WritableMount.isBegun(supervision.session());
    opened =
        new OpenedFront(
            settings.front(), settings.capacity(), settings.store().identity(), this::open, goesOn);
    store = opened.store();
    front = opened.front();
    try {
      persister = newPersister();
      if (opened.hasCrashed()) {
        afterCrash();
      } else {
        opened.directory().begin();
      }
      if (!goesOn) { // else nobody else had the store meanwhile
        reconcile();
      }
      control =
          ControlServer.start(
              ControlDirectory.standard(),
              settings.name(),
              settings.mountpoint(),
              new CheckpointCommands(this));
    } catch (IOException | RuntimeException e) {
      store.release(!goesOn && front.pendingOperations() == 0);
      throw e;
    }
    WebServer server = null;
    try {
      server = startScrapes();
      KernelState kernel =
          new KernelState(
              supervision.nodes(), supervision.memory("handles"), supervision.requests());
      CheckpointFilesystem filesystem =
          new CheckpointFilesystem(front, store, persister, settings.fsync(), meter, kernel);
      mount =
          new WritableMount(
              supervision.fuse(),
              supervision.session(),
              kernel.requests(),
              filesystem,
              settings.mountpoint());
      if (goesOn) {
        supervision.ready(); // before programs see that it answers, and perhaps kill it
      }
      mount.start(MountTable.CHECKPOINT_SOURCE + settings.store());
    } catch (IOException | RuntimeException e) {
      if (server != null) {
        server.close();
      }
      control.close();
      store.release(!goesOn && front.pendingOperations() == 0);
      throw e;
    }
    scrapes = server;
    persister.start();
    NamedThreads.start("mount-end", this::awaitUnmount);
    if (!goesOn) {
      supervision.ready();
    }
    log.info(goesOn ? "goes on with {}" : "mounted {}", settings);
  }

  private @Nullable WebServer startScrapes() throws FsException {
    InetSocketAddress address = settings.metrics();
    if (address == null) {
      return null;
    }
    ScrapeSite site =
        new ScrapeSite(settings.name(), () -> CheckpointMetrics.text(settings.name(), figures()));
    WebServer server = new WebServer("metrics", address, site);
    server.start();
    return server;
  }

  private Store open(String owner, boolean isHeld) throws IOException {
    return settings.store().open(owner, settings.front(), OpenedFront::now, isHeld);
  }

  private Persister newPersister() throws IOException {
    return new Persister(front, store, settings.persistRate(), settings.keep(), meter);
  }

  private void afterCrash() throws IOException {
    int lost = front.dropDamaged();
    log.warn(
        "the machine has stopped since the last mount: {} operations are lost, {} go to the store",
        lost,
        front.pendingOperations());
    persistAll();
    opened.beginAnew();
    opened.directory().begin();
    front = opened.front();
    persister = newPersister();
  }

  /** Has the store get what is pending before programs see the mount, and ends the persister. */
  private void persistAll() throws IOException {
    persister.start();
    try {
      long last = front.lastPending();
      while (!persister.await(last, TimeUnit.SECONDS.toNanos(10))) {
        CheckpointFigures figures = figures();
        log.info("{} to go: {}", Human.bytes(figures.pendingBytes()), figures.state());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new FsException(FsError.UNAVAILABLE, "the start was interrupted", e);
    }
    persister.close();
  }

  private void reconcile() throws IOException {
    if (front.pendingOperations() > 0) {
      log.info("{} operations are pending: the store gets them", front.pendingOperations());
      if (!front.isComparing()) {
        return; // the persister compares each with the store
      }
      persistAll(); // they are those of a comparison that was not finished
      persister = newPersister();
    }
    int differences = new Reconciliation(front, store).run();
    log.info("the store was compared: {}", Human.count(differences, "difference"));
  }

  CheckpointSettings settings() {
    return settings;
  }

  Front front() {
    return front;
  }

  Persister persister() {
    return persister;
  }

  /** Returns the figures of now. */
  CheckpointFigures figures() {
    return CheckpointFigures.of(
        front, persister, meter, iterationSeconds, bound, OpenedFront.now());
  }

  /** Takes the time of an iteration of the job, in seconds. */
  void setIteration(double seconds) {
    iterationSeconds = seconds;
  }

  /** Takes the bound of the overhead, above 0 and below 1. */
  void setBound(double overhead) {
    bound = overhead;
  }

  double bound() {
    return bound;
  }

  SaveMeter meter() {
    return meter;
  }

  /** Unmounts unless files are open; returns 0 or an errno. */
  int unmount() {
    return mount.unmount(false);
  }

  /** Returns what the user may expect, in a line or some. */
  public String plan() {
    String where =
        front.isVolatile()
            ? "in memory: a crash of this node loses what the store does not have yet"
            : "on a disk of this node";
    return "checkpoints written to %s are at %s first (%s, at most %s), and then in %s"
        .formatted(
            settings.mountpoint(),
            settings.front(),
            where,
            Human.bytes(settings.capacity()),
            settings.store());
  }

  private void awaitUnmount() {
    boolean orphaned = false;
    MountPlace place = new MountPlace(settings.mountpoint());
    while (!mount.awaitEnd(LOOK)) {
      boolean unused = place.look(mount.id(), this::noteMove);
      if (!orphaned && supervision.isOrphaned()) {
        orphaned = true;
        log.warn("the supervisor has been killed: if this daemon is killed, too, the mount ends");
      }
    }
    persistRest();
    stop();
  }

  private void noteMove(Path place) {
    log.warn("a directory above the mount was renamed: the mount is at {} now", place);
    control.moved(place);
  }

  /**
   * After an unmount: has the store get everything, however long that takes, unless told to stop.
   * Only looks: a persister for which somebody waits would ask a store that fails without pauses.
   */
  private void persistRest() {
    while (front.pendingOperations() > 0) {
      try {
        if (stopped.await(LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
          return;
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }

  /** Unmounts, also while files are open, and ends; what is pending stays in the front. */
  public void stop() {
    if (!stopping.compareAndSet(false, true)) {
      awaitOtherStop();
      return;
    }
    mount.unmount(true);
    if (!mount.awaitEnd(END)) {
      log.warn("files are still open; their programs get errors from now on");
    }
    front.close();
    persister.close();
    boolean nothingPending = front.pendingOperations() == 0;
    try {
      if (nothingPending) {
        opened.directory().finish();
      }
      log.info("stopped: {} operations are pending", front.pendingOperations());
    } catch (IOException e) {
      log.warn("the front cannot be finished", e);
    }
    store.release(nothingPending);
    control.close();
    if (scrapes != null) {
      scrapes.close();
    }
    store.close();
    opened.close();
    supervision.end();
    stopped.countDown();
  }

  /** The process must not end while another thread gives the store free. */
  private void awaitOtherStop() {
    try {
      if (!stopped.await(LONGEST_STOP.toMillis(), TimeUnit.MILLISECONDS)) {
        log.warn("the mount is still being stopped");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Returns when the mount has ended, for whatever reason. */
  public void awaitStopped() {
    try {
      stopped.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
