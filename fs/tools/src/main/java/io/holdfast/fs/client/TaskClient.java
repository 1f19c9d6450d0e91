package io.holdfast.fs.client;

import io.holdfast.fs.control.RunningDaemon;
import io.holdfast.fs.host.CliException;
import io.holdfast.fs.host.OwnProcess;
import io.holdfast.fs.linux.NamedThreads;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Has a daemon do something that takes long, and follows it to its end. When this process is told
 * to end before that, the daemon is told to stop, too. Not thread-safe.
 */
public final class TaskClient {
  private static final Duration DEADLINE = Duration.ofSeconds(10);
  private static final long FIRST_POLL_MILLIS = 10;
  private static final long POLL_MILLIS = 50;

  /** Each byte may be escaped in six, and a request has 64 KiB at most. */
  private static final int BATCH_BYTES = 8 * 1024;

  private static final int MOST_WAITING = 50_000;

  private final OwnProcess process;
  private final DaemonClient daemon;
  private final PrintWriter err;

  /**
   * Prepares to ask a daemon.
   *
   * @param err where the user sees how far a task is
   */
  public TaskClient(OwnProcess process, RunningDaemon daemon, PrintWriter err) {
    this.process = process;
    this.daemon = new DaemonClient(daemon, DEADLINE);
    this.err = err;
  }

  /** Returns what asks the daemon for something else. */
  public DaemonClient daemon() {
    return daemon;
  }

  /**
   * Has a task done, and shows how far it is.
   *
   * @param doing what the user reads meanwhile: "dropping"
   * @param names files and folders, below the root of the mount
   */
  public TaskFigures run(String doing, Map<String, Object> request, Iterator<String> names) {
    return follow(doing, begin(request, names));
  }

  /**
   * Begins a task with all its names.
   *
   * @param names files and folders, below the root of the mount
   */
  public TaskFigures begin(Map<String, Object> request, Iterator<String> names) {
    Map<String, Object> first = new LinkedHashMap<>(request);
    first.put("paths", batch(names));
    first.put("last", !names.hasNext());
    TaskFigures figures = new TaskFigures(daemon.task(first));
    while (names.hasNext()) {
      Map<String, Object> more = new LinkedHashMap<>(Map.of("id", figures.id()));
      if (figures.number("names_waiting") < MOST_WAITING) {
        more.put("paths", batch(names));
        more.put("last", !names.hasNext());
      } else if (!process.pause(POLL_MILLIS)) {
        stop(figures.id());
      }
      figures = new TaskFigures(daemon.task(more));
      if (figures.isOver()) {
        return figures;
      }
    }
    return figures;
  }

  private static List<String> batch(Iterator<String> names) {
    List<String> batch = new ArrayList<>();
    int bytes = 0;
    while (names.hasNext() && bytes < BATCH_BYTES) {
      String name = names.next();
      bytes += name.getBytes(StandardCharsets.UTF_8).length + 3;
      batch.add(name);
    }
    return batch;
  }

  /**
   * Follows a task to its end, and shows how far it is; fails with what the daemon says where it
   * failed.
   *
   * @param doing what the user reads meanwhile: "warming"
   */
  public TaskFigures follow(String doing, TaskFigures begun) {
    Thread atExit = NamedThreads.named("stop-task", () -> stop(begun.id()));
    process.atExit(atExit);
    try (TaskProgress progress = new TaskProgress(doing, err, process::errColumns)) {
      TaskFigures figures = begun;
      long pause = FIRST_POLL_MILLIS;
      while (!figures.isOver()) {
        progress.see(figures);
        if (!process.pause(pause)) {
          stop(begun.id());
        }
        pause = Math.min(POLL_MILLIS, 2 * pause);
        figures = new TaskFigures(daemon.task(Map.of("id", begun.id())));
      }
      progress.see(figures);
      return figures.orFailure();
    } finally {
      process.forgetAtExit(atExit);
    }
  }

  private void stop(long id) {
    try {
      daemon.task(Map.of("id", id, "stop", true));
    } catch (CliException e) {
      // it stops by itself when nobody asks after it
    }
  }
}
