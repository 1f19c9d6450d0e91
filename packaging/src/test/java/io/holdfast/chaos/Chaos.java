package io.holdfast.chaos;

import io.holdfast.it.Cluster;
import io.holdfast.it.FailingDisk;
import io.holdfast.it.Sandbox;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A program that injects faults into a cluster while readers verify all that they read: {@code
 * Chaos SEED SECONDS LOGS-DIRECTORY keep|remove}. Prints a line for each fault, and a summary. Ends
 * with 1 when anything was seen that must not be; then, or with {@code keep}, the logs are in the
 * directory. The binding is the system property {@code holdfast.binding}.
 */
public final class Chaos {
  private static final int NODES = 3;
  private static final VersionedFiles FILES = new VersionedFiles(24, 1200);
  private static final long MEBIBYTE = 1 << 20;
  private static final long TRANSIT = 64 * MEBIBYTE;

  /** The heap's default, transit, and as much again for the virtual machine and its libraries. */
  private static final long MEMORY = 512 * MEBIBYTE + TRANSIT + 256 * MEBIBYTE;

  private static final Duration WARM_UP = Duration.ofSeconds(3);
  private static final Duration REST = Duration.ofSeconds(5);

  private final Findings findings = new Findings();
  private final Timeline timeline = new Timeline();
  private final Sandbox sandbox = new Sandbox();
  private final Map<FaultKind.Place, ReentrantLock> places = new EnumMap<>(FaultKind.Place.class);
  private final long seed;
  private final Duration time;

  private Chaos(long seed, Duration time) {
    this.seed = seed;
    this.time = time;
    for (FaultKind.Place place : FaultKind.Place.values()) {
      places.put(place, new ReentrantLock());
    }
  }

  public static void main(String[] arguments) throws InterruptedException {
    Chaos chaos =
        new Chaos(Long.parseLong(arguments[0]), Duration.ofSeconds(Long.parseLong(arguments[1])));
    int violations = chaos.run(Path.of(arguments[2]), arguments[3].equals("keep"));
    System.exit(violations == 0 ? 0 : 1);
  }

  private int run(Path logs, boolean keep) throws InterruptedException {
    sandbox.open();
    try {
      runOpen();
    } catch (AssertionError | RuntimeException e) {
      e.printStackTrace();
      findings.violation("ended early: " + e);
    } finally {
      if (keep || findings.count() > 0) {
        keepLogs(logs);
      }
    }
    int inTheEnd = findings.count();
    try {
      sandbox.close();
    } catch (AssertionError e) {
      findings.violation(String.valueOf(e.getMessage()));
      inTheEnd++;
    }
    System.out.printf(
        "%s: %d violations with --seed %d --duration %ds --binding %s%n",
        inTheEnd == 0 ? "OK" : "FAILED", inTheEnd, seed, time.toSeconds(), binding());
    findings.all().forEach(each -> System.out.println("  " + each));
    return inTheEnd;
  }

  private static String binding() {
    return System.getProperty("holdfast.binding", "");
  }

  private void runOpen() throws InterruptedException {
    ChangingOrigin origin = new ChangingOrigin(sandbox, FILES);
    long capacity = FILES.pageBytes() / (NODES + 1);
    FailingDisk disk = new FailingDisk(sandbox, sandbox.folder("state"), "8M");
    NodeClocks clocks = new NodeClocks(sandbox.folder("clocks"), NODES);
    sandbox.atEnd(clocks::removeLeft);
    Cluster cluster = startCluster(origin, capacity, clocks);
    VerifyingReaders.Setting setting =
        new VerifyingReaders.Setting(sandbox, cluster, FILES, timeline, findings);
    VerifyingReaders readers = new VerifyingReaders(setting, seed);
    TimeUnit.MILLISECONDS.sleep(WARM_UP.toMillis());
    Aftermath aftermath = new Aftermath(setting, new LogCheck(timeline, clocks::whenStamped));
    Watch watch = new Watch(setting, readers, new Watch.Limits(capacity, TRANSIT, MEMORY));
    injectAll(new Injector(sandbox, cluster, new Injector.Victims(origin, disk, clocks), readers));
    TimeUnit.MILLISECONDS.sleep(REST.toMillis());
    aftermath.awaitWhole();
    readers.end();
    aftermath.refresh();
    for (int node = 0; node < NODES; node++) {
      readers.readAll(node, origin.versions());
    }
    watch.end();
    aftermath.check();
    aftermath.unmountAll();
    origin.end(sandbox);
    System.out.printf(
        "%d faults: %s%n%s%n%s",
        timeline.counts().values().stream().mapToInt(Integer::intValue).sum(),
        timeline.counts(),
        readers.summary(),
        watch.summary());
  }

  private Cluster startCluster(ChangingOrigin origin, long capacity, NodeClocks clocks) {
    Cluster cluster =
        new Cluster(
            sandbox,
            "--capacity",
            Long.toString(capacity),
            "--transit",
            Long.toString(TRANSIT),
            "--item-size",
            "1M",
            "--window-age",
            "1s",
            "--metadata-ttl",
            "2s");
    cluster.with(node -> clocks.environment(cluster.nodes().indexOf(node)));
    cluster.start(origin.root(), 1);
    cluster.start(origin.root(), NODES - 1);
    findings.say(NODES + " nodes, " + FILES.count() + " files, seed " + seed);
    return cluster;
  }

  /**
   * Returns the faults that the binding can take: only the kernel binding has mounts that outlive
   * their daemon.
   */
  private static Set<FaultKind> kinds() {
    Set<FaultKind> kinds = EnumSet.allOf(FaultKind.class);
    if (!binding().equals("kernel")) {
      kinds.removeAll(EnumSet.of(FaultKind.DAEMON_KILLED, FaultKind.DAEMON_RESTARTED));
    }
    return kinds;
  }

  /** Returns the faults of a run. */
  private static Schedule schedule(long seed, Duration time) {
    return Schedule.of(seed, time, new Schedule.Targets(NODES, ReadStyle.values().length), kinds());
  }

  private void injectAll(Injector injector) throws InterruptedException {
    Schedule schedule = schedule(seed, time);
    long start = System.nanoTime();
    List<Thread> threads = new ArrayList<>();
    for (Schedule.Planned fault : schedule.faults()) {
      Injector.waitUntil(start + TimeUnit.MILLISECONDS.toNanos(fault.beginMillis()));
      Thread thread = new Thread(() -> inject(injector, fault, start), fault.toString());
      thread.start();
      threads.add(thread);
      threads.removeIf(each -> !each.isAlive());
    }
    Injector.waitUntil(start + time.toNanos());
    for (Thread thread : threads) {
      thread.join();
    }
  }

  private void inject(Injector injector, Schedule.Planned fault, long start) {
    ReentrantLock place = places.get(fault.kind().place());
    place.lock();
    try {
      findings.say(
          "%s, %s %d, for %d ms"
              .formatted(
                  fault.kind(),
                  fault.kind().place().name().toLowerCase(Locale.ROOT),
                  fault.target(),
                  fault.forMillis()));
      Timeline.Episode episode =
          timeline.begin(fault.kind(), fault.target(), System.currentTimeMillis());
      try {
        injector.begin(fault);
        Injector.waitUntil(start + TimeUnit.MILLISECONDS.toNanos(fault.endMillis()));
      } finally {
        injector.end(fault);
        episode.end(System.currentTimeMillis());
      }
    } catch (Exception | AssertionError e) {
      findings.violation(fault + " was not made good: " + e);
    } finally {
      place.unlock();
    }
  }

  private void keepLogs(Path logs) {
    sandbox.command("mkdir", "-p", logs.toString());
    sandbox.command(
        "sh",
        "-c",
        "cp -r \"$1\"/*.log \"$1\"/out \"$2\"",
        "sh",
        sandbox.root().toString(),
        logs.toString());
    System.out.println("logs: " + logs);
  }
}
