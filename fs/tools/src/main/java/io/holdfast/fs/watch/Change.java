package io.holdfast.fs.watch;

import io.holdfast.fs.control.FiguresJson;
import io.holdfast.fs.figures.Figures;
import io.holdfast.fs.figures.JobsFigures;
import io.holdfast.fs.figures.NodeFigures;
import io.holdfast.fs.figures.ProcessFigures;
import io.holdfast.fs.units.Level;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The change of a mount's figures between two looks; since the mount, if there was no earlier look,
 * or another daemon ran then. Rates are per second. Immutable.
 *
 * <p><b>Stalled.</b> A reader is blocked from the moment when its read reaches the daemon until the
 * read is answered. {@link #stalledReaders} is the number of blocked readers, on average over the
 * time. {@link #stallShare} is the share of the time for which the average active process was
 * blocked: what a training job's workers lose. A process is active if it opened a file or was
 * blocked. A process with several readers may be blocked for more than the time, and counts as
 * blocked all of it.
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
   * Compares two looks.
   *
   * @param before the earlier look, if there was one
   * @param snapshot the current look
   */
  public Change(@Nullable Snapshot before, Snapshot snapshot) {
    this.snapshot = snapshot;
    this.now = snapshot.figures();
    this.before = before == null || !now.isOfDaemonOf(before.figures()) ? null : before;
    this.then = this.before == null ? FiguresJson.figures(Map.of()) : this.before.figures();
    this.seconds =
        this.before == null
            ? Math.max(now.uptimeSeconds(), 1)
            : Math.max((snapshot.nanos() - this.before.nanos()) / 1e9, 1e-3);
    this.processes = processes(now, then);
    this.jobs = jobs(now, then, processes);
  }

  /** Returns the current figures as they came. */
  public Map<String, Object> stats() {
    return snapshot.stats();
  }

  /** Rates this time by its errors, and by the share that was lost to stalls. */
  public Level level() {
    return errors() > 0 ? Level.POOR : level(stallShare());
  }

  /** Rates a share of time that was lost. */
  static Level level(double stallShare) {
    if (stallShare >= POOR_SHARE) {
      return Level.POOR;
    }
    return stallShare >= FAIR_SHARE ? Level.FAIR : Level.GOOD;
  }

  Figures now() {
    return now;
  }

  /** Returns the length of the time. */
  public double seconds() {
    return seconds;
  }

  /** Tells whether the change covers the time since the mount. */
  public boolean isSinceMount() {
    return before == null;
  }

  /** Tells whether opens are counted. */
  boolean countsOpens() {
    return now.opens().counted();
  }

  long opens() {
    return added(figures -> figures.opens().total());
  }

  /** Returns the items of the files that were opened. */
  long items() {
    return added(figures -> figures.opens().items());
  }

  long peerItems() {
    return added(figures -> figures.fetches().peer().items());
  }

  long peerBytes() {
    return added(figures -> figures.fetches().peer().bytes());
  }

  long originItems() {
    return added(figures -> figures.fetches().origin().items());
  }

  long originBytes() {
    return added(figures -> figures.fetches().origin().bytes());
  }

  /** Returns the number of reads and fetches that failed. */
  long errors() {
    return added(figures -> figures.reads().errors())
        + added(figures -> figures.fetches().origin().errors());
  }

  /** Returns the share of items that needed no fetch; NaN if that is not known. */
  double hitRatio() {
    return countsOpens()
        ? ReadCounts.hitRatio(items(), added(figures -> figures.opens().misses()))
        : Double.NaN;
  }

  /** Returns the number of blocked readers, on average. */
  double stalledReaders() {
    return stallSeconds() / seconds;
  }

  /**
   * Returns the share of the time for which the average active process was blocked, from 0 to 1.
   */
  double stallShare() {
    long active = processes.stream().mapToLong(Usage::active).sum();
    return share(stallSeconds(), seconds * Math.max(1, active));
  }

  private double stallSeconds() {
    return Math.max(0, now.reads().stallSeconds() - then.reads().stallSeconds());
  }

  /** Returns the jobs, in the order of the figures. */
  List<Usage> jobs() {
    return jobs;
  }

  /**
   * Returns the processes, in the order of the figures; ended processes of one command and job are
   * one row.
   */
  List<Usage> processes() {
    return processes;
  }

  private static List<Usage> processes(Figures now, Figures then) {
    Map<Long, ReadCounts> old = new HashMap<>();
    then.processes().forEach(each -> old.put(each.pid(), ReadCounts.of(each)));
    List<Usage> processes = new ArrayList<>();
    Map<List<String>, Integer> ended = new HashMap<>();
    for (ProcessFigures each : now.processes()) {
      long pid = each.pid();
      ReadCounts total = ReadCounts.of(each);
      // whole processes come into the sum and leave it: two looks at it tell nothing
      boolean untold = each.isSum() && !old.isEmpty();
      ReadCounts recent =
          untold ? ReadCounts.NONE : total.since(old.getOrDefault(pid, ReadCounts.NONE));
      long active = recent.isNothing() ? 0 : 1;
      Usage usage = new Usage(each.job(), pid, each.command(), 1, 0, "", active, recent, total);
      List<String> kind = List.of(usage.name(), usage.command());
      Integer at = each.ended() ? ended.get(kind) : null;
      if (at != null) {
        processes.set(at, processes.get(at).with(usage));
      } else {
        if (each.ended()) {
          ended.put(kind, processes.size());
        }
        processes.add(usage);
      }
    }
    return processes;
  }

  private static List<Usage> jobs(Figures now, Figures then, List<Usage> processes) {
    Map<String, Long> active = new HashMap<>();
    processes.forEach(each -> active.merge(each.name(), each.active(), Long::sum));
    Map<String, ReadCounts> old = new HashMap<>();
    then.jobs().jobs().forEach(job -> old.put(job.job(), ReadCounts.of(job)));
    List<Usage> jobs = new ArrayList<>();
    for (JobsFigures.Job job : now.jobs().jobs()) {
      String name = job.job();
      ReadCounts total = ReadCounts.of(job);
      jobs.add(
          new Usage(
              name,
              0,
              "",
              job.processes(),
              job.epoch(),
              job.verdict(),
              active.getOrDefault(name, 0L),
              total.since(old.getOrDefault(name, ReadCounts.NONE)),
              total));
    }
    return jobs;
  }

  /** Returns the rows of the nodes, each with the bytes of this time. */
  List<PeerUse> peers() {
    Map<String, NodeFigures> old = new HashMap<>();
    if (before != null) {
      before.nodes().forEach(row -> old.put(row.node(), row));
    }
    return snapshot.nodes().stream()
        .map(
            row -> {
              NodeFigures was = old.get(row.node());
              return new PeerUse(
                  row,
                  added(row.bytesIn(), was == null ? 0 : was.bytesIn()),
                  added(row.bytesOut(), was == null ? 0 : was.bytesOut()));
            })
        .toList();
  }

  /**
   * One node of the cluster.
   *
   * @param row its figures, as in {@code peers.json}
   * @param bytesIn bytes that came from it in this time
   * @param bytesOut bytes that went to it in this time
   */
  record PeerUse(NodeFigures row, long bytesIn, long bytesOut) {}

  /** Returns a count of this time as a rate. */
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

  private long added(ToLongFunction<Figures> figure) {
    return added(figure.applyAsLong(now), figure.applyAsLong(then));
  }

  private static long added(long now, long then) {
    return now < then ? now : now - then;
  }
}
