package io.holdfast.fs.watch;

import io.holdfast.fs.control.Figures;
import io.holdfast.fs.units.Level;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What happened in a mount between two looks at its figures, or since the mount where there was no
 * look before, or another daemon then. Rates are per second. Immutable.
 *
 * <p><b>Stalled.</b> A reader is blocked from when its read reaches the daemon until it is
 * answered. {@link #stalledReaders} is how many were, on average over the time. {@link #stallShare}
 * is how much of the time the average active process was: what a training job's workers lose. A
 * process is active that opened a file or was blocked; one with several readers may be blocked for
 * more than the time, and counts as blocked all of it.
 */
public final class Change {
  private static final double POOR_SHARE = 0.3;
  private static final double FAIR_SHARE = 0.1;

  private final Figures now;
  private final Figures then;
  private final Snapshot snapshot;
  private final @Nullable Snapshot before;
  private final double seconds;
  private final List<Usage> processes;
  private final List<Usage> jobs;

  /**
   * Compares.
   *
   * @param before the look before, if there was one
   * @param snapshot the look of now
   */
  public Change(@Nullable Snapshot before, Snapshot snapshot) {
    this.snapshot = snapshot;
    this.now = new Figures(snapshot.stats());
    this.before = before == null || !isOfOneDaemon(before, snapshot) ? null : before;
    this.then = new Figures(this.before == null ? Map.of() : this.before.stats());
    this.seconds =
        this.before == null
            ? Math.max(now.real("uptime_seconds"), 1)
            : Math.max((snapshot.nanos() - this.before.nanos()) / 1e9, 1e-3);
    this.processes = processes(now, then);
    this.jobs = jobs(now, then, processes);
  }

  private static boolean isOfOneDaemon(Snapshot before, Snapshot now) {
    Figures a = new Figures(before.stats());
    Figures b = new Figures(now.stats());
    return a.text("mounted_at").equals(b.text("mounted_at"))
        && a.number("uptime_seconds") <= b.number("uptime_seconds");
  }

  /** Returns the figures of now, as {@code stats.json}. */
  public Map<String, Object> stats() {
    return snapshot.stats();
  }

  /** Returns how good this time was: by errors, and by how much of it was lost to stalls. */
  public Level level() {
    return errors() > 0 ? Level.POOR : level(stallShare());
  }

  /** Returns how good a share of time is that was lost. */
  static Level level(double stallShare) {
    if (stallShare >= POOR_SHARE) {
      return Level.POOR;
    }
    return stallShare >= FAIR_SHARE ? Level.FAIR : Level.GOOD;
  }

  Figures now() {
    return now;
  }

  /** Returns how long the time was. */
  public double seconds() {
    return seconds;
  }

  /** Tells whether this is all that happened since the mount. */
  public boolean isSinceMount() {
    return before == null;
  }

  /** Tells whether opens are counted. */
  boolean countsOpens() {
    return now.group("opens").is("counted");
  }

  long opens() {
    return added("total", "opens");
  }

  long peerItems() {
    return added("items", "fetches", "peer");
  }

  long peerBytes() {
    return added("bytes", "fetches", "peer");
  }

  long originItems() {
    return added("items", "fetches", "origin");
  }

  long originBytes() {
    return added("bytes", "fetches", "origin");
  }

  /** Reads that failed, and fetches that did. */
  long errors() {
    return added("errors", "reads") + added("errors", "fetches", "origin");
  }

  /**
   * Returns the share of opens that needed no fetch: from the misses of jobs, or from what was
   * fetched where none are counted. Not a number where that cannot be told.
   */
  double hitRatio() {
    if (!countsOpens()) {
      return Double.NaN;
    }
    long opens = jobs.stream().mapToLong(job -> job.recent().opens()).sum();
    long misses = jobs.stream().mapToLong(job -> job.recent().misses()).sum();
    return opens > 0
        ? new Counts(opens, misses, 0, 0).hitRatio()
        : new Counts(opens(), peerItems() + originItems(), 0, 0).hitRatio();
  }

  /** Returns how many readers were blocked, on average. */
  double stalledReaders() {
    return stallSeconds() / seconds;
  }

  /** Returns how much of the time the average active process was blocked, from 0 to 1. */
  double stallShare() {
    long active = processes.stream().mapToLong(Usage::active).sum();
    return share(stallSeconds(), seconds * Math.max(1, active));
  }

  private double stallSeconds() {
    return Math.max(
        0, now.group("reads").real("stall_seconds") - then.group("reads").real("stall_seconds"));
  }

  /** Returns the jobs, in the order of the figures. */
  List<Usage> jobs() {
    return jobs;
  }

  /** Returns the processes, in the order of the figures. */
  List<Usage> processes() {
    return processes;
  }

  private static List<Usage> processes(Figures now, Figures then) {
    Map<Long, Counts> old = new HashMap<>();
    then.groups("processes").forEach(each -> old.put(each.number("pid"), Counts.of(each)));
    List<Usage> processes = new ArrayList<>();
    for (Figures each : now.groups("processes")) {
      long pid = each.number("pid");
      Counts total = Counts.of(each);
      Counts recent = total.since(old.getOrDefault(pid, Counts.NONE));
      long active = recent.isNothing() ? 0 : 1;
      processes.add(
          new Usage(each.text("job"), pid, each.text("command"), 1, 0, active, recent, total));
    }
    return processes;
  }

  private static List<Usage> jobs(Figures now, Figures then, List<Usage> processes) {
    Map<String, Long> active = new HashMap<>();
    processes.forEach(each -> active.merge(each.name(), each.active(), Long::sum));
    Map<String, Counts> old = new HashMap<>();
    then.group("jobs").groups("jobs").forEach(job -> old.put(job.text("job"), Counts.of(job)));
    List<Usage> jobs = new ArrayList<>();
    for (Figures job : now.group("jobs").groups("jobs")) {
      String name = job.text("job");
      Counts total = Counts.of(job);
      jobs.add(
          new Usage(
              name,
              0,
              "",
              job.number("processes"),
              job.number("epoch"),
              active.getOrDefault(name, 0L),
              total.since(old.getOrDefault(name, Counts.NONE)),
              total));
    }
    return jobs;
  }

  /** Returns the rows of the nodes, and for each what was added to some figures since then. */
  List<PeerUse> peers() {
    Map<String, Figures> old = new HashMap<>();
    if (before != null) {
      before.peers().forEach(row -> old.put(new Figures(row).text("node"), new Figures(row)));
    }
    List<PeerUse> peers = new ArrayList<>();
    for (Map<String, Object> each : snapshot.peers()) {
      Figures row = new Figures(each);
      Figures was = old.getOrDefault(row.text("node"), new Figures(Map.of()));
      Function<String, Long> added = key -> added(row.number(key), was.number(key));
      peers.add(new PeerUse(row, added.apply("bytes_in"), added.apply("bytes_out")));
    }
    return peers;
  }

  /**
   * One node of the cluster.
   *
   * @param row what is known of it, as in {@code peers.json}
   * @param bytesIn what came from it in this time
   * @param bytesOut what went to it in this time
   */
  record PeerUse(Figures row, long bytesIn, long bytesOut) {}

  /** Returns what was counted in this time as a rate. */
  double rate(double count) {
    return count / seconds;
  }

  /** Returns a count of this time as a rate. */
  double rate(long count) {
    return rate((double) count);
  }

  /** Returns a part of a whole, from 0 to 1. */
  static double share(double part, double whole) {
    return whole <= 0 ? 0 : Math.min(1, Math.max(0, part / whole));
  }

  private long added(String key, String... groups) {
    Figures a = now;
    Figures b = then;
    for (String group : groups) {
      a = a.group(group);
      b = b.group(group);
    }
    return added(a.number(key), b.number(key));
  }

  private static long added(long now, long then) {
    return now < then ? now : now - then;
  }
}
