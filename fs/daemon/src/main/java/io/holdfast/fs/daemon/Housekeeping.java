package io.holdfast.fs.daemon;

import io.holdfast.fs.OutOfMemory;
import io.holdfast.fs.settings.SettingTable;
import io.holdfast.fs.settings.Settings;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The tasks that a daemon runs again and again for as long as it serves its mount. */
final class Housekeeping {
  private static final Logger log = LoggerFactory.getLogger(Housekeeping.class);

  /** The period of tasks that others wait for: memory in transit, and drops of pages. */
  private static final Duration TICK = Duration.ofMillis(20);

  /** Looks at every fetch, and there are thousands where pins come behind their readers. */
  private static final Duration DEADLINES = Duration.ofMillis(100);

  private static final Duration LOOK = Duration.ofSeconds(1);

  /** The period of looks at the readers, which last long only while there are very many. */
  private static final Duration SHORT_LOOK = Duration.ofMillis(250);

  private static final Duration SHORTEST_SWEEP = Duration.ofMinutes(1);

  private final MountParts parts;
  private final Settings settings;
  private final Pulse pulse;
  private final Undo undo;

  /**
   * Creates the tasks; none runs yet.
   *
   * @param pulse watches the tasks that must never take long
   * @param undo takes the step that ends the tasks
   */
  Housekeeping(MountParts parts, Settings settings, Pulse pulse, Undo undo) {
    this.parts = parts;
    this.settings = settings;
    this.pulse = pulse;
    this.undo = undo;
  }

  /** Starts the tasks. The mount must be there. */
  void start(Runnable checkMount) {
    watched("deadlines", DEADLINES, parts.transit::expire);
    watched("transit", TICK, parts.transit::makeRoom);
    watched("origin", LOOK, parts.origin::watch);
    watched("residency", TICK, parts.residency::tick);
    watched("tasks", TICK, parts.tasks::tick);
    watched("orders", LOOK, parts.orders::tick);
    if (parts.shared != null) {
      watched("convoys", TICK, parts.shared::tick);
    }
    watched("fetches", LOOK, parts.transit::startLeft);
    watched("steps", LOOK, parts.steps::startLeft);
    watched("changed", LOOK, parts.lookers::startLeft);
    watched("replied", LOOK, parts.waiters::startLeft);
    watched("tell", LOOK, parts.teller::startLeft);
    if (parts.peers != null) {
      watched("peers", TICK, parts.peers::tick);
    }
    watched("mount", LOOK, checkMount);
    every(parts.housekeeping, LOOK, this::tellFailures);
    every(parts.housekeeping, SHORT_LOOK, parts.activity::look);
    startScans();
  }

  /**
   * Lists the dataset now, again soon if the listing is cut short, and again before the last
   * listing is older than the kernel may believe.
   */
  private void startScans() {
    Runnable rescan =
        () -> {
          parts.filesystem.rememberFigures();
          parts.scan.run();
        };
    PatientThreads scanner = undo.closing(new PatientThreads("scan", 1));
    AtomicBoolean due = new AtomicBoolean();
    scan(scanner, due, rescan);
    every(parts.housekeeping, LOOK, scanner::startLeft);
    every(
        parts.housekeeping,
        LOOK,
        () -> {
          if (parts.scan.isDueAgain()) {
            scan(scanner, due, rescan);
          }
        });
    Duration ttl = settings.get(SettingTable.METADATA_TTL);
    if (ttl.equals(Settings.INDEFINITE)) {
      return;
    }
    if (parts.origin.mayHang()) {
      every(
          parts.housekeeping, atLeastShortest(ttl.dividedBy(2)), () -> scan(scanner, due, rescan));
    } else {
      every(parts.housekeeping, atLeastShortest(ttl), parts.changes::refreshResidents);
    }
  }

  /** Begins a scan, unless the last one is still under way. */
  private static void scan(PatientThreads scanner, AtomicBoolean due, Runnable rescan) {
    if (!due.getAndSet(true)) {
      scanner.execute(
          () -> {
            try {
              rescan.run();
            } finally {
              due.set(false);
            }
          });
    }
  }

  private static Duration atLeastShortest(Duration period) {
    return period.compareTo(SHORTEST_SWEEP) < 0 ? SHORTEST_SWEEP : period;
  }

  private void tellFailures() {
    parts.failures.take((thread, e) -> log.error("thread {} failed", thread, e));
  }

  private void watched(String name, Duration period, Runnable task) {
    every(parts.housekeeping, period, pulse.of(name, task));
  }

  /** Tries something again and again until it is done, also after it has failed. */
  static void until(ScheduledExecutorService executor, Duration period, BooleanSupplier isDone) {
    AtomicBoolean done = new AtomicBoolean();
    every(
        executor,
        period,
        () -> {
          if (!done.get()) {
            done.set(isDone.getAsBoolean());
          }
        });
  }

  /** Runs a task again and again, also after it has failed. */
  static void every(ScheduledExecutorService executor, Duration period, Runnable task) {
    long nanos = period.toNanos();
    Runnable logged =
        () -> {
          try {
            task.run();
          } catch (Throwable e) { // one that leaves here would end the task
            OutOfMemory.tell(log, "housekeeping failed", e);
          }
        };
    Future<?> unused = executor.scheduleWithFixedDelay(logged, nanos, nanos, TimeUnit.NANOSECONDS);
  }
}
