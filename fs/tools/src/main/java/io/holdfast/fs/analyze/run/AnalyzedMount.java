package io.holdfast.fs.analyze.run;

import io.holdfast.fs.analyze.Subject;
import io.holdfast.fs.client.TaskClient;
import io.holdfast.fs.client.TaskFigures;
import io.holdfast.fs.control.FiguresJson;
import io.holdfast.fs.control.RunningDaemon;
import io.holdfast.fs.figures.Figures;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.host.OwnProcess;
import io.holdfast.fs.throughput.Evidence;
import io.holdfast.fs.throughput.Observation;
import io.holdfast.fs.units.Visible;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;

/** The mount whose job is analysed, and what a daemon is asked for that. Not thread-safe. */
public final class AnalyzedMount {
  private static final int MOST_POLLS = 200;
  private static final long POLL_MILLIS = 50;

  private final OwnProcess process;
  private final RunningDaemon daemon;
  private final PrintWriter err;
  private final TaskClient client;

  /**
   * Prepares to ask a daemon.
   *
   * @param err where the user sees how far tasks are
   */
  public AnalyzedMount(OwnProcess process, RunningDaemon daemon, PrintWriter err) {
    this.process = process;
    this.daemon = daemon;
    this.err = err;
    this.client = new TaskClient(process, daemon, err);
  }

  public Path mountpoint() {
    return daemon.mountpoint();
  }

  public Figures figures() {
    return FiguresJson.figures(client.daemon().stats());
  }

  /** Fails if opens, and so epochs, are not counted. */
  public void requireCounts(Figures figures) {
    if (!figures.opens().counted()) {
      throw CliException.couldNot(
          "opens are not counted at "
              + mountpoint()
              + ", so that epochs cannot be told: mount it without --count-opens off");
    }
  }

  /**
   * Returns what is analysed.
   *
   * @param memoryRate bytes per second of resident files
   */
  public Subject subject(
      Figures figures, String job, List<Observation> epochs, OptionalDouble memoryRate) {
    return subject(mountpoint(), figures, job, epochs, memoryRate);
  }

  /** The same for any mount. */
  public static Subject subject(
      Path mountpoint,
      Figures figures,
      String job,
      List<Observation> epochs,
      OptionalDouble memoryRate) {
    Evidence.Site site = Evidence.Site.of(figures, epochs, memoryRate);
    long bytes = figures.dataset().wholeBytes();
    double pages = bytes > 0 ? (double) figures.dataset().pagesOf(bytes) / bytes : 1;
    return new Subject(job, mountpoint.toString(), bytes, pages, site);
  }

  /** A mount that is in the budget of the node stays in it. */
  private static Map<String, Object> capacity(long bytes, boolean upTo) {
    return Map.of(
        "begin", "capacity", "size", Long.toString(bytes), "up_to", upTo, "within_budget", true);
  }

  /** Has the daemon change its capacity. */
  void setCapacity(long bytes) {
    change(capacity(bytes, false));
  }

  /** Has the daemon change its capacity, as far as --memory lets it. */
  void setCapacityUpTo(long bytes) {
    change(capacity(bytes, true));
  }

  private void change(Map<String, Object> request) {
    client.run("changing the capacity", request, Collections.emptyIterator());
  }

  /**
   * Does the same while this process is told to end, when nothing more can be registered for that.
   */
  void restoreCapacity(long bytes) {
    try {
      TaskFigures figures = client.begin(capacity(bytes, false), Collections.emptyIterator());
      for (int i = 0; i < MOST_POLLS && !figures.isOver() && process.pause(POLL_MILLIS); i++) {
        figures = new TaskFigures(client.daemon().task(Map.of("id", figures.id())));
      }
    } catch (CliException e) {
      String line = "the capacity could not be restored: " + e.getMessage();
      err.println("holdfast: " + Visible.of(line));
      err.flush();
    }
  }

  /** Has the daemon fetch what fits. */
  void warm() {
    client.run(
        "warming",
        Map.of("begin", "warm", "order", "auto", "threads", 16, "background", false),
        Collections.emptyIterator());
  }
}
